"""The runs that decide the lineage at a time: for each job and output the last write, and the last reads.

`partials` has the same rule for the time of the last load. Here the time is any, and the rule uses a few
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
    DAY_US,
    RunIndex,
    columns_of_dates,
    micros,
    micros_of_day,
)
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables
from airflow_provider_spark_lineage.openlineage.warehouse.under_way import UnderWay

with extra("warehouse"):
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds


@dataclass(frozen=True)
class Deciding:
    """The runs that decide the lineage at a time."""

    runs: Any
    """A mask over all runs."""
    begins: Mapping[int, int]
    """Job -> time of the first run that decides its reads; jobs without such a run are left out."""


class LastRuns:
    """The runs of a warehouse by their jobs and outputs.

    Rows of different tables are joined by job and time, because that needs no strings. Runs of a job at one
    time cannot be told apart so: they decide nothing alone, and those before them are taken, too.
    """

    def __init__(self, snapshot: StoredTables, index: RunIndex) -> None:
        self._snapshot, self._index = snapshot, index
        keys, self._slot, counts = np.unique(
            _key(index.job, index.time), return_inverse=True, return_counts=True
        )
        self._is_alone = counts == 1
        """For each slot, a job at a time, whether it has one run."""
        self._jobs, self._job = np.unique(index.job, return_inverse=True)
        writes = columns_of_dates(snapshot, "run_outputs", ["job_id", "event_time", "dataset_id"])
        self._write_job = writes.column("job_id").to_numpy()
        self._write_time = micros(writes.column("event_time"))
        self._output = writes.column("dataset_id").to_numpy()
        self._write_slot = _places(keys, _key(self._write_job, self._write_time))
        reads = columns_of_dates(snapshot, "run_inputs", ["job_id", "event_time"])
        read_slot = _places(keys, _key(reads.column("job_id").to_numpy(), micros(reads.column("event_time"))))
        self._is_active = np.zeros(len(keys), np.bool_)
        """For each slot whether a run of it read or wrote something."""
        for slots in (read_slot, self._write_slot):
            self._is_active[slots] = True

    def deciding(self, then: UnderWay, moving: Collection[int], changes_ns: Sequence[int]) -> Deciding:
        """Return the runs that decide, but those of families that were under way.

        `moving` has the names that meant several datasets, and `changes_ns` the times at which names began
        to mean one.
        """
        counted = then.known & self._index.is_counted
        is_mapped = self._is_mapped(then)
        plain, mapped = (np.flatnonzero(counted & some) for some in (~is_mapped, is_mapped))
        begins: dict[int, int] = {}
        runs = self._last_writes(counted, moving, changes_ns)
        runs[plain[self._reads_of_plain(plain, begins)]] = True
        runs[mapped[self._reads_of_mapped(mapped, then, begins)]] = True
        instances = self._index.is_instance
        if instances.any():
            is_needed = np.zeros(len(runs), np.bool_)
            is_needed[self._group[runs & instances]] = True
            # An instance under way has no position in `runs`; the others of its group count, too.
            is_needed[self._group[self._with_group({row["group_id"] for row in then.rows["runs"]})]] = True
            runs |= counted & instances & is_needed[self._group]
        return Deciding(runs, begins)

    def last_of_jobs(self, then: UnderWay) -> Any:
        """Return the last run of each job, or several if their times are equal, as a mask."""
        counted = then.known & self._index.is_counted
        last = _latest(self._job, self._index.time, counted, len(self._jobs))
        return counted & (self._index.time == last[self._job])

    def _is_mapped(self, then: UnderWay) -> Any:
        """Return for each run whether its job has instances of a mapped task."""
        is_mapped = np.zeros(len(self._jobs), np.bool_)
        is_mapped[self._job[self._index.is_instance]] = True
        jobs = {row["job_id"] for row in then.rows["runs"] if row["is_instance"]}
        if jobs:
            is_mapped |= np.isin(self._jobs, np.array([*jobs], np.int64))
        return is_mapped[self._job]

    def _slots(self, runs: Any) -> Any:
        """Return for each slot whether some runs, given as a mask or by positions, have it."""
        slots = np.zeros(len(self._is_alone), np.bool_)
        slots[self._slot[runs]] = True
        return slots

    def _last_writes(self, counted: Any, moving: Collection[int], changes_ns: Sequence[int]) -> Any:
        """Return the runs with the last write of each job and output, as a mask."""
        known = self._slots(counted)
        alive = known[self._write_slot]
        time, slot, pair = self._write_time[alive], self._write_slot[alive], self._pair[alive]
        if moving:
            # A name that meant several datasets has a last write in the time of each.
            begins = sorted({time for ns in changes_ns for time in (ns // 1000, ns // 1000 + 1)})
            era = np.searchsorted(np.array(begins, np.int64), time, side="right")
            era[~np.isin(self._output[alive], np.array([*moving], np.int64))] = 0
            pair = np.unique(_key(pair, era), return_inverse=True)[1]
        last = _latest(pair, time, self._is_alone[slot], int(pair.max(initial=-1)) + 1)
        chosen = np.zeros(len(known), np.bool_)
        chosen[slot[time >= last[pair]]] = True
        return chosen[self._slot] & counted

    @cached_property
    def _pair(self) -> Any:
        """For each write the number of its job and output."""
        return np.unique(_key(self._write_job, self._output), return_inverse=True)[1]

    def _reads_of_plain(self, runs: Any, begins: dict[int, int]) -> Any:
        """Return which runs decide what their jobs read: from the last one on that read all of it."""
        time, job, slot = self._index.time[runs], self._job[runs], self._slot[runs]
        is_active = self._is_active[slot]
        ends = self._is_alone[slot] & is_active & ~self._index.is_open[runs]
        last = _latest(job, time, ends, len(self._jobs))
        has_end = last > _LEAST
        begins |= zip(self._jobs[has_end].tolist(), last[has_end].tolist(), strict=True)
        return is_active & (time >= last[job])

    def _reads_of_mapped(self, runs: Any, then: UnderWay, begins: dict[int, int]) -> Any:
        """Return which runs of jobs with mapped instances decide: back to a group that read all of it."""
        chosen = np.zeros(len(runs), np.bool_)
        times = self._index.time[runs]
        slot = self._slot[runs]
        may_be_open = self._index.is_open[runs] | ~self._is_active[slot] | ~self._is_alone[slot]
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
    def _instances(self) -> Any:
        """Jobs and groups of the instances of mapped tasks, in the order of the index."""
        return columns_of_dates(self._snapshot, "runs", ["job_id", "group_id"], where=ds.field("is_instance"))

    def _with_group(self, ids: Collection[str]) -> Any:
        """Return the positions of the instances that have one of some groups."""
        is_in = pc.is_in(self._instances.column("group_id"), value_set=pa.array(ids, pa.string()))
        return np.flatnonzero(self._index.is_instance)[is_in.to_numpy()]

    @cached_property
    def _group(self) -> Any:
        """For each run the number of its group: its own, or one for the instances in a run of their DAG."""
        numbers = np.arange(len(self._index))
        places = np.flatnonzero(self._index.is_instance)
        if len(places):
            rows = self._instances
            groups = pc.dictionary_encode(rows.column("group_id").combine_chunks()).indices.to_numpy()
            both = _key(rows.column("job_id").to_numpy(), groups)
            _, first, number = np.unique(both, return_index=True, return_inverse=True)
            numbers[places] = places[first[number]]
        return numbers

    def unknown(
        self, then: UnderWay, deciding: Deciding, time_ns: int, since_ns: int | None = None
    ) -> set[int]:
        """Return the jobs whose lineage was decided by runs whose rows were dropped, or may have been.

        A run that decides now is not dropped, whatever its age: all is known of a job that has not run since.
        Runs that ended before `since_ns` do not decide.
        """
        first = self._snapshot.kept_from.get("runs", "")
        if not first or (since_ns is not None and since_ns // 1000 >= micros_of_day(first)):
            return set()
        begin, index = micros_of_day(first), self._index
        seen = columns_of_dates(self._snapshot, "jobs", ["job_id", "first_seen"])
        older = seen.column("job_id").to_numpy()[micros(seen.column("first_seen")) < begin]
        versions = columns_of_dates(self._snapshot, "lineage_versions", ["job_id", "target_id", "first_seen"])
        active = {*versions.column("job_id").to_pylist()}
        active.update(np.unique(index.job[self._is_active[self._slot]]).tolist())
        doubtful = active.intersection(older.tolist(), np.unique(index.job[~then.known]).tolist())
        mapped = {*np.unique(index.job[index.is_instance]).tolist()}
        whole = {
            job
            for job, time in deciding.begins.items()
            if time >= begin + (_LONGEST_US if job in mapped else 0)
        }
        known = pa.array(micros(versions.column("first_seen")) <= time_ns // 1000)
        jobs, targets = (versions.column(name).filter(known).to_pylist() for name in ("job_id", "target_id"))
        pairs = self._written_since(then, begin)
        missing = {job for job, *target in zip(jobs, targets, strict=True) if (job, *target) not in pairs}
        return doubtful & (missing | (doubtful - whole))

    def _written_since(self, then: UnderWay, begin: int) -> set[tuple[int, int]]:
        """Return the jobs and outputs that were written between two times."""
        counted = then.known & self._index.is_counted & (self._index.time >= begin)
        is_known = self._slots(counted)[self._write_slot]
        pairs = set(zip(self._write_job[is_known].tolist(), self._output[is_known].tolist(), strict=True))
        return pairs | {(row["job_id"], row["dataset_id"]) for row in then.rows["run_outputs"]}


_LONGEST_US = 7 * DAY_US
"""Longest time between instances of a mapped task in one run of its DAG: older ones may have been dropped."""

_NEVER = 2**63 - 1

_LEAST = -(2**63)


def _key(job: Any, time: Any) -> Any:
    """Return a number for each job and time."""
    return job.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ time.astype(np.uint64) * np.uint64(
        0xC2B2AE3D27D4EB4F
    )


def _places(keys: Any, wanted: Any) -> Any:
    """Return the positions of some keys among all, which are sorted; raise KeyError if one is missing."""
    places = np.searchsorted(keys, wanted)
    if len(wanted) and not (len(keys) and np.array_equal(keys[np.minimum(places, len(keys) - 1)], wanted)):
        raise KeyError("a run has no row in runs")
    return places


def _latest(group: Any, time: Any, wanted: Any, count: int) -> Any:
    """Return the greatest time of each group, of rows that are wanted; the least number without one."""
    last = np.full(count, _LEAST)
    np.maximum.at(last, group[wanted], time[wanted])
    return last
