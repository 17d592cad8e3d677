"""Files of one folder are one dataset, the folder; a single file keeps its name."""


def setup(spark, path):
    import pathlib

    pathlib.Path(path("csv")).mkdir()
    for name in ("a", "b"):
        pathlib.Path(path("csv"), f"{name}.csv").write_text("1,x\n2,y\n")


def job(spark, path):
    both = spark.read.schema("n int, s string").csv([path("csv/a.csv"), path("csv/b.csv")])
    both.select("n").write.parquet(path("both"))
    spark.read.schema("n int, s string").csv(path("csv/a.csv")).select("s").write.parquet(path("one"))
