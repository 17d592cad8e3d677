"""A LATERAL subquery sees the row on its left; its columns and conditions count for the whole output."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("""
        select o.id, l.n, l.twice from o, lateral (select name as n, o.amount * 2 as twice from p where p.customer = o.customer) l
    """).write.parquet(path("out"))
