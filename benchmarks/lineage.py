"""Figures of plan to lineage in pure Python: chained `withColumn` over wide rows, no JVM.

Each plan is Spark's JSON of `steps` projections over one scan of `columns` columns, and one write.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

from airflow_provider_spark_lineage.pipeline import execution_lineage
from airflow_provider_spark_lineage.record import Record

CATALYST = "org.apache.spark.sql.catalyst"
EXECUTION = "org.apache.spark.sql.execution.datasources"
RUNS = 5


def attribute(number: int) -> dict[str, Any]:
    """An attribute reference as Spark writes it."""
    return {
        "class": f"{CATALYST}.expressions.AttributeReference",
        "num-children": 0,
        "name": f"c{number}",
        "dataType": "long",
        "nullable": True,
        "metadata": {},
        "exprId": {"product-class": f"{CATALYST}.expressions.ExprId", "id": number, "jvmId": "0"},
        "qualifier": [],
    }


def added(number: int, source: int) -> list[dict[str, Any]]:
    """`source + 1 AS number`."""
    expressions = f"{CATALYST}.expressions"
    return [
        {**attribute(number), "class": f"{expressions}.Alias", "num-children": 1, "child": 0},
        {"class": f"{expressions}.Add", "num-children": 2, "left": 0, "right": 1},
        attribute(source),
        {"class": f"{expressions}.Literal", "num-children": 0, "value": None, "dataType": "long"},
    ]


def record(columns: int, steps: int) -> Record:
    """A write of `steps` times `withColumn` over `columns` columns."""
    nodes: list[dict[str, Any]] = []
    for step in reversed(range(steps)):
        kept = [[attribute(number)] for number in range(columns + step)]
        made = added(columns + step, (columns + step) // 2)
        project = {"class": f"{CATALYST}.plans.logical.Project", "num-children": 1, "child": 0}
        nodes.append({**project, "projectList": [*kept, made]})
    scan = {"class": f"{EXECUTION}.LogicalRelation", "num-children": 0}
    nodes.append({**scan, "output": [[attribute(number)] for number in range(columns)]})
    write = {"class": f"{EXECUTION}.InsertIntoHadoopFsRelationCommand", "num-children": 1, "query": 0}
    return Record(
        application_id="benchmark",
        application_name="benchmark",
        spark_version="4.1.4",
        agent_version="0",
        number=1,
        name="command",
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:00:00+00:00",
        outcome="success",
        plan=[write, *nodes],
        facts=[
            {"node": "LogicalRelation", "expr_id": 0, "probed": {"paths": ["file:/in"], "format": "Parquet"}},
            {
                "node": "InsertIntoHadoopFsRelationCommand",
                "expr_id": None,
                "probed": {"paths": "file:/out", "format": "Parquet", "mode": "Overwrite"},
            },
        ],
    )


def seconds(columns: int, steps: int) -> float:
    """Median time of one plan to its lineage."""
    plan = record(columns, steps)
    times = []
    for _ in range(RUNS):
        began = perf_counter()
        lineage = execution_lineage(plan).lineage
        times.append(perf_counter() - began)
    edges = {edge.column for edge in lineage.outputs[0].edges}
    assert len(edges) == columns + steps, "every column must have an edge, or the figure means nothing"
    return median(times)


def main() -> None:
    print("Plan to lineage, pure Python (median of 5)")
    print(f"{'columns':>8} {'withColumn':>10} {'seconds':>9} {'us per column and step':>23}")
    for columns, steps in ((200, 25), (200, 50), (200, 100), (200, 200), (400, 100), (800, 100)):
        took = seconds(columns, steps)
        # A step reads the columns that it keeps: their number grows by one with every step.
        work = steps * (columns + steps / 2)
        print(f"{columns:>8} {steps:>10} {took:>9.3f} {took / work * 1e6:>23.2f}")


if __name__ == "__main__":
    main()
