"""Figures of plan to lineage, and of executions to the lineage of a task, in pure Python: no JVM.

Each plan is Spark's JSON of `steps` projections over one scan of `columns` columns, and one write.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Field,
    Input,
    Lineage,
    Mode,
    Output,
)
from airflow_provider_spark_lineage.spark.plan.algebra import Kind
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

CATALYST = "org.apache.spark.sql.catalyst"
EXECUTION = "org.apache.spark.sql.execution.datasources"
RUNS = 5
EXECUTIONS = 10_000
WIDE_SECONDS, COMPOSED_SECONDS, COMPOSED_MB = 2, 5, 500
"""Limits that the project aims at: for a plan of 5,000 columns, and for the composition of all executions."""


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
        former = [[attribute(number)] for number in range(columns + step)]
        sums = added(columns + step, (columns + step) // 2)
        project = {"class": f"{CATALYST}.plans.logical.Project", "num-children": 1, "child": 0}
        nodes.append({**project, "projectList": [*former, sums]})
    scan = {"class": f"{EXECUTION}.LogicalRelation", "num-children": 0}
    nodes.append({**scan, "output": [[attribute(number)] for number in range(columns)]})
    write = {"class": f"{EXECUTION}.InsertIntoHadoopFsRelationCommand", "num-children": 1, "query": 0}
    return Record(
        application_id="benchmark",
        application_name="benchmark",
        spark_version="4.1.4",
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


def copy(source: str, target: str, mode: Mode) -> Lineage:
    """An execution that copies a table of ten columns."""
    fields = tuple(Field(f"c{number}", "bigint") for number in range(10))
    read, written = (
        Dataset(Identity(DatasetId("file", place), f"file:{place}"), fields) for place in (source, target)
    )
    edges = tuple(Edge(read.id, field.name, Kind.IDENTITY, column=field.name) for field in fields)
    return Lineage((Input(read),), (Output(written, mode, edges=edges, inputs=(read.id,)),))


def appends() -> Iterator[Lineage]:
    """A loop that appends to one table."""
    return (copy(f"/in/{number % 100}", "/out", Mode.APPEND) for number in range(EXECUTIONS))


def chain() -> Iterator[Lineage]:
    """Each execution reads the output of the one before."""
    return (copy(f"/t/{number}", f"/t/{number + 1}", Mode.OVERWRITE) for number in range(EXECUTIONS))


def copies() -> Iterator[Lineage]:
    """Each execution has an input and an output of its own."""
    return (copy(f"/in/{number}", f"/out/{number}", Mode.OVERWRITE) for number in range(EXECUTIONS))


def compositions() -> None:
    """Print the time to merge many executions."""
    print(f"Composition of {EXECUTIONS} executions (aim: under {COMPOSED_SECONDS} s and {COMPOSED_MB} MB)")
    print(f"{'executions':>12} {'seconds':>9} {'Python peak MB':>15} {'outputs':>9}")
    for kind in (appends, chain, copies):
        executions = list(kind())
        began = perf_counter()
        outputs = len(compose(executions).outputs)
        took = perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{kind.__name__:>12} {took:>9.2f} {peak:>15.0f} {outputs:>9}")


def main() -> None:
    compositions()
    print(f"Plan of 5,000 columns to lineage: {seconds(5000, 1):.2f} s (aim: under {WIDE_SECONDS})")
    print("Plan to lineage, pure Python (median of 5)")
    print(f"{'columns':>8} {'withColumn':>10} {'seconds':>9} {'us per column and step':>23}")
    for columns, steps in ((200, 25), (200, 50), (200, 100), (200, 200), (400, 100), (800, 100)):
        took = seconds(columns, steps)
        # A step reads the columns that it keeps: their number grows by one with every step.
        work = steps * (columns + steps / 2)
        print(f"{columns:>8} {steps:>10} {took:>9.3f} {took / work * 1e6:>23.2f}")


if __name__ == "__main__":
    main()
