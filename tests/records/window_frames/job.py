"""A RANGE frame is measured by its window's order; IGNORE NULLS and FILTER change the rows that count, not the column."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select id, sum(amount) over near as around, last_value(item) ignore nulls over by_day as latest,
               lag(item) ignore nulls over (by_customer) as before, nth_value(day, 2) over by_customer as second,
               count(distinct item) filter (where quantity > 1) as items
        from o group by id, amount, item, day, quantity, customer
        window near as (partition by customer order by quantity range between 3 preceding and 1 following),
               by_day as (order by day), by_customer as (partition by customer order by id)
    """).write.parquet(path("out"))
