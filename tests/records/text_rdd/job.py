"""Lines read by `sc.textFile` come from that folder, from unknown columns, with a gap."""


def setup(spark, path):
    spark.read.parquet(path("people")).select("name").write.text(path("names"))


def job(spark, path):
    names = spark.sparkContext.textFile(path("names"))
    names.map(lambda line: (line, len(line))).toDF(["name", "size"]).write.parquet(path("out"))
