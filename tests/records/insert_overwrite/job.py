"""INSERT OVERWRITE replaces the table's rows: mode overwrite, columns by position."""


def setup(spark, path):
    spark.sql("create table target (a bigint, b string) using parquet")


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.sql("insert overwrite table target select quantity, customer from orders where amount > 1")
