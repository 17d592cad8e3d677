"""HAVING filters groups by the columns in its aggregates; FILTER (WHERE) acts on its own column alone."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select customer, sum(amount) filter (where item = 'pen') as pens, sum(amount) as total
        from o group by customer having max(quantity) > 3
    """).write.parquet(path("out"))
