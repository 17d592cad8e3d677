"""What checks cost: beside a count of the same columns, Airflow's own query, and a plain write.

python benchmarks/checks.py [--rows 2000000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from paired import Watch, start_spark

COLUMNS = [f"c{n}" for n in range(10)]
AIM_OF_COUNT, AIM_OF_AIRFLOW, AIM_OF_WRITE = 4, 0.2, 2


def checks_of(distinct: int = 0, fourth: str = "mean") -> dict[str, dict[str, Any]]:
    """Return 40 checks, and as many exact ones of distinct values; `fourth` is one of those of a column."""
    mapping: dict[str, dict[str, Any]] = {
        column: {
            "null_check": {"equal_to": 0},
            "min": {"geq_to": 0},
            "max": {"geq_to": 0},
            fourth: {"geq_to": 0},
        }
        for column in COLUMNS
    }
    for column in COLUMNS[:distinct]:
        mapping[column]["distinct_check"] = {"geq_to": 1}
    return mapping


def airflows_query(path: str) -> str:
    """Return the query of Airflow's operator for its checks among the 40, and a count for the others."""
    from airflow.providers.common.sql.operators.sql import SQLColumnCheckOperator

    mapping = checks_of()
    for checks in mapping.values():
        # Airflow has no mean; a maximum more costs as much.
        del checks["mean"]
        checks["unique_check"] = {"geq_to": 0}
    SQLColumnCheckOperator.column_checks = {
        **SQLColumnCheckOperator.column_checks,
        "unique_check": "AVG({column})",
    }
    return str(SQLColumnCheckOperator(task_id="check", table=f"parquet.`{path}`", column_mapping=mapping).sql)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=2_000_000)
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()

    from airflow_provider_spark_lineage import capture_lineage
    from airflow_provider_spark_lineage.checks import check
    from airflow_provider_spark_lineage.spark.checks.checks import run
    from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks

    with tempfile.TemporaryDirectory() as folder:
        spark = start_spark(Path(folder), "local[2]")
        path = f"{folder}/data"
        made = [f"(id * {n + 3}) % {10 ** (n % 6 + 1)} AS {column}" for n, column in enumerate(COLUMNS)]
        spark.range(options.rows).selectExpr(*made).write.parquet(path)
        frame = spark.read.parquet(path)
        query = airflows_query(path)
        counts = [f"count({column})" for column in COLUMNS]
        rules = {f"rule {column}": f"{column} >= 0" for column in COLUMNS}

        def write(frame: Any) -> None:
            frame.write.mode("overwrite").parquet(f"{folder}/out")

        def checked_write(fourth: str) -> None:
            with capture_lineage(spark) as captured:
                write(check(frame, columns=checks_of(fourth=fourth), rows=rules))
            # Or the figure means nothing.
            assert len(captured.checks) == 50

        def plain_write() -> None:
            with capture_lineage(spark):
                write(frame)

        programs: dict[str, Callable[[], object]] = {
            "count of 10 columns": lambda: frame.selectExpr(*counts).collect(),
            "40 checks": lambda: run(frame, column_checks(checks_of())),
            "40 checks, 2 exact distincts": lambda: run(frame, column_checks(checks_of(2))),
            "Airflow's query for 40": lambda: spark.sql(query).collect(),
            "write": plain_write,
            "write with 50 checks in it": lambda: checked_write("sum"),
            "the same, mean in place of sum": lambda: checked_write("mean"),
        }
        seconds: dict[str, list[float]] = {name: [] for name in programs}
        for round_ in range(options.rounds + 1):
            for name, program in programs.items():
                with Watch(spark) as watch:
                    program()
                if round_:  # The first one warms the JVM.
                    seconds[name].append(watch.took.processor)
        for name, figures in seconds.items():
            listed = " ".join(f"{figure:.2f}" for figure in figures)
            print(f"  {name:<30} processor s, median {median(figures):6.2f}   {listed}")
        checks = median(seconds["40 checks"])
        of_count = checks / median(seconds["count of 10 columns"])
        of_airflow = checks / median(seconds["Airflow's query for 40"])
        write_seconds = median(seconds["write"])
        of_write = median(seconds["write with 50 checks in it"]) / write_seconds
        of_means = median(seconds["the same, mean in place of sum"]) / write_seconds
        print(f"  40 checks / count             {of_count:6.2f}   (aim: at most {AIM_OF_COUNT})")
        print(f"  40 checks / Airflow's query   {of_airflow:6.2f}   (aim: at most {AIM_OF_AIRFLOW})")
        print(f"  write with 50 checks / write  {of_write:6.2f}   (aim: at most {AIM_OF_WRITE})")
        print(f"  the same with means / write   {of_means:6.2f}")
        spark.stop()


if __name__ == "__main__":
    main()
