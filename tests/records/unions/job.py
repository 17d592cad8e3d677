"""UNION maps by position, unionByName by name; a column that one side lacks comes from the other alone."""


def job(spark, path):
    o = spark.read.parquet(path("orders"))
    p = spark.read.parquet(path("people"))
    o.select("customer", "item").union(p.select("city", "name")).write.parquet(path("by_position"))
    o.select("customer", "item").unionByName(
        p.select("name", "customer"), allowMissingColumns=True
    ).write.parquet(path("by_name"))
    o.createOrReplaceTempView("o")
    spark.sql("select item as x from o union select customer from o").write.parquet(path("distinct_union"))
    o.select("id").union(o.select("id")).write.parquet(path("twice"))
