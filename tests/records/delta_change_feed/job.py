"""A change feed shows the rows of its table; its columns about the change belong to no dataset."""

NEEDS = ("delta",)
CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def setup(spark, path):
    people = spark.read.parquet(path("people"))
    spark.sql("drop table if exists people")
    spark.sql(
        "create table people (customer string, name string, city string, age int) using delta"
        " tblproperties (delta.enableChangeDataFeed = true)"
    )
    people.write.format("delta").mode("append").saveAsTable("people")
    spark.sql("update people set age = age + 1 where city = 'Rome'")
    spark.sql("delete from people where customer = 'bob'")


def job(spark, path):
    changes = spark.sql("select customer, age, _change_type from table_changes('people', 1)")
    changes.write.parquet(path("changes"))
    feed = {"readChangeFeed": "true", "startingVersion": "1"}
    people = spark.read.format("delta").options(**feed).table("people")
    people.where("_change_type = 'delete'").select("customer").write.parquet(path("deleted"))
    stream = spark.readStream.format("delta").options(**feed).table("people").select("customer", "city")
    writer = stream.writeStream.format("delta").option("checkpointLocation", path("checkpoint"))
    writer.trigger(availableNow=True).start(path("followed")).awaitTermination()
