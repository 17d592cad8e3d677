"""A stream into a table writes the table, and a stream out of it reads the table."""


def job(spark, path):
    people = spark.readStream.schema("name string, age int").parquet(path("people"))
    state = people.writeStream.option("checkpointLocation", path("state")).trigger(availableNow=True)
    state.toTable("persons").awaitTermination()
    grown = spark.readStream.table("persons").where("age > 30").select("name")
    state = grown.writeStream.option("checkpointLocation", path("state_grown")).trigger(availableNow=True)
    state.format("csv").start(path("grown")).awaitTermination()
