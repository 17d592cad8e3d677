"""Lineage that was current at a time: the same as in a graph of the events until that time.

The runs that decide it are found by a few columns of all runs. Of those alone whole rows are read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.names import DatasetNames
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName, JobRun, RunLineage
from airflow_provider_spark_lineage.openlineage.warehouse.asking import (
    Row,
    RunRows,
    StoredVersion,
    by_run,
    datasets_in,
    fields_in,
    order_of,
    rows_of,
    schemas_in,
    versions_in,
)
from airflow_provider_spark_lineage.openlineage.warehouse.ids import id_of_names
from airflow_provider_spark_lineage.openlineage.warehouse.last_runs import LastRuns
from airflow_provider_spark_lineage.openlineage.warehouse.past_names import names_at
from airflow_provider_spark_lineage.openlineage.warehouse.run_index import (
    EPOCH,
    RunIndex,
    micros_of_day,
    sources_of,
)
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables
from airflow_provider_spark_lineage.openlineage.warehouse.under_way import UnderWay, under_way


@dataclass(frozen=True)
class PastRows:
    """Rows that decide the lineage at a time, and the meaning of their names."""

    names: DatasetNames
    runs: Sequence[Row]
    inputs: Mapping[str, Sequence[Row]]
    outputs: Mapping[str, Sequence[Row]]
    jobs: frozenset[int]
    """All jobs that had run."""
    unknown: frozenset[int]
    """Jobs whose lineage depends on rows or events that were dropped."""


class Past:
    """The tables of a warehouse, to be asked about several times."""

    def __init__(self, snapshot: StoredTables) -> None:
        self._snapshot = snapshot
        self.index = RunIndex.of(snapshot)
        self._datasets = datasets_in(snapshot)
        self._schemas = schemas_in(snapshot)
        self._derived_versions: dict[int, Row] = {}
        self._last = LastRuns(snapshot, self.index)
        self.names = [*rows_of(snapshot, "dataset_names")]

    def at(self, time_ns: int, *, since_ns: int | None = None, with_last: bool = False) -> PastRows:
        """Return what decides the lineage at a time, in nanoseconds since 1970.

        Runs that ended before `since_ns` may be among the rows, but no job is unknown because of them.
        `with_last` adds the last run of each job, which may have no lineage.
        """
        names = names_at(self._snapshot, self.names, self._datasets, time_ns)
        then = under_way(self._snapshot, self.index, time_ns)
        self._add_contents(then)
        moving = {id_of_names(*name): name for name in names.depending_on_time()}
        changes = sorted({time for _, owners in names.moved() for time, _ in owners}) if moving else []
        deciding = self._last.deciding(then, moving, changes)
        runs = deciding.runs | self._last.last_of_jobs(then) if with_last else deciding.runs
        ids, dates = set(self.index.ids(runs).to_pylist()), self.index.dates(runs)
        rows = {
            table: [*rows_of(self._snapshot, table, ids, dates=dates), *then.rows[table]]
            for table in ("runs", "run_inputs", "run_outputs")
        }
        counted = then.known & self.index.is_counted
        return PastRows(
            names,
            sorted(rows["runs"], key=order_of),
            by_run(rows["run_inputs"]),
            by_run(rows["run_outputs"]),
            frozenset({*self.index.job[counted].tolist(), *(row["job_id"] for row in then.rows["runs"])}),
            frozenset(then.unknown.keys() | self._last.unknown(then, deciding, time_ns, since_ns)),
        )

    def refuse_before(self, name: str, time_ns: int) -> None:
        """Raise BadInputError if the tables know nothing of a time, which has a name in the message."""
        path, first_kept = self._snapshot.path, self._snapshot.kept_from.get("runs", "")
        if not len(self.index):
            raise BadInputError(f"{path} has no runs yet: load events with `spark-lineage warehouse load`.")
        if first_kept and time_ns // 1000 < micros_of_day(first_kept):
            raise BadInputError(
                f"{name} is before {first_kept}, and `warehouse retain` has dropped the runs of {path} before"
                " that date: give a later time, or load their events into another folder."
            )
        if time_ns // 1000 < self.index.begin:
            first = EPOCH + timedelta(microseconds=self.index.begin)
            raise BadInputError(
                f"{name} is before the first event in {path} ({first:%Y-%m-%dT%H:%M:%SZ}): give a later time."
            )

    def _add_contents(self, then: UnderWay) -> None:
        """Take the contents behind the ids of derived rows."""
        for row in then.rows["names"]:
            self._datasets[row["dataset_id"]] = row["namespace"], row["name"]
        self._schemas |= {row["schema_id"]: fields_in(row) for row in then.rows["schemas"]}
        self._derived_versions |= {row["lineage_id"]: row for row in then.rows["versions"]}
        self._job_names |= then.unknown
        self._job_names |= {
            row["job_id"]: JobName(row["job_namespace"], row["job_name"]) for row in then.rows["runs"]
        }

    @cached_property
    def _job_names(self) -> dict[int, JobName]:
        return {
            row["job_id"]: JobName(row["namespace"], row["name"]) for row in rows_of(self._snapshot, "jobs")
        }

    def job_names(self, jobs: Collection[int]) -> list[JobName]:
        """Return the names of jobs, sorted."""
        return sorted(self._job_names[job] for job in jobs)

    def sources(self, moments: Sequence[PastRows]) -> dict[int, set[int]]:
        """Return for each version at some moments the datasets that it names as sources."""
        used = {row["lineage_id"] for each in moments for rows in each.outputs.values() for row in rows}
        sources = sources_of(self._snapshot, used - self._derived_versions.keys())
        for lineage_id, row in self._derived_versions.items():
            sources[lineage_id] = {*row["sources"], *(edge["source_id"] for edge in row["edges"])}
        return sources

    def current(self, time_ns: int, since_ns: int | None = None) -> tuple[Current, list[JobName]]:
        """Return what `Current.of` returns for the events with these times, and the jobs that are left out.

        These are jobs whose lineage is not known.
        """
        each = self.at(time_ns, since_ns=since_ns, with_last=True)
        runs = [
            row
            for row in each.runs
            if row["job_id"] not in each.unknown and (since_ns is None or int(row["time_ns"]) >= since_ns)
        ]
        [lineages] = self._lineages([each], [runs])
        current = Current.of_runs(lineages, each.names, {run.job: run.run for run in lineages})
        return current, self.job_names(each.unknown)

    def currents(
        self, moments: Sequence[PastRows], jobs: Collection[int], left_out: Collection[int] = ()
    ) -> list[Current]:
        """Return the lineage of some jobs at some moments; others are known to have run, or are left out."""
        chosen = [[row for row in each.runs if row["job_id"] in jobs] for each in moments]
        currents = []
        for each, runs in zip(moments, self._lineages(moments, chosen), strict=True):
            last = dict.fromkeys(self.job_names(each.jobs - set(left_out)), _ANY_RUN)
            currents.append(Current.of_runs(runs, each.names, last))
        return currents

    def _lineages(
        self, moments: Sequence[PastRows], chosen: Sequence[Sequence[Row]]
    ) -> list[list[RunLineage]]:
        """Return the lineage of chosen rows of `runs` at each of some moments."""
        used = {
            row["lineage_id"]
            for each, runs in zip(moments, chosen, strict=True)
            for run in runs
            for row in each.outputs.get(run["run_id"], ())
        }
        stored = used - self._derived_versions.keys()
        versions = versions_in(self._snapshot, stored, self._datasets) | {
            lineage_id: StoredVersion.of(self._derived_versions[lineage_id], self._datasets)
            for lineage_id in used - stored
        }
        return [
            [*map(RunRows(self._datasets, self._schemas, versions, each.inputs, each.outputs).lineage, runs)]
            for each, runs in zip(moments, chosen, strict=True)
        ]


_ANY_RUN = JobRun("", "", "", 0)
"""The last run of a job is not read: that the job had run is enough to compare."""
