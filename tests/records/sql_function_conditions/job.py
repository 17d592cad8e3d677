"""A function defined in SQL decides rows if it is a condition, a key or one side of a join's comparison."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("create temporary function over_two(a double) returns boolean return a > 2")
    spark.sql(
        "create temporary function alike(a string, b string) returns boolean return upper(a) = upper(b)"
    )
    spark.sql("create temporary function decade(a int) returns int return a / 10")
    spark.sql("select id from o where over_two(amount)").write.parquet(path("filtered"))
    spark.sql("select o.id, p.name from o join p on alike(o.customer, p.customer)").write.parquet(
        path("joined")
    )
    spark.sql("select decade(age) as d, max(name) as n from p group by decade(age)").write.parquet(
        path("grouped")
    )
    for name in ("over_two", "alike", "decade"):
        spark.sql(f"drop temporary function {name}")
