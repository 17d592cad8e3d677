"""A view over a CSV file reads nothing for the user: Spark looks for the names of columns inside the command."""


def setup(spark, path):
    spark.read.parquet(path("people")).write.csv(path("people_csv"), header=True)


def job(spark, path):
    spark.sql(f"create temporary view people using csv options (path '{path('people_csv')}', header true)")
    spark.sql("create table loaded using parquet as select *, input_file_name() as source_file from people")
