"""A column that uses an earlier one of the same SELECT is computed from what that one is; GROUP BY ALL and ORDER BY ALL
name the columns themselves."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("select amount * 2 as d, d + quantity as e, e || customer as f from o").write.parquet(
        path("out")
    )
    spark.sql("""
        select customer, upper(day) as on_day, sum(amount) as total, total * 2 as twice, twice + max(quantity) as more
        from o group by customer, day
    """).write.parquet(path("grouped"))
    spark.sql(
        "select item, upper(day) as on_day, sum(amount) as total from o group by all order by all"
    ).write.parquet(path("all"))
