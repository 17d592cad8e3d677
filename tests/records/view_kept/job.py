"""A persistent view is an output named by the catalog; its columns are traced through the task's tables."""


def setup(spark, path):
    spark.sql(f"create table base using parquet as select id, item, amount from parquet.`{path('orders')}`")
    spark.sql("create view changed as select id from base")


def job(spark, path):
    spark.sql("create table small as select id as key, amount from base where amount > 1")
    spark.sql("create view kept (number, total) as select key, sum(amount) as t from small group by key")
    spark.sql("create view again as select id from base")
    spark.sql("create or replace view again as select item from base")
    spark.sql("alter view changed as select amount as id from base")
    spark.sql("create temporary view gone as select id from base")
    spark.sql("select total from kept").write.parquet(path("out"))
