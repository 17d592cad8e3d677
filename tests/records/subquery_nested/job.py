"""Subqueries in FROM, in HAVING and inside other subqueries keep their columns and act at their place."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("""
        select k, t from (select customer as k, sum(amount) as t from o group by customer
                          having sum(quantity) > (select min(age) from p where city in (select item from o)))
        where t > 0
    """).write.parquet(path("out"))
