"""MERGE into a Delta table: the table is read and written, and Delta's own reads are not inputs."""

NEEDS = ("delta",)
CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def setup(spark, path):
    spark.read.parquet(path("people")).createOrReplaceTempView("people")
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.sql("create table targets (customer string, name string, city string, age int) using delta")
    spark.sql("insert into targets select * from people where customer < 'b'")


def job(spark, path):
    spark.sql(
        "merge into targets t using people p on t.customer = p.customer "
        "when matched and p.age > 40 then delete "
        "when matched then update set name = upper(p.name), age = t.age + p.age "
        "when not matched and p.city = 'Rome' then insert (customer, name) values (p.customer, p.name) "
        "when not matched by source and t.age < 18 then update set city = null"
    )
