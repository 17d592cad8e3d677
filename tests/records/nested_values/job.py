"""Building a struct, array or map and taking a part of it are transformations."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select named_struct('a', id, 'b', item) as s, array(amount, quantity) as a, map(item, amount) as m, get(tags, 0) as tag,
               struct(customer, day).day as part, size(tags) as n, try_element_at(map(customer, day), item) as looked
        from o
    """).write.parquet(path("built"))
    spark.read.parquet(path("built")).selectExpr("s.*", "m['pen'] as pen").write.parquet(path("taken"))
