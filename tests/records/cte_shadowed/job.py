"""An inner CTE hides an outer one of the same name; one inside a subquery is found there."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.read.parquet(path("people")).createOrReplaceTempView("people")
    spark.sql("""
        with c as (select customer as k from people)
        select (with c as (select max(amount) as k from orders) select k from c) as top, k from c
    """).write.parquet(path("out"))
