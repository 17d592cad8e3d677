"""A query that becomes an RDD is the origin of the RDD's rows, with its filters and no column more."""


def job(spark, path):
    orders = spark.read.parquet(path("orders")).where("quantity > 1").groupBy("item").agg({"amount": "sum"})
    orders.rdd.map(str).saveAsTextFile(path("text"))
    orders.toJSON().saveAsTextFile(path("json"))
    sums = orders.rdd.map(lambda row: (row[0], row[1] + 1))
    sums.toDF(["item", "total"]).write.parquet(path("frame"))
