"""Stores what this interpreter's Spark makes of each expression in `tests/plan/expressions.txt`."""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

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
            text = frame._jdf.queryExecution().analyzed().toJSON()
            text = re.sub(r'"jvmId":"[0-9a-f-]+"', '"jvmId":"0"', text).replace(folder, "/data")
            plans[sql] = json.loads(text)
    version = ".".join(spark.version.split(".")[:2])
    spark.stop()
    lines = [json.dumps([sql, plan], separators=(",", ":")) for sql, plan in plans.items()]
    target = PLACE / f"expressions-{version}.json.gz"
    target.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    print(f"{len(plans)} expressions, {target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
