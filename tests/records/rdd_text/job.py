"""Lines saved by an RDD come from everything that it read, and are traced when they are read back."""


def setup(spark, path):
    spark.read.parquet(path("people")).select("name").write.text(path("names"))


def job(spark, path):
    names = spark.sparkContext.textFile(path("names"))
    names.map(str.upper).saveAsTextFile(path("upper"))
    spark.sparkContext.textFile(path("upper")).filter(len).coalesce(1).saveAsTextFile(path("out"))
    spark.read.text(path("upper")).write.parquet(path("frame"))
