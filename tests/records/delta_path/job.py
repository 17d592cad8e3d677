"""Delta tables by path: time travel reads the same dataset, replaceWhere leaves rows, a clone is a copy."""

NEEDS = ("delta",)
CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def setup(spark, path):
    for _ in range(2):
        spark.read.parquet(path("people")).write.format("delta").mode("append").save(path("people_delta"))


def job(spark, path):
    before = spark.read.format("delta").option("versionAsOf", 0).load(path("people_delta"))
    rome = before.where("city = 'Rome'").select("customer", "city", (before.age * 2).alias("age"))
    rome.write.format("delta").save(path("rome"))
    young = rome.where("age < 60")
    young.write.format("delta").mode("overwrite").option("replaceWhere", "age < 60").save(path("rome"))
    spark.sql(f"create table cloned shallow clone delta.`{path('rome')}`")
