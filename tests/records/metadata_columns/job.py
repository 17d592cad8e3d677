"""A file's hidden metadata is no column of the dataset: it gives no edge to one that is not there."""


def job(spark, path):
    spark.read.parquet(path("people")).selectExpr(
        "name", "_metadata.file_size as size", "input_file_name() as file"
    ).write.parquet(path("out"))
