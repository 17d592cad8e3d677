"""A failed write gives no output; its sources are inputs, and the error is recorded."""

import contextlib

from pyspark.errors import PySparkException


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.select("id").write.parquet(path("done"))
    with contextlib.suppress(PySparkException):
        spark.read.parquet(path("people")).selectExpr("raise_error('broken') as e").write.parquet(
            path("undone")
        )
    with contextlib.suppress(PySparkException):
        orders.selectExpr("assert_true(id < 0) as e").write.saveAsTable("never")
