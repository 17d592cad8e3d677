"""A filter's columns decide which rows there are: FILTER of the whole output, also if they are not selected."""


def job(spark, path):
    spark.read.parquet(path("orders")).where("amount > 1 and item like 'p%'").filter(
        "day is not null"
    ).select("id").write.parquet(path("out"))
