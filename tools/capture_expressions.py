"""Stores the recorded plan of each expression in `tests/plan/expressions.txt`, for the installed Spark."""

from __future__ import annotations

import contextlib
import gzip
import json
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from airflow_provider_spark_lineage import capture_lineage

PLACE = Path(__file__).resolve().parents[1] / "tests" / "plan"
COLUMNS = (
    "1 as a, 2 as b, 3D as x, 's' as s, 't' as t, date'2024-01-01' as d, array('e') as arr, map('k', 1) as m,"
    " named_struct('p', 1, 'q', 'q') as st, cast('b' as binary) as bin"
)


def expressions() -> list[str]:
    lines = (PLACE / "expressions.txt").read_text(encoding="utf-8").splitlines()
    return [line.rpartition("|")[0].strip() for line in lines if line and not line.startswith("#")]


def main() -> int:
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    plans = {}
    with tempfile.TemporaryDirectory() as folder:
        spark.sql(f"select {COLUMNS}").write.parquet(folder + "/t")
        spark.read.parquet(folder + "/t").createOrReplaceTempView("t")
        for sql in expressions():
            try:
                frame = spark.table("t").selectExpr(f"{sql} as result")
            # One that this Spark does not know must not cost the others.
            except Exception as error:
                print(f"{sql}: {error}"[:300], file=sys.stderr)
                continue
            with capture_lineage(spark) as captured, contextlib.suppress(Exception):
                # Some fail, as `raise_error` does; they are recorded all the same.
                frame.collect()
            (record,) = captured.records([])
            plans[sql] = json.loads(json.dumps(record.plan).replace(folder, "/data"))
    version = ".".join(spark.version.split(".")[:2])
    spark.stop()
    lines = [json.dumps([sql, plan], separators=(",", ":")) for sql, plan in plans.items()]
    target = PLACE / f"expressions-{version}.json.gz"
    target.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    print(f"{len(plans)} expressions, {target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
