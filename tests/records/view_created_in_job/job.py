"""Creating and dropping a persistent view reads and writes nothing; using it does."""


def setup(spark, path):
    spark.sql(f"create table base using parquet as select id, item from parquet.`{path('orders')}`")


def job(spark, path):
    spark.sql("create or replace view v as select item as i from base")
    spark.sql("select i from v").write.parquet(path("out"))
    spark.sql("drop view v")
