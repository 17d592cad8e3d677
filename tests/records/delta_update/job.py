"""UPDATE and DELETE of a Delta table: assigned columns, conditions, and columns that stay."""

NEEDS = ("delta",)
CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def setup(spark, path):
    spark.read.parquet(path("people")).write.format("delta").save(path("people_delta"))


def job(spark, path):
    people = f"delta.`{path('people_delta')}`"
    spark.sql(f"update {people} set city = concat(name, city) where age > 30")
    spark.sql(f"delete from {people} where customer = 'eve'")
