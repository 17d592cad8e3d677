"""A truncated table holds only the rows inserted afterwards."""


def setup(spark, path):
    spark.sql("create table target (a bigint) using parquet")
    spark.sql("insert into target values (1)")


def job(spark, path):
    spark.sql("truncate table target")
    spark.read.parquet(path("orders")).select("id").write.insertInto("target")
    spark.table("target").select("a").write.parquet(path("copy"))
