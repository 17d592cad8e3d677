"""insertInto maps by position whatever the columns are called."""


def setup(spark, path):
    spark.sql("create table target (a string, b double) using orc")


def job(spark, path):
    spark.read.parquet(path("orders")).select("customer", "amount").write.insertInto("target")
