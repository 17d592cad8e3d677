"""Columns, names and rows of Delta tables change by commands of their own."""

NEEDS = ("delta",)
CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def setup(spark, path):
    for name in ("grown", "kept", "emptied", "older", "newer"):
        spark.sql(f"drop table if exists {name}")
    people = spark.read.parquet(path("people"))
    for name in ("grown", "emptied", "older"):
        people.write.format("delta").saveAsTable(name)
    people.write.format("delta").option("path", path("kept")).partitionBy("city").saveAsTable("kept")


def job(spark, path):
    spark.sql("alter table grown add columns (born date)")
    spark.sql("alter table grown alter column born first")
    spark.sql("truncate table emptied")
    spark.sql("alter table older rename to newer")
    people = spark.read.parquet(path("people")).where("age > 30")
    people.writeTo("kept").overwritePartitions()
    rome = people.selectExpr("customer", "upper(name) as name", "city", "age")
    rome.write.format("delta").mode("overwrite").option("replaceUsing", "customer").save(path("kept"))
    spark.sql("optimize kept")
