"""CTAS is one write, though Spark runs three commands for it; the table is named by its location."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.sql(
        "create table totals using parquet as select customer, sum(amount) as total from orders group by customer"
    )
