"""A lambda's own variables are not columns; the columns that it uses are."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select transform(tags, t -> concat(t, item)) as transformed, filter(tags, t -> t != customer) as kept,
               aggregate(array(amount, 1.0D), 0D, (acc, x) -> acc + x * quantity, acc -> acc) as total,
               exists(tags, t -> t = 'new') as new, zip_with(tags, tags, (a, b) -> a || b) as zipped,
               array_sort(tags, (l, r) -> case when l < r then 1 else -1 end) as sorted
        from o
    """).write.parquet(path("out"))
