"""A sort decides the order, and with a limit which rows there are: SORT of the whole output."""


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.orderBy("amount").limit(2).select("id").write.parquet(path("top"))
    orders.sort(orders.day.desc()).offset(1).select("id").write.parquet(path("rest"))
    orders.sortWithinPartitions("quantity").select("item").write.parquet(path("within"))
