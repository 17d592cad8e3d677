"""INSERT maps by position, the target's names win; a column that is not given is a literal."""


def setup(spark, path):
    spark.sql("create table target (a bigint, b string, c int) using parquet")


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.sql("insert into target select id, customer, quantity from orders")
    spark.sql("insert into target (b, a) select item, id from orders")
