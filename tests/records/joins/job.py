"""The condition of each kind of join is a JOIN influence of both sides; a cross join has none."""


def job(spark, path):
    o = spark.read.parquet(path("orders")).alias("o")
    p = spark.read.parquet(path("people")).alias("p")
    on = "o.customer = p.customer and p.age > o.quantity"
    from pyspark.sql import functions as F

    for kind in ("inner", "left", "right", "full"):
        o.join(p, F.expr(on), kind).select("o.id", "p.name").write.parquet(path(f"out_{kind}"))
    for kind in ("left_semi", "left_anti"):
        o.join(p, F.expr(on), kind).select("o.id").write.parquet(path(f"out_{kind}"))
    o.crossJoin(p).select("o.id", "p.name").write.parquet(path("out_cross"))
