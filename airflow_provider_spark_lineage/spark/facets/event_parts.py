"""The parts of one event: its datasets and facets, from a lineage, from others' reports, and together."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from airflow_provider_spark_lineage.spark.checks.assertion import Findings
from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.spark.facets.events import EventFacets, RunIdentity, plain, task_event
from airflow_provider_spark_lineage.spark.facets.jobs import LINEAGE, lineage_job_facets
from airflow_provider_spark_lineage.spark.facets.joined import joined, with_stated_sources
from airflow_provider_spark_lineage.spark.facets.quality import with_findings
from airflow_provider_spark_lineage.spark.facets.runs import GAPS, error_facet, lineage_run_facets
from airflow_provider_spark_lineage.spark.lineage.model import Failure, Gap, Lineage

Json = dict[str, Any]


@dataclass(frozen=True)
class EventParts:
    """Datasets and facets of one event.

    They are new objects for each event, because the redactor of Airflow's provider modifies them.
    """

    inputs: Sequence[Any] = ()
    outputs: Sequence[Any] = ()
    run_facets: Mapping[str, Any] = field(default_factory=dict)
    job_facets: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_lineage(
        cls, lineage: Lineage, run_facets: Mapping[str, Any] | None = None, *, per_field: bool = False
    ) -> EventParts:
        """Return a lineage as OpenLineage objects, with other facets of the run.

        `per_field` repeats edges of whole datasets for each column.
        """
        return cls(
            input_datasets(lineage),
            output_datasets(lineage, dataset_edges_per_field=per_field),
            {**(run_facets or {}), **lineage_run_facets(lineage)},
            lineage_job_facets(lineage),
        )

    @classmethod
    def of_report(cls, report: Any) -> EventParts:
        """Return the parts of an object with the same attributes: the provider's `OperatorLineage`."""
        return cls(report.inputs, report.outputs, report.run_facets, report.job_facets)

    def lists(self) -> dict[str, Any]:
        """Return the parts by name, as arguments of the provider's `OperatorLineage`."""
        return {
            "inputs": [*self.inputs],
            "outputs": [*self.outputs],
            "run_facets": {**self.run_facets},
            "job_facets": {**self.job_facets},
        }

    def copied(self) -> EventParts:
        """Return the parts as new objects."""
        return copy.deepcopy(self)

    def merged(self, other: EventParts) -> EventParts:
        """Return both as one; these win if both have a dataset or a facet."""
        return EventParts(
            joined(self.inputs, other.inputs),
            joined(self.outputs, other.outputs),
            {**other.run_facets, **self.run_facets},
            {**other.job_facets, **self.job_facets},
        )

    def with_stated(
        self, inlets: Iterable[Any], outlets: Iterable[Any], by: tuple[str, str], *, adds_outlets: bool
    ) -> EventParts:
        """Return the parts with the datasets that the author of a task states.

        `by` has the names of their arguments. Without `adds_outlets`, outlets complete known outputs only.
        """
        reads = joined(self.inputs, inlets, by=by[0])
        writes = joined(self.outputs, outlets, by=by[1], adds=adds_outlets)
        facets = with_stated_sources({**self.job_facets}, reads, writes)
        return replace(self, inputs=reads, outputs=writes, job_facets=facets)

    def with_findings(self, findings: Sequence[Findings], sql_text: str) -> EventParts:
        """Return the parts with results of checks, at their datasets or at the run.

        `sql_text` is the option: whether statements, which have literals, may be shown.
        """
        reads, facets = with_findings(self.inputs, self.run_facets, findings, sql_text, self.outputs)
        return replace(self, inputs=reads, run_facets=facets)

    def with_failure(self, failure: Failure) -> EventParts:
        """Return the parts with the failure that ended the run."""
        return replace(self, run_facets={**self.run_facets, **error_facet((failure,))})

    def event(self, state: str, identity: RunIdentity) -> Any:
        """Return an event of a task, as Airflow's provider sends it; see `task_event`."""
        facets = EventFacets(self.run_facets, self.job_facets)
        return task_event(state, identity, facets, self.inputs, self.outputs)

    @staticmethod
    def masked(event: Any, redact: Callable[..., Any], gaps: Iterable[Gap] = ()) -> Json:
        """Return an event as JSON, without what `redact` masks, and with further gaps of its task.

        The redactor of Airflow's provider takes long for many columns, so each text of a facet that names
        columns is masked once.
        """
        document, mask = plain(event), cache(redact)
        datasets = {
            name: [_masked_dataset(each, redact, mask) for each in document[name]]
            for name in ("inputs", "outputs")
        }
        lineage = document["job"]["facets"].get(LINEAGE)
        event.inputs, event.outputs = [], []
        event.job.facets.pop(LINEAGE, None)
        document = plain(redact(event, max_depth=20)) | datasets
        if lineage is not None:
            document["job"].setdefault("facets", {})[LINEAGE] = _masked(lineage, mask)
        for gap in gaps:
            listed = document["run"].setdefault("facets", {}).setdefault(GAPS, {"gaps": []})["gaps"]
            listed.append({"where": gap.where, "kind": gap.kind.value, "reason": str(gap.reason)})
        return document


_NAMING = frozenset({"schema", "columnLineage", "symlinks"})
"""Facets of datasets whose keys are not names of secrets: a key may be the name of a column."""


def _masked_dataset(dataset: Json, redact: Callable[..., Any], mask: Callable[[str], str]) -> Json:
    """Return a dataset whose secrets are masked, by the names of keys and in texts."""
    masked = {
        key: _masked(value, mask) for key, value in dataset.items() if not key.lower().endswith("facets")
    }
    for key in dataset.keys() - masked.keys():
        masked[key] = {
            name: _masked(facet, mask) if name in _NAMING else redact(facet, max_depth=20)
            for name, facet in dataset[key].items()
        }
    return masked


def _masked(value: Any, mask: Callable[[str], str]) -> Any:
    """Return a JSON value with each text masked."""
    if isinstance(value, dict):
        return {name: _masked(part, mask) for name, part in value.items()}
    if isinstance(value, list):
        return [_masked(part, mask) for part in value]
    return mask(value) if isinstance(value, str) else value
