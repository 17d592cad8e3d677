"""Gaps of a run for rows that its program collected, and may have written again.

A plan has literals without their origin: a value that the program took from a dataset looks like a constant.
A function in Python may hold such values, too, by itself or in a broadcast variable. So a later write may
depend on that dataset without an edge. `Record.collected` says which rows the program may use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.lineage.model import Gap
from airflow_provider_spark_lineage.spark.plan.spark.tree import spans
from airflow_provider_spark_lineage.spark.records.call_sites import UNKNOWN
from airflow_provider_spark_lineage.spark.records.plan_json import is_tree, simple_name
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import Execution
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId

PROGRAM = "program"
"""Place of these gaps: the rows left the plans and went through the program."""

MOST_NAMES = 3
"""Limit of lines, and of outputs, in one sentence."""

_NO_VALUES = frozenset({"void", "boolean"})
"""Types of literals that hold nothing of a row, or hardly."""

_CODE = re.compile(r"\w*PythonUD(?:F|AF|TF)|\w*In(?:Pandas|Arrow|PySpark)(?:WithState)?")
"""Classes of expressions and nodes that run a function in Python."""


@dataclass
class _Rows:
    """Rows of one dataset that a program collected."""

    ended_at: datetime
    """End of the first execution that returned rows."""

    lines: dict[str, None] = field(default_factory=dict)
    outputs: dict[str, None] = field(default_factory=dict)
    """Names of datasets that were written later, with values of the program."""


class Collected:
    """Takes the executions of a run in order; `gaps` returns one gap for each collected dataset."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, DatasetId], _Rows] = {}

    def add(self, execution: Execution) -> None:
        """Add the next execution."""
        record = execution.record
        written = [output.dataset.id.name for output in execution.lineage.outputs]
        if written and self._rows and has_values(record):
            began = datetime.fromisoformat(record.started_at)
            for (application, _), rows in self._rows.items():
                if application == record.application_id and rows.ended_at <= began:
                    rows.outputs.update(dict.fromkeys(written))
        if record.collected:
            for read in execution.lineage.inputs:
                key = (record.application_id, read.dataset.id)
                rows = self._rows.setdefault(key, _Rows(datetime.fromisoformat(record.ended_at)))
                rows.lines[record.collected] = None

    def gaps(self) -> tuple[Gap, ...]:
        """Return the gaps so far."""
        return tuple(
            Gap(
                PROGRAM,
                of_plans.COLLECTED(
                    dataset=dataset.name, lines=_at(rows.lines), outputs=_listed(rows.outputs)
                ),
            )
            for (_, dataset), rows in self._rows.items()
            if rows.outputs
        )


def has_values(record: Record) -> bool:
    """Return whether an execution's plan has values that its program may have put in, or code with them."""
    plans = [record.plan] if record.plan else [part.get("plan", []) for part in record.parts[-1:]]
    return any(_has_value(plan) for plan in plans)


def _has_value(value: Any) -> bool:
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            pending += [item for name, item in current.items() if name != "dataType"]
        elif isinstance(current, list):
            pending += current
            if is_tree(current) and _is_of_program(current):
                return True
    return False


def _is_of_program(tree: list[dict[str, Any]]) -> bool:
    """Return whether a tree has rows or functions of the program, or literals that Spark did not put in."""
    sparks_own: set[int] = set()
    for position, node in enumerate(tree):
        name = simple_name(str(node.get("class")))
        if name == "LocalRelation" or _CODE.fullmatch(name):
            return True
        if name == "Count":
            # `count(*)` is `count(1)`.
            sparks_own.add(position + 1)
        elif name == "CreateNamedStruct":
            # Pairs of a field's name and its value.
            sparks_own.update(start for start, _ in spans(tree, position)[::2])
        elif name == "Literal" and position not in sparks_own and node.get("dataType") not in _NO_VALUES:
            return True
    return False


def _at(lines: dict[str, None]) -> str:
    known = [line for line in lines if line != UNKNOWN]
    return f" at {_listed(known)}" if known else ""


def _listed(names: Any) -> str:
    shown = [*names][:MOST_NAMES]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
