"""Windows of time are expressions over the column that has the time; grouping by them is grouping by it."""

from pyspark.sql import functions as F


def job(spark, path):
    orders = spark.read.parquet(path("orders")).withColumn("at", F.to_timestamp("day"))
    orders.groupBy(F.window("at", "1 day"), "customer").agg(F.sum("amount").alias("total")).select(
        "window.start", "customer", "total"
    ).write.parquet(path("fixed"))
    orders.groupBy(F.session_window("at", "1 hour")).agg(F.max("item").alias("item")).select(
        "session_window.end", "item"
    ).write.parquet(path("sessions"))
