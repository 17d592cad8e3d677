"""Columns of a CSV file have the names in its header; inferring their types reads and writes nothing more."""


def setup(spark, path):
    spark.read.parquet(path("people")).write.csv(path("people_csv"), header=True)


def job(spark, path):
    people = spark.read.csv(path("people_csv"), header=True, inferSchema=True)
    people.write.mode("overwrite").csv(path("out"), header=True)
