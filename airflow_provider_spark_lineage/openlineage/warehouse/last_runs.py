"""The runs that decide the lineage at a time: for each job and output the last write, and the last reads.

The rule is that of `partials`, which is for the time of the last load. Here it is for any time, by a few
columns without strings. It may name more runs than are needed, and never fewer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.warehouse.run_index import (
    RunIndex,
    columns_of_dates,
    micros,
    micros_of_day,
)
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables
from airflow_provider_spark_lineage.openlineage.warehouse.under_way import UnderWay

with extra("warehouse"):
    import numpy as np
    import pyarrow.compute as pc
    import pyarrow.dataset as ds


@dataclass(frozen=True)
class Deciding:
    """The runs that decide the lineage at a time."""

    positions: Any
    begins: Mapping[int, int]
    """Job -> time of the first run that decides what it read; jobs whose runs all decide are left out."""


class LastRuns:
    """The runs of a warehouse by their jobs and outputs.

    Rows of different tables are joined by job and time, because that needs no strings. Runs of a job at one
    time cannot be told apart so: they decide nothing alone, and those before them are taken, too.
    """

    def __init__(self, snapshot: StoredTables, index: RunIndex) -> None:
        self._snapshot, self._index = snapshot, index
        writes = columns_of_dates(snapshot, "run_outputs", ["job_id", "event_time", "dataset_id"])
        self._write_job = writes.column("job_id").to_numpy()
        self._write_time = micros(writes.column("event_time"))
        self._output = writes.column("dataset_id").to_numpy()
        self._key = _key(index.job, index.time)
        keys, counts = np.unique(self._key, return_counts=True)
        self._is_alone = np.isin(self._key, keys[counts == 1])
        self._write_key = _key(self._write_job, self._write_time)
        reads = columns_of_dates(snapshot, "run_inputs", ["job_id", "event_time"])
        read_key = _key(reads.column("job_id").to_numpy(), micros(reads.column("event_time")))
        self._is_active = np.isin(self._key, np.concatenate([read_key, self._write_key]))

    def deciding(self, then: UnderWay, moving: Collection[int], changes_ns: Sequence[int]) -> Deciding:
        """Return the runs that decide, but those of families that were under way.

        `moving` has the names that meant several datasets, and `changes_ns` the times at which names began
        to mean one.
        """
        counted = np.flatnonzero(then.known & self._index.is_counted)
        is_mapped = self._is_mapped(counted, then)
        plain, mapped = counted[~is_mapped], counted[is_mapped]
        begins: dict[int, int] = {}
        found = [
            self._last_writes(counted, moving, changes_ns),
            plain[self._reads_of_plain(plain, begins)],
            mapped[self._reads_of_mapped(mapped, then, begins)],
        ]
        positions = np.unique(np.concatenate(found))
        instances = positions[self._index.is_instance[positions]]
        if len(instances):
            more = counted[self._index.is_instance[counted]]
            wanted = np.isin(self._group[more], self._group[instances])
            positions = np.union1d(positions, more[wanted])
        return Deciding(positions, begins)

    def _is_mapped(self, counted: Any, then: UnderWay) -> Any:
        """Return which of some runs have a job with instances of a mapped task."""
        jobs = [row["job_id"] for row in then.rows["runs"] if row["is_instance"]]
        known = np.unique(self._index.job[self._index.is_instance])
        return np.isin(self._index.job[counted], np.union1d(known, np.array(jobs, np.int64)))

    def _last_writes(self, counted: Any, moving: Collection[int], changes_ns: Sequence[int]) -> Any:
        """Return the runs with the last write of each job and output."""
        alive = np.isin(self._write_key, self._key[counted])
        output, time, keys = self._output[alive], self._write_time[alive], self._write_key[alive]
        pair = _key(self._write_job[alive], output)
        if moving:
            # A name that meant several datasets has a last write in the time of each.
            begins = sorted({time for ns in changes_ns for time in (ns // 1000, ns // 1000 + 1)})
            era = np.searchsorted(np.array(begins, np.int64), time, side="right")
            era[~np.isin(output, np.array([*moving], np.int64))] = 0
            pair = _key(pair, era)
        pairs, group = np.unique(pair, return_inverse=True)
        alone = np.isin(keys, self._key[counted[self._is_alone[counted]]])
        last = _latest(group, time, alone, len(pairs))
        return counted[np.isin(self._key[counted], keys[time >= last[group]])]

    def _reads_of_plain(self, runs: Any, begins: dict[int, int]) -> Any:
        """Return which runs decide what their jobs read: from the last one on that read all of it."""
        time, is_active = self._index.time[runs], self._is_active[runs]
        jobs, number = np.unique(self._index.job[runs], return_inverse=True)
        ends = self._is_alone[runs] & is_active & ~self._index.is_open[runs]
        last = _latest(number, time, ends, len(jobs))
        begins |= zip(jobs[last > _LEAST].tolist(), last[last > _LEAST].tolist(), strict=True)
        return is_active & (time >= last[number])

    def _reads_of_mapped(self, runs: Any, then: UnderWay, begins: dict[int, int]) -> Any:
        """Return which runs of jobs with mapped instances decide: back to a group that read all of it."""
        chosen = np.zeros(len(runs), np.bool_)
        times = self._index.time[runs]
        may_be_open = self._index.is_open[runs] | ~self._is_active[runs] | ~self._is_alone[runs]
        opened: dict[int, int] = {}
        for row in then.rows["runs"]:
            opened[row["job_id"]] = min(int(row["time_ns"]) // 1000, opened.get(row["job_id"], _NEVER))
        groups: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        members = zip(self._index.job[runs].tolist(), self._group[runs].tolist(), strict=True)
        for place, (job, group) in enumerate(members):
            groups[job][group].append(place)
        for job, some in groups.items():
            first_open = opened.get(job, _NEVER)
            for places in sorted(some.values(), key=lambda places: -times[places].max()):
                chosen[places] = True
                first_open = min([first_open, *times[places][may_be_open[places]].tolist()])
                if times[places].max() < first_open:
                    begins[job] = int(times[places].min())
                    break
        return chosen

    @cached_property
    def _group(self) -> Any:
        """For each run the number of its group: its own, or one for the instances in a run of their DAG."""
        numbers = np.arange(len(self._index))
        places = np.flatnonzero(self._index.is_instance)
        if len(places):
            rows = columns_of_dates(
                self._snapshot, "runs", ["job_id", "group_id"], where=ds.field("is_instance")
            )
            groups = pc.dictionary_encode(rows.column("group_id").combine_chunks()).indices.to_numpy()
            both = _key(rows.column("job_id").to_numpy(), groups)
            _, first, number = np.unique(both, return_index=True, return_inverse=True)
            numbers[places] = places[first[number]]
        return numbers

    def dropped(self, then: UnderWay, deciding: Deciding, time_ns: int) -> set[int]:
        """Return the jobs whose lineage was decided by runs whose rows were dropped, or may have been.

        A run that decides now is not dropped, whatever its age: all is known of a job that has not run since.
        """
        first = self._snapshot.kept_from.get("runs", "")
        if not first:
            return set()
        begin = micros_of_day(first)
        index = self._index
        since = {*np.unique(index.job[~then.known]).tolist()}
        jobs = columns_of_dates(self._snapshot, "jobs", ["job_id", "first_seen"])
        older = jobs.column("job_id").to_numpy()[micros(jobs.column("first_seen")) < begin]
        doubtful = since.intersection(older.tolist())
        whole = {job for job, time in deciding.begins.items() if time >= begin}
        pairs = self._written_since(then, begin)
        columns = ["job_id", "target_id", "first_seen"]
        versions = columns_of_dates(self._snapshot, "lineage_versions", columns)
        known = micros(versions.column("first_seen")) <= time_ns // 1000
        targets = zip(
            *(versions.column(name).to_numpy()[known].tolist() for name in columns[:2]), strict=True
        )
        missing = {job for job, target in targets if job in doubtful and (job, target) not in pairs}
        return (doubtful - whole) | missing

    def _written_since(self, then: UnderWay, begin: int) -> set[tuple[int, int]]:
        """Return the jobs and outputs that were written between two times."""
        counted = then.known & self._index.is_counted & (self._index.time >= begin)
        found = np.isin(self._write_key, self._key[counted])
        pairs = set(zip(self._write_job[found].tolist(), self._output[found].tolist(), strict=True))
        return pairs | {(row["job_id"], row["dataset_id"]) for row in then.rows["run_outputs"]}


_NEVER = 2**63 - 1

_LEAST = -(2**63)


def _key(job: Any, time: Any) -> Any:
    """Return a number for each job and time."""
    return job.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ time.astype(np.uint64) * np.uint64(
        0xC2B2AE3D27D4EB4F
    )


def _latest(group: Any, time: Any, wanted: Any, count: int) -> Any:
    """Return the greatest time of each group, of rows that are wanted; the least number without one."""
    last = np.full(count, _LEAST)
    np.maximum.at(last, group[wanted], time[wanted])
    return last
