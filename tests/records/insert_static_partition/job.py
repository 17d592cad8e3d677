"""A static partition value is a literal; other partitions stay, so rows read back may be older ones."""


def setup(spark, path):
    spark.sql("create table target (a bigint, day string) using parquet partitioned by (day)")
    spark.sql("insert into target values (1, '2023-12-31')")


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.sql("insert overwrite target partition (day = '2024-01-01') select id from orders")
    spark.table("target").select("a").write.parquet(path("copy"))
