"""A fit reads; a model's columns come from its features; a model is kept in folders of its own."""


def job(spark, path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import StringIndexer, VectorAssembler
    from pyspark.ml.regression import LinearRegression

    orders = spark.read.parquet(path("orders")).where("quantity > 0")
    stages = [
        StringIndexer(inputCol="customer", outputCol="who", handleInvalid="keep"),
        VectorAssembler(inputCols=["who", "quantity"], outputCol="features"),
        LinearRegression(labelCol="amount", maxIter=1, solver="l-bfgs"),
    ]
    Pipeline(stages=stages).fit(orders).save(path("model"))
    model = PipelineModel.load(path("model"))
    model.transform(orders).select("item", "prediction").coalesce(1).write.parquet(path("predicted"))
