"""Branches, tags and time travel are states of one dataset; a metadata table is a dataset beside it."""

NEEDS = ("iceberg",)
CONF = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.warehouse": "{root}/lake",
}


def setup(spark, path):
    spark.read.parquet(path("people")).createOrReplaceTempView("people")
    spark.sql("create table lake.db.people using iceberg as select * from people")
    spark.sql("alter table lake.db.people create branch audit")
    spark.sql("alter table lake.db.people create tag first")


def job(spark, path):
    spark.sql("insert into lake.db.people.branch_audit select * from people where age > 30")
    spark.sql("select name from lake.db.people version as of 'first'").write.parquet(path("tagged"))
    spark.sql("select city from lake.db.people.branch_audit").write.parquet(path("audited"))
    spark.sql("select operation from lake.db.people.snapshots").write.parquet(path("history"))
    spark.table("people").where("age > 40").writeTo("lake.db.old").using("iceberg").create()
