"""ORC is read like parquet; a text file has one column, `value`."""


def setup(spark, path):
    spark.read.parquet(path("people")).write.orc(path("people_orc"))


def job(spark, path):
    spark.read.orc(path("people_orc")).selectExpr("concat(name, city) as line").write.text(path("lines"))
    spark.read.text(path("lines")).selectExpr("upper(value) as line").write.text(path("out"))
