"""Changes of the data flow between two times, from the tables of a warehouse.

Hashes are compared first: of most jobs the version of the lineage and the schemas are the same at both times.
Edges are read only of jobs that differ, and of jobs that touch the outputs of these or follow from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.changes import FlowChange, compared
from airflow_provider_spark_lineage.openlineage.graph.current import UNFINISHED
from airflow_provider_spark_lineage.openlineage.graph.names import DatasetNames
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.warehouse.asking import loaded_tables
from airflow_provider_spark_lineage.openlineage.warehouse.families import ConnectedIds
from airflow_provider_spark_lineage.openlineage.warehouse.ids import id_of_names
from airflow_provider_spark_lineage.openlineage.warehouse.past import Past, PastRows
from airflow_provider_spark_lineage.openlineage.warehouse.storage import whole_files


@dataclass(frozen=True)
class ChangesBetween:
    """The changes, and what could not be compared."""

    changes: list[FlowChange]
    contradictions: list[Id]
    """Names that were used for several datasets in turn at one of the times."""
    left_out: list[JobName]
    """Jobs whose lineage at one of the times depends on rows or events that were dropped."""


def changes_between(path: Path | str, base_ns: int, head_ns: int) -> ChangesBetween:
    """Return the changes between two times: those between the graphs of the events up to each of them.

    Times are nanoseconds since 1970. Raise BadInputError without a warehouse, and for a time that its tables
    do not know.
    """
    snapshot = loaded_tables(path)
    with whole_files(snapshot.path):
        past = Past(snapshot)
        past.refuse_before("FROM", base_ns)
        return changes_in(past, base_ns, head_ns)


def changes_in(past: Past, base_ns: int, head_ns: int) -> ChangesBetween:
    """Return the changes between two times that the tables know."""
    base, head = past.at(base_ns), past.at(head_ns)
    left_out = base.unknown | head.unknown
    comparison = _HashComparison(past, base, head, left_out)
    while True:
        before, after = past.currents([base, head], comparison.relevant(), left_out)
        # Others may touch what seems to be gone or new.
        if comparison.is_whole(set(before.datasets) ^ set(after.datasets)):
            break
    return ChangesBetween(
        compared(before, after),
        sorted({*base.names.contradictions, *head.names.contradictions}),
        past.job_names(left_out),
    )


class _Job:
    """Lineage of a job at a time, as hashes."""

    def __init__(self) -> None:
        self.said: list[Any] = []
        self.writes: set[int] = set()
        self.reads: set[int] = set()


def _touched_by(job: _Job) -> set[int]:
    return job.writes | job.reads


def _written_by(job: _Job) -> set[int]:
    return job.writes


class _HashComparison:
    """The jobs of two times."""

    def __init__(self, past: Past, base: PastRows, head: PastRows, left_out: Collection[int]) -> None:
        self._sources = past.sources([base, head])
        self._shifted = {id_of_names(*name) for name in _shifted(base.names, head.names)}
        self._same = _same_datasets(past.names)
        self._written: dict[int, set[int]] = defaultdict(set)
        self._read: dict[int, set[int]] = defaultdict(set)
        """Dataset -> ids of its schemas where it was written, and where it was read."""
        self._datasets: set[int] = set()
        """Datasets whose jobs are relevant, all of them."""
        self._base, self._head = (self._jobs(each, left_out) for each in (base, head))

    def _jobs(self, moment: PastRows, left_out: Collection[int]) -> dict[int, _Job]:
        jobs: dict[int, _Job] = defaultdict(_Job)
        groups: dict[str, int] = {}
        for run in (run for run in moment.runs if run["job_id"] not in left_out):
            job = jobs[run["job_id"]]
            inputs, outputs = moment.inputs.get(run["run_id"], ()), moment.outputs.get(run["run_id"], ())
            group = groups.setdefault(run["group_id"], len(job.said)) if run["is_instance"] else None
            job.said.append(
                (
                    run["state"] in UNFINISHED,
                    group,
                    sorted((row["dataset_id"], row["schema_id"] or 0) for row in inputs),
                    sorted((row["dataset_id"], row["schema_id"] or 0, row["lineage_id"]) for row in outputs),
                )
            )
            for row in inputs:
                self._read[self._same(row["dataset_id"])].add(row["schema_id"])
            for row in outputs:
                self._written[self._same(row["dataset_id"])].add(row["schema_id"])
                job.writes.add(row["dataset_id"])
                job.reads |= self._sources[row["lineage_id"]]
            job.reads |= {row["dataset_id"] for row in inputs}
        return jobs

    def relevant(self) -> set[int]:
        """Return the jobs that changed, and those that tell what this means for others."""
        changed = {job for job in self._base.keys() | self._head.keys() if self._is_changed(job)}
        touched, written = (
            [
                {each for job in changed & jobs.keys() for each in some(jobs[job])}
                for jobs in (self._base, self._head)
            ]
            for some in (_touched_by, _written_by)
        )
        # One name may be several datasets at different times, so names are compared, not what they mean.
        differing = (touched[0] ^ touched[1]) | written[0] | written[1] | self._shifted
        self._datasets |= {self._same(each) for each in differing}
        self._datasets |= {dataset for dataset in self._written if self._has_schemas(dataset)}
        datasets = self._downstream(self._datasets)
        return changed | {
            number
            for jobs in (self._base, self._head)
            for number, job in jobs.items()
            if any(self._same(each) in datasets for each in _touched_by(job))
        }

    def is_whole(self, differing: set[Id]) -> bool:
        """Return whether all jobs that touch some datasets are relevant; from now on, they are."""
        datasets = {self._same(id_of_names(*each)) for each in differing}
        is_whole = datasets <= self._datasets
        self._datasets |= datasets
        return is_whole

    def _is_changed(self, job: int) -> bool:
        base, head = self._base.get(job), self._head.get(job)
        if base is None or head is None or base.said != head.said:
            return True
        return not self._shifted.isdisjoint(_touched_by(base))

    def _has_schemas(self, dataset: int) -> bool:
        """Return whether a dataset has other columns after one of its runs than after another."""
        written = self._written[dataset] - {None}
        return len(written or self._read[dataset] - {None}) > 1

    def _downstream(self, datasets: set[int]) -> set[int]:
        """Return some datasets and all that may follow from them."""
        readers: dict[int, list[_Job]] = defaultdict(list)
        for jobs in (self._base, self._head):
            for job in jobs.values():
                for each in job.reads:
                    readers[self._same(each)].append(job)
        reached, frontier = set(datasets), list(datasets)
        while frontier:
            for job in readers[frontier.pop()]:
                new = {self._same(each) for each in job.writes} - reached
                reached |= new
                frontier += new
        return reached


def _shifted(base: DatasetNames, head: DatasetNames) -> set[Id]:
    """Return the symlinks that may lead to different datasets at two times."""
    meanings, others = dict(base.moved()), dict(head.moved())
    shifted = {name for name in meanings.keys() | others.keys() if meanings.get(name) != others.get(name)}
    shifted |= base.depending_on_time() | head.depending_on_time()
    owners = [
        (name, {owner for _, owner in some}) for names in (meanings, others) for name, some in names.items()
    ]
    while more := {name for name, some in owners if name not in shifted and some & shifted}:
        shifted |= more
    return shifted


def _same_datasets(names: Iterable[Mapping[str, Any]]) -> Any:
    """Return a function that gives one id to all names that were ever connected."""
    union = ConnectedIds[int]()
    known: set[int] = set()
    for row in names:
        alias = id_of_names(row["namespace"], row["name"])
        union.join(alias, row["dataset_id"])
        known |= {alias, row["dataset_id"]}
    tops = {each: union.top(each) for each in known}
    return lambda dataset: tops.get(dataset, dataset)
