"""A table that an INSERT compares with is its input too: FILTER by a subquery of itself."""


def setup(spark, path):
    spark.sql("create table target (a bigint, b string) using parquet")
    spark.sql("insert into target values (1, 'x')")


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("insert into target select id, item from o where id > (select max(a) from target)")
