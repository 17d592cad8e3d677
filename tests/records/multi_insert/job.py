"""Each INSERT of a multi-insert has the sources of its own SELECT."""


def setup(spark, path):
    spark.sql("create table a (x bigint) using parquet")
    spark.sql("create table b (y string) using parquet")


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.sql(
        "from orders insert overwrite table a select id where amount > 1 insert into b select customer where quantity > 2"
    )
