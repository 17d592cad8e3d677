"""A reference in another case is the same column; the output's case is the one that was written."""


def job(spark, path):
    orders = spark.read.parquet(path("orders")).selectExpr("ID", "Customer as CUSTOMER")
    orders.write.parquet(path("middle"))
    spark.read.parquet(path("middle")).selectExpr("customer").write.parquet(path("out"))
