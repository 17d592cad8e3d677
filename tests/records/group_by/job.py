"""Keys are identities and GROUP_BY influences; sums aggregate; count(*) has no edge; a count masks."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select customer, upper(day) as d, sum(amount * quantity) as total, avg(amount) + 1 as mean, count(*) as n,
               count(item) as items, max_by(item, amount) as best, collect_list(id) as ids, first(item) as one
        from o group by customer, upper(day)
    """).write.parquet(path("out"))
