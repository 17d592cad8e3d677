"""Code over whole rows: an edge from every column it received, with a gap."""


def job(spark, path):
    def score(batches):
        for batch in batches:
            yield batch.assign(score=1.0)[["customer", "score"]]

    people = spark.read.parquet(path("people")).select("customer", "age")
    people.mapInPandas(score, "customer string, score double").write.parquet(path("out"))
    people.mapInPandas(score, "customer string, score double").groupBy().count().write.parquet(
        path("counted")
    )
