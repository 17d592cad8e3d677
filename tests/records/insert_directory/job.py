"""INSERT OVERWRITE DIRECTORY writes a folder like a DataFrame does."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.sql(f"insert overwrite directory '{path('out')}' using parquet select id, item from orders")
