"""Conditions inside a scalar subquery act on its one column, not on the whole output."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("""
        select o.id, (select max(age) from p where city = 'Rome') as oldest,
               amount + (select count(name) from p where p.customer = o.customer) as more
        from o
    """).write.parquet(path("out"))
