"""A table that the task creates empty, fills and reads back is not an input."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.sql("create table middle (a bigint, b string) using parquet")
    spark.sql("insert into middle select id, item from orders")
    spark.sql("insert into middle select id, customer from orders")
    spark.sql("select b from middle").write.parquet(path("out"))
