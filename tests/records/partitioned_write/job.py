"""A partition column is a column like the others, and the dataset is the folder above the partitions."""


def job(spark, path):
    spark.read.parquet(path("orders")).select("amount", "day").write.partitionBy("day").parquet(path("out"))
