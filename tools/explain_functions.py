"""Adds the names of a Spark's functions to `plan/spark/explain/builtin.txt`: run it with each Spark's Python.

Functions of a user are told from Spark's own by these names: those of the registry, and those of classes in
lower case, which Spark prints where a class has no name of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "airflow_provider_spark_lineage" / "spark" / "plan" / "spark" / "explain" / "builtin.txt"

sys.path.insert(0, str(ROOT / "tests" / "plan"))

import class_lists  # noqa: E402


def main() -> None:
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    registry = spark._jvm.org.apache.spark.sql.catalyst.analysis
    names = set(PLACE.read_text(encoding="utf-8").split())
    for functions in (registry.FunctionRegistry.expressions(), registry.TableFunctionRegistry.logicalPlans()):
        each = functions.keysIterator()
        while each.hasNext():
            name = each.next()
            if name.isidentifier():
                names.add(name)
    spark.stop()
    for version in class_lists.SPARK.values():
        names.update(name.rpartition(".")[2].rpartition("$")[2].lower() for name in version["expression"])
    PLACE.write_text("\n".join(sorted(names)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
