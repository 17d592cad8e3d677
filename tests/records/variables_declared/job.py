"""A variable that is declared again has its default value, which may use other variables."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("declare or replace variable top double")
    spark.sql("set variable top = (select max(amount) from o)")
    spark.sql("declare or replace variable twice double default top * 2")
    spark.sql("select name, twice from p").write.parquet(path("twice"))
    spark.sql("declare or replace variable top double default 3")
    spark.sql("select name, top from p").write.parquet(path("again"))
    spark.sql("drop temporary variable twice")
    spark.sql("declare variable `Twice` int default 1")
    spark.sql("select name, twice from p").write.parquet(path("dropped"))
