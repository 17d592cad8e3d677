"""Through an RDD every column may come from every column that was read, with a gap."""


def job(spark, path):
    people = spark.read.parquet(path("people")).select("name", "age")
    people.rdd.map(lambda row: (row.name, row.age + 1)).toDF(["name", "older"]).write.parquet(path("out"))
    spark.createDataFrame(people.rdd, people.schema).write.parquet(path("same"))
