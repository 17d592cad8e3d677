"""Lineage as plain JSON, for programs that need the model and not OpenLineage events."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Edge, Gap, Lineage, Output, Statistics
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId


def document(lineage: Lineage) -> dict[str, Any]:
    """Return the lineage as a JSON object with the names of the model; unknown counts are left out."""
    return {
        "inputs": [
            {**_dataset(read.dataset), "statistics": _statistics(read.statistics)} for read in lineage.inputs
        ],
        "outputs": [_output(output) for output in lineage.outputs],
        "gaps": [_gap(gap) for gap in lineage.gaps],
        "failures": [
            {
                "error_class": failure.error_class,
                "sql_state": failure.sql_state,
                "message": failure.message,
                "execution": failure.execution,
            }
            for failure in lineage.failures
        ],
    }


def _output(output: Output) -> dict[str, Any]:
    return {
        **_dataset(output.dataset),
        "mode": output.mode.value,
        **({"previous": _id(output.previous)} if output.previous else {}),
        "statistics": _statistics(output.statistics),
        "inputs": [_id(identifier) for identifier in output.inputs],
        "edges": [_edge(edge) for edge in output.edges],
    }


def _dataset(dataset: Dataset) -> dict[str, Any]:
    identity = dataset.identity
    return {
        **_id(identity.id),
        "format": identity.file_format,
        "symlinks": [asdict(link) for link in identity.symlinks],
        "locations": list(identity.part.shown),
        "fields": [asdict(field) for field in dataset.fields],
    }


def _edge(edge: Edge) -> dict[str, Any]:
    return {
        "column": edge.column or None,
        "source": _id(edge.source),
        "field": edge.field,
        "part": edge.part or None,
        "type": edge.kind.type,
        "subtype": edge.kind.subtype,
        "masking": edge.masking,
    }


def _gap(gap: Gap) -> dict[str, Any]:
    return {
        "where": gap.where,
        "kind": gap.kind.value,
        "reason": gap.reason,
        "output": _id(gap.output) if gap.output else None,
        "column": gap.column or None,
    }


def _id(identifier: DatasetId) -> dict[str, str]:
    return identifier._asdict()


def _statistics(statistics: Statistics) -> dict[str, int]:
    return {name: value for name, value in statistics._asdict().items() if value is not None}
