"""Streams that are printed, kept in memory or thrown away read and do not write."""


def job(spark, path):
    people = spark.readStream.schema("name string, age int").parquet(path("people"))
    for kind in ("noop", "memory", "console"):
        write = people.writeStream.format(kind).option("checkpointLocation", path(kind)).queryName(kind)
        write.trigger(availableNow=True).start().awaitTermination()
    assert spark.table("memory").count() == 3
