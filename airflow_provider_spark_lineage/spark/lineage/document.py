"""Lineage as plain JSON, for programs that need the model and not OpenLineage events."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from airflow_provider_spark_lineage.openlineage.lineage_document import edge, failure, gap
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Edge, Gap, Lineage, Output, Statistics
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId


def document(lineage: Lineage) -> dict[str, Any]:
    """Return the lineage as a JSON object with the names of the model; unknown counts are left out."""
    return {
        "inputs": [
            {**_dataset(read.dataset), "statistics": _statistics(read.statistics)} for read in lineage.inputs
        ],
        "outputs": [_output(output) for output in lineage.outputs],
        "gaps": [_gap(each) for each in lineage.gaps],
        "failures": [
            failure(each.error_class, each.sql_state, each.message, each.execution)
            for each in lineage.failures
        ],
    }


def _output(output: Output) -> dict[str, Any]:
    return {
        **_dataset(output.dataset),
        "mode": output.mode.value,
        **({"previous": _id(output.previous)} if output.previous else {}),
        "statistics": _statistics(output.statistics),
        "inputs": [_id(identifier) for identifier in output.inputs],
        "edges": [_edge(each) for each in output.edges],
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


def _edge(of: Edge) -> dict[str, Any]:
    return edge(
        of.column or None,
        _id(of.source),
        of.field,
        type=of.kind.type,
        subtype=of.kind.subtype,
        masking=of.masking,
        part=of.part,
    )


def _gap(of: Gap) -> dict[str, Any]:
    return gap(of.where, of.kind.value, of.reason, _id(of.output) if of.output else None, of.column)


def _id(identifier: DatasetId) -> dict[str, str]:
    return identifier._asdict()


def _statistics(statistics: Statistics) -> dict[str, int]:
    return {name: value for name, value in statistics._asdict().items() if value is not None}
