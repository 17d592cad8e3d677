"""An aggregate that Spark cannot write as JSON has columns from all of its input; nodes above are read."""


def job(spark, path):
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.stat import Summarizer
    from pyspark.sql.functions import col

    orders = spark.read.parquet(path("orders")).select("amount", "quantity").where("quantity > 0")
    vectors = VectorAssembler(inputCols=["amount"], outputCol="v").transform(orders).select("v")
    means = vectors.select(Summarizer.mean(col("v")).alias("mean"))
    means.selectExpr("cast(mean as string) as text").write.parquet(path("out"))
