"""An alias is an identity; a cast, a function and an operator are transformations of all they use."""

from pyspark.sql import functions as F


def job(spark, path):
    spark.read.parquet(path("orders")).select(
        F.col("id").alias("number"),
        F.col("id").cast("string").alias("text"),
        F.concat(F.upper(F.trim("customer")), F.lit("-"), F.col("item")).alias("label"),
        (F.col("amount") * F.col("quantity")).alias("price"),
        F.col("day"),
    ).withColumn("day", F.to_date("day")).withColumnRenamed("number", "n").drop("text").write.parquet(
        path("out")
    )
