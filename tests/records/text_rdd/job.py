"""Lines read by `sc.textFile` come from that folder, column by column unknown: a gap says so."""


def setup(spark, path):
    spark.read.parquet(path("people")).select("name").write.text(path("names"))


def job(spark, path):
    names = spark.sparkContext.textFile(path("names"))
    names.map(lambda line: (line, len(line))).toDF(["name", "size"]).write.parquet(path("out"))
