"""From one evaluated plan and the facts about its leaves to the lineage of one Spark execution."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.lineage.columns import Evaluation, Hole, Sources, Written, evaluate
from airflow_provider_spark_lineage.lineage.model import (
    Dataset,
    Edge,
    Failure,
    Field,
    Gap,
    Input,
    Lineage,
    Mode,
    Output,
    Statistics,
)
from airflow_provider_spark_lineage.plan.algebra import Attribute, Plan, Scan, Write
from airflow_provider_spark_lineage.plan.spark.tree import type_name
from airflow_provider_spark_lineage.sources import identify
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity

_MODES = {
    "append": Mode.APPEND,
    "overwrite": Mode.OVERWRITE,
    "errorifexists": Mode.CREATE,
    "ignore": Mode.CREATE,
    "true": Mode.OVERWRITE,
    "false": Mode.APPEND,
}
"""Spark's save modes, and the flag of a Hive insert."""

_WRAPPERS = frozenset(
    {"CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand", "SaveAsV1TableCommand"}
)
"""Commands that run another write inside: both are reported, the inner one first."""


@dataclass(frozen=True)
class ExecutionFacts:
    """What a record says besides its plan, as plain values."""

    facts: Sequence[Mapping[str, Any]] = ()
    metrics: Sequence[Mapping[str, Any]] = ()
    problems: Sequence[str] = ()
    failure: Failure | None = None
    """Set when the execution failed: its writes are not claimed then."""


@dataclass(frozen=True)
class ExecutionLineage:
    """The lineage of one execution."""

    lineage: Lineage
    wraps: bool = False
    """The execution ran another one inside that did the same write."""


def lineage_of(plan: Plan | None, about: ExecutionFacts) -> ExecutionLineage:
    """Return what one execution read and wrote."""
    facts = _FactsOfPlan(about.facts)
    evaluation = evaluate(plan) if plan is not None else Evaluation()
    gaps = [Gap(where="capture", reason=problem) for problem in about.problems]
    datasets = {scan: facts.of_scan(scan) for scan in evaluation.scans}
    for scan, found in datasets.items():
        gaps.extend(_gaps_of_identities(scan.label, found))
    inputs = _inputs(evaluation, datasets, about.metrics)
    outputs: list[Output] = []
    if about.failure is None:
        for number, written in enumerate(evaluation.writes):
            made, missing = _outputs(written, facts, datasets, _write_statistics(about.metrics, number))
            outputs.extend(made)
            gaps.extend(missing)
    if not outputs:
        gaps.extend(_gap(hole, None) for hole in evaluation.holes if inputs or evaluation.writes)
    lineage = Lineage(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        gaps=tuple(dict.fromkeys(gaps)),
        failures=(about.failure,) if about.failure else (),
    )
    wraps = any(written.write.relation in _WRAPPERS for written in evaluation.writes)
    return ExecutionLineage(lineage, wraps)


class _FactsOfPlan:
    """Finds the facts of a scan by its first column's id, and those of a write by its position."""

    def __init__(self, entries: Iterable[Mapping[str, Any]]) -> None:
        self._scans: dict[tuple[str, int], Facts] = {}
        self._targets: dict[str, list[Facts]] = {}
        for entry in entries:
            node, expr_id = str(entry.get("node")), entry.get("expr_id")
            probed: Facts = entry.get("probed") or {}
            if expr_id is None:
                self._targets.setdefault(node, []).append(probed)
            else:
                self._scans[node, int(expr_id)] = probed

    def of_scan(self, scan: Scan) -> tuple[Identity, ...]:
        """Name the datasets that a scan reads; none when they are not known."""
        if not scan.output:
            return ()
        return identify(self._scans.get((scan.relation, scan.output[0].id), {}))

    def of_write(self, write: Write) -> Facts:
        """Return the facts of a write's target, empty when it could not be probed."""
        targets = self._targets.get(write.relation, [])
        return targets[write.target] if write.target < len(targets) else {}


def _inputs(
    evaluation: Evaluation,
    datasets: Mapping[Scan, tuple[Identity, ...]],
    metrics: Sequence[Mapping[str, Any]],
) -> list[Input]:
    """Return each dataset once, with all columns that any scan of it shows."""
    fields: dict[Identity, dict[str, Field]] = {}
    for scan, identities in datasets.items():
        for identity in identities:
            shown = fields.setdefault(identity, {})
            for column in scan.output:
                shown.setdefault(column.name, Field(column.name, column.type))
    statistics = _scan_statistics(metrics, list(fields))
    found = [
        Input(Dataset(identity, tuple(columns.values())), statistics.get(identity.id, Statistics()))
        for identity, columns in fields.items()
    ]
    return sorted(found, key=lambda one: one.dataset.id)


def _outputs(
    written: Written,
    facts: _FactsOfPlan,
    datasets: Mapping[Scan, tuple[Identity, ...]],
    statistics: Statistics,
) -> tuple[list[Output], list[Gap]]:
    """Return the output of one write, and what is not known about it."""
    target = facts.of_write(written.write)
    identities = identify(target)
    gaps = _gaps_of_identities(written.write.label, identities)
    fields = _fields(target, [column for column, _ in written.columns])
    edges: set[Edge] = set()
    for field, (_, sources) in zip(fields, written.columns, strict=True):
        edges.update(_edges(sources, datasets, field.name))
    edges.update(_edges(written.rows, datasets, ""))
    fed = sorted({identity.id for scan in written.scans for identity in datasets.get(scan, ())})
    outputs = []
    for identity in identities:
        outputs.append(
            Output(
                dataset=Dataset(identity, fields),
                mode=_mode(target),
                statistics=statistics,
                edges=tuple(sorted(edges, key=lambda edge: edge.order)),
                inputs=tuple(fed),
            )
        )
        gaps.extend(_gap(hole, identity.id) for hole in written.holes)
    return outputs, gaps


def _edges(sources: Sources, datasets: Mapping[Scan, tuple[Identity, ...]], column: str) -> Iterable[Edge]:
    for (scan, field), path in sources:
        for identity in datasets.get(scan, ()):
            yield Edge(identity.id, field, path.kind, path.masking, column)


def _fields(target: Facts, columns: Sequence[Attribute]) -> tuple[Field, ...]:
    """Return the written columns with the types that the live query had, where they were recorded."""
    try:
        recorded = json.loads(target.get("schema") or "{}").get("fields", [])
        if len(recorded) == len(columns):
            return tuple(Field(str(item["name"]), type_name(item["type"])) for item in recorded)
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    return tuple(Field(column.name, column.type) for column in columns)


def _mode(target: Facts) -> Mode:
    return _MODES.get(str(target.get("mode") or target.get("overwrite")).lower(), Mode.APPEND)


def _gaps_of_identities(label: str, identities: Sequence[Identity]) -> list[Gap]:
    if not identities:
        return [Gap(label, "where its data lies was not recorded, so the dataset has no name")]
    return [
        Gap(label, f"its source is not a known one; it is named {identity.id.name} by what Spark says of it")
        for identity in identities
        if not identity.known
    ]


def _gap(hole: Hole, output: DatasetId | None) -> Gap:
    names = ", ".join(f"`{name}`" for name in hole.columns[:20])
    more = f" and {len(hole.columns) - 20} more" if len(hole.columns) > 20 else ""
    reason = f"columns {names}{more}: {hole.reason}" if names else hole.reason
    column = hole.columns[0] if len(hole.columns) == 1 else ""
    return Gap(hole.label, reason, output, column)


def _scan_statistics(
    metrics: Sequence[Mapping[str, Any]], identities: Sequence[Identity]
) -> dict[DatasetId, Statistics]:
    """Add up what every physical scan of a dataset counted."""
    totals: dict[DatasetId, Statistics] = {}
    for metric in metrics:
        node = str(metric.get("node", ""))
        if not node.startswith(("Scan", "BatchScan")):
            continue
        found = _scanned(metric, identities)
        if found is not None:
            totals[found] = added(totals.get(found, Statistics()), _statistics(metric))
    return totals


def _scanned(metric: Mapping[str, Any], identities: Sequence[Identity]) -> DatasetId | None:
    """Find the dataset that a physical scan read: by location, or as the only one there is."""
    location = str(metric.get("location", "")).partition("[")[2].split(",")[0].rstrip("]. ")
    if location:
        for candidate in identify({"paths": [location]}):
            for identity in identities:
                same_place = identity.id.namespace == candidate.id.namespace
                if same_place and (candidate.id.name + "/").startswith(identity.id.name.rstrip("/") + "/"):
                    return identity.id
        return None
    ids = {identity.id for identity in identities}
    return ids.pop() if len(ids) == 1 else None


def _write_statistics(metrics: Sequence[Mapping[str, Any]], number: int) -> Statistics:
    writes = [m for m in metrics if str(m.get("node", "")).startswith(("Execute", "AppendData", "Overwrite"))]
    return _statistics(writes[number]) if number < len(writes) else Statistics()


def _statistics(metric: Mapping[str, Any]) -> Statistics:
    return Statistics(metric.get("rows"), metric.get("size_bytes"), metric.get("files"))


def added(one: Statistics, other: Statistics) -> Statistics:
    """Add two counts; what only one of them knows stays known."""

    def both(left: int | None, right: int | None) -> int | None:
        return left if right is None else right if left is None else left + right

    return Statistics(
        both(one.rows, other.rows), both(one.size_bytes, other.size_bytes), both(one.files, other.files)
    )
