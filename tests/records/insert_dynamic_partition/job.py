"""Dynamic partition overwrite keeps the partitions that it does not touch."""


def setup(spark, path):
    spark.sql("create table target (a bigint, day string) using parquet partitioned by (day)")
    spark.sql("insert into target values (1, '2023-12-31')")


def job(spark, path):
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        spark.read.parquet(path("orders")).select("id", "day").write.mode("overwrite").insertInto("target")
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    spark.table("target").select("a", "day").write.parquet(path("copy"))
