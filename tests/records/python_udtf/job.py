"""A Python table function is a generator: it transforms its arguments and decides which rows there are."""

from pyspark.sql.functions import udtf


def job(spark, path):
    @udtf(returnType="word string, size int")
    class Words:
        def eval(self, text):
            for word in text.split():
                yield word, len(word)

    spark.udtf.register("words", Words)
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("select p.city, w.word, w.size from p, lateral words(p.name) w").write.parquet(path("out"))
