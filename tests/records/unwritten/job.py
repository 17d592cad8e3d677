"""An aggregate that Spark cannot write as JSON has its columns, from all that it gets; what is above is read."""


def job(spark, path):
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.stat import Summarizer
    from pyspark.sql.functions import col

    orders = spark.read.parquet(path("orders")).select("amount", "quantity").where("quantity > 0")
    vectors = VectorAssembler(inputCols=["amount"], outputCol="v").transform(orders).select("v")
    means = vectors.select(Summarizer.mean(col("v")).alias("mean"))
    means.selectExpr("cast(mean as string) as text").write.parquet(path("out"))
