"""An RDD that is cut off from its parents still has them as origins."""


def setup(spark, path):
    spark.read.parquet(path("people")).select("name").coalesce(1).write.text(path("names"))


def job(spark, path):
    names = spark.sparkContext.textFile(path("names")).map(str.upper)
    names.localCheckpoint()
    names.count()
    names.saveAsTextFile(path("out"))
