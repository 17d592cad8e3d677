"""Metrics of datasets, from observations (`DataFrame.observe`) of the rows that a program writes or reads.

Only numbers whose meaning the plan says are used: the number of rows; of a column, missing and other values,
`min`, `max` and `sum`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from airflow_provider_spark_lineage.spark.checks.assertion import ColumnMetrics, Findings, Metrics
from airflow_provider_spark_lineage.spark.plan.spark.tree import expanded, spans
from airflow_provider_spark_lineage.spark.records.observed import OF_CHECKS, value_of
from airflow_provider_spark_lineage.spark.records.plan_json import is_plan, simple_name
from airflow_provider_spark_lineage.spark.runs.executions import Execution, written_by

Tree = Sequence[Mapping[str, Any]]

_NODE = "CollectMetrics"
_LIMITS = {"Max": "max", "Min": "min", "Sum": "sum"}
"""Aggregate of a column -> its name in the metrics."""


def observed_metrics(execution: Execution) -> list[Findings]:
    """Return the metrics of datasets that the execution read or wrote whole, if each row was counted once.

    An observation is about the written dataset if nothing follows it but the write, and about the dataset
    that was read if nothing comes before it but the read.
    """
    record = execution.record
    observed = {name: values for name, values in record.observed.items() if not name.startswith(OF_CHECKS)}
    if not observed or not record.plan:
        return []
    plan = expanded(record.plan)
    query = _written_query(plan) or plan
    findings: list[Findings] = []
    for at, node in enumerate(query):
        name = str(node.get("name"))
        if simple_name(str(node["class"])) != _NODE or name not in observed:
            continue
        metrics = _metrics(node["metrics"], observed[name])
        is_exact = name not in record.miscounted
        of_output = [*_of_output(execution, metrics, is_exact=is_exact)] if at == 0 else []
        findings += of_output
        if not of_output and _is_read(query, at + 1):
            findings += _of_input(execution, metrics, is_exact=is_exact)
    return findings


def _written_query(plan: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the query of a write: a field of its node, or the last of its children; empty if it has none."""
    field: Any = plan[0].get("query")
    if is_plan(field):
        return list(field)
    places = spans(plan)
    return plan[slice(*places[-1])] if places and simple_name(str(plan[0]["class"])) != _NODE else []


def _of_output(execution: Execution, metrics: Metrics, *, is_exact: bool) -> Iterator[Findings]:
    written = written_by(execution)
    if len(written) == 1 and written[0].is_whole and _is_counted(metrics, written[0].rows, is_exact=is_exact):
        output = (written[0].namespace, written[0].name)
        yield Findings((), metrics, output=output, ended_at=written[0].ended_at)


def _of_input(execution: Execution, metrics: Metrics, *, is_exact: bool) -> Iterator[Findings]:
    reads = execution.lineage.inputs
    # Below a limit, Spark counts as few rows as it reads. Folders of a dataset are not all of it.
    if len(reads) != 1 or not is_exact or reads[0].dataset.identity.part.shown:
        return
    if not _is_counted(metrics, reads[0].statistics.rows, is_exact=is_exact):
        return
    place = (reads[0].dataset.id.namespace, reads[0].dataset.id.name)
    yield Findings((), metrics, output=place, is_reported=True)


def _is_counted(metrics: Metrics, rows: int | None, *, is_exact: bool) -> bool:
    """Return whether each of the dataset's rows was counted once; add their number if it was not observed."""
    if metrics.rows is None and is_exact:
        metrics.rows = rows
    return rows is not None and metrics.rows == rows


def _is_read(plan: Tree, at: int) -> bool:
    """Return whether a part of a plan only reads a relation."""
    while plan[at]["num-children"] == 1 and simple_name(plan[at]["class"]) == "SubqueryAlias":
        at += 1
    return not plan[at]["num-children"]


def _metrics(expressions: Sequence[Tree], values: Mapping[str, Any]) -> Metrics:
    metrics = Metrics()
    counts: dict[str, int] = {}
    for tree in expressions:
        names = [simple_name(str(node["class"])) for node in tree]
        value = values.get(str(tree[0].get("name")))
        if names[:2] != ["Alias", "AggregateExpression"] or value is None or tree[1].get("isDistinct"):
            continue
        kind = names[2:]
        number = value_of(value)
        if kind == ["Count", "Literal"]:
            metrics.rows = number
            continue
        if kind[-1] != "AttributeReference":
            continue
        name = str(tree[-1]["name"])
        column = metrics.columns.get(name, ColumnMetrics())
        if kind == ["Count", "AttributeReference"]:
            counts[name] = column.values = number
        elif kind == ["CountIf", "IsNull", "AttributeReference"]:
            column.nulls = number
        elif len(kind) == 2 and kind[0] in _LIMITS and _is_number(number):
            setattr(column, _LIMITS[kind[0]], float(number))
        else:
            continue
        metrics.columns[name] = column
    for name, count in counts.items():
        if metrics.rows is not None:
            metrics.columns[name].nulls = metrics.rows - count
    return metrics


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and math.isfinite(value)
