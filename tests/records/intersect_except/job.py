"""INTERSECT and EXCEPT take values from the left; the compared columns of both sides are JOIN influences."""


def job(spark, path):
    o = spark.read.parquet(path("orders")).select("customer", "item")
    p = spark.read.parquet(path("people")).select("customer", "name")
    o.intersect(p).write.parquet(path("both"))
    o.exceptAll(p).write.parquet(path("rest"))
    o.select("customer").subtract(p.select("customer")).write.parquet(path("minus"))
