"""A file's hidden metadata is not a column of the dataset: it gives no edge to a missing one."""


def job(spark, path):
    spark.read.parquet(path("people")).selectExpr(
        "name", "_metadata.file_size as size", "input_file_name() as file"
    ).write.parquet(path("out"))
