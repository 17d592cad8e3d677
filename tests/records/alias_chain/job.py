"""Along a path the strongest transformation wins, however many steps there are."""

from pyspark.sql import functions as F


def job(spark, path):
    frame = spark.read.parquet(path("orders")).withColumn("x", F.col("amount"))
    frame = (
        frame.withColumn("x", F.col("x") + F.col("quantity"))
        .withColumnRenamed("x", "y")
        .withColumn("z", F.col("y"))
    )
    frame.groupBy("customer").agg(F.sum("z").alias("total")).select(
        F.col("total").cast("string").alias("text"), "customer"
    ).write.parquet(path("out"))
