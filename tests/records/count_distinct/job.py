"""Several COUNT(DISTINCT) keep their own columns, and each is masking."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select day, count(distinct customer) as customers, count(distinct item, id) as pairs, sum(distinct quantity) as s,
               approx_count_distinct(amount) as about
        from o group by day
    """).write.parquet(path("out"))
