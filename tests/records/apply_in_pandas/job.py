"""Grouped code over whole rows sees all columns; its keys are GROUP_BY."""


def job(spark, path):
    people = spark.read.parquet(path("people")).select("city", "name", "age")
    people.groupBy("city").applyInPandas(lambda group: group[["name"]].head(1), "name string").write.parquet(
        path("out")
    )
