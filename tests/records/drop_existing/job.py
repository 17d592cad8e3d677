"""Dropping an existing dataset gives an output without edges; a table's place is known if it was read."""


def setup(spark, path):
    spark.sql("create table managed (a int) using parquet")
    spark.sql("create table `2024` (a int) using parquet")
    spark.sql(f"create table external using parquet location '{path('orders')}'")
    spark.sql("create view looks as select a from managed")


def job(spark, path):
    spark.table("external").count()
    spark.sql("drop view looks")
    spark.sql("drop table managed")
    spark.sql("drop table `2024`")
    spark.sql("drop table external")
    spark.sql("drop table if exists never_there")
