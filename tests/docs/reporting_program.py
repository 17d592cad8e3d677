"""Checks a table with other libraries, and reports what they found by the examples of docs/checks.md.

python reporting_program.py EXAMPLES FOLDER    prints the run's events as JSON; EXAMPLES is their Python
"""

import json
import sys
from pathlib import Path

import pandera.pyspark as pa
from cuallee import Check, CheckLevel
from pyspark.sql import SparkSession
from pyspark.sql import types as T  # noqa: N812  as everybody writes it

from airflow_provider_spark_lineage import capture_lineage

examples, folder = Path(sys.argv[1]), sys.argv[2]
names: dict = {}
exec(examples.read_text(encoding="utf-8"), names)  # noqa: S102
settings = {"spark.ui.enabled": "false", "spark.sql.warehouse.dir": f"{folder}/warehouse"}
spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
rows = [(1, 5, "new"), (2, -3, "sent"), (None, 4, "planted-row")]
spark.createDataFrame(rows, "id int, amount int, status string").write.parquet(f"{folder}/orders")

schema = pa.DataFrameSchema(
    {
        "id": pa.Column(T.IntegerType(), pa.Check.ge(0), nullable=False),
        "amount": pa.Column(T.IntegerType(), [pa.Check.ge(0), pa.Check.le(9)], nullable=True),
        "status": pa.Column(T.StringType(), pa.Check.isin(["new", "planted-literal"])),
        "country": pa.Column(T.StringType()),
    }
)
check = Check(CheckLevel.ERROR, "orders").is_complete("id").is_complete("status", pct=0.9)
check = check.is_contained_in("status", ["new", "planted-literal"]).is_greater_or_equal_than("amount", -5)
with capture_lineage(spark) as captured:
    orders = spark.read.parquet(f"{folder}/orders")
    names["report_cuallee"](f"{folder}/orders", check.validate(orders))
    orders.write.parquet(f"{folder}/copy")
    names["report_pandera"](f"{folder}/copy", schema, schema.validate(orders))
print("EVENTS", json.dumps(captured.events(namespace="tests", job="orders")))
