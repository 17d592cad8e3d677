"""A table written by name and read by its path is the same dataset."""


def job(spark, path):
    spark.read.parquet(path("orders")).select("id", "item").write.saveAsTable("items")
    spark.read.parquet(path("warehouse/items")).select("item").write.parquet(path("out"))
