"""Partition and order of a window are WINDOW influences of its column; ranks have no direct edge."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select id, row_number() over (partition by customer order by amount) as n,
               rank() over (order by quantity) as r, ntile(2) over (order by day) as tile,
               lag(item, 1, 'none') over (partition by day order by id) as before,
               sum(amount) over (partition by customer order by day rows between 1 preceding and current row) as running,
               count(*) over () as everything,
               last_value(item) over w as latest, sum(quantity) over w / sum(quantity) over () as share
        from o window w as (partition by item order by day)
    """).write.parquet(path("out"))
