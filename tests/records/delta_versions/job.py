"""A version that the task itself made: read, restored and cloned after the next one, it has its own edges."""

NEEDS = ("delta",)
CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def job(spark, path):
    orders = spark.read.parquet(path("orders")).selectExpr("id", "customer as name")
    orders.write.format("delta").saveAsTable("targets")
    people = spark.read.parquet(path("people")).selectExpr("cast(age as bigint) as id", "name")
    people.write.format("delta").mode("overwrite").saveAsTable("targets")
    spark.sql("select name from targets version as of 0").write.parquet(path("former"))
    spark.sql("select name from targets").write.parquet(path("latter"))
    spark.sql("restore table targets to version as of 0")
    spark.sql("select id from targets").write.parquet(path("restored"))
