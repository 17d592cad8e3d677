"""Jobs over RDDs that only read are inputs without an output, and so are rows that a program fetches."""


def setup(spark, path):
    people = spark.read.parquet(path("people"))
    people.select("name").coalesce(1).write.text(path("names"))
    people.select("name").coalesce(1).write.text(path("lines"))


def job(spark, path):
    context = spark.sparkContext
    context.textFile(path("names")).map(len).reduce(max)
    context.wholeTextFiles(path("lines")).count()
    spark.read.parquet(path("people")).rdd.foreach(lambda row: None)
    assert len(list(spark.read.parquet(path("orders")).select("id").toLocalIterator())) == 3
