"""Each table that the task made is an output, even without rows; one that IF NOT EXISTS keeps is not."""


def setup(spark, path):
    spark.sql("create table there (a int) using parquet")


def job(spark, path):
    spark.sql("create table if not exists there (a int) using parquet")
    spark.sql("create table if not exists made (a int, b string) using parquet")
    spark.sql("create table alike like there")
    spark.sql("create table if not exists maybe like there")
    spark.sql(f"create table outside (id bigint) using parquet location '{path('orders')}'")
    spark.sql(f"insert overwrite directory '{path('dir')}' using orc select id from outside")
    spark.catalog.createTable("by_api", source="parquet", schema=spark.table("there").schema)
