"""A value column of UNPIVOT comes from every unpivoted column; the name column is made of literals."""


def job(spark, path):
    orders = spark.read.parquet(path("orders")).selectExpr(
        "id", "amount", "cast(quantity as double) as quantity"
    )
    orders.unpivot("id", ["amount", "quantity"], "what", "much").write.parquet(path("out"))
