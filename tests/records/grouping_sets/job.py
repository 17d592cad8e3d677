"""ROLLUP, CUBE and GROUPING SETS keep their keys' origins; grouping() has none."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql(
        "select customer, day, grouping(day) as g, sum(amount) as t from o group by rollup (customer, day)"
    ).write.parquet(path("rollup"))
    spark.sql(
        "select customer, day, grouping_id() as g, sum(amount) as t from o group by cube (customer, day)"
    ).write.parquet(path("cube"))
    spark.sql(
        "select customer, item, max(day) as last from o group by grouping sets ((customer), (item), ())"
    ).write.parquet(path("sets"))
