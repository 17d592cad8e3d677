"""A persistent view keeps its columns' origins, also where it renames them."""


def setup(spark, path):
    spark.sql(f"create table base using parquet as select id, item, amount from parquet.`{path('orders')}`")
    spark.sql("create view cheap (number, what) as select id, lower(item) as low from base where amount < 5")


def job(spark, path):
    spark.table("cheap").write.parquet(path("out"))
