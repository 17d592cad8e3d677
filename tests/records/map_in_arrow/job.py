"""mapInArrow is code over whole rows like mapInPandas."""


def job(spark, path):
    spark.read.parquet(path("people")).select("name", "age").mapInArrow(
        lambda batches: batches, "name string, age int"
    ).write.parquet(path("out"))
