"""Sums over the tasks of a logged application, with the same figures as `Usage.java` in a live one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.usage import StageUsage, Usage

MOST_STAGES = 50

# Most of a log are ends of tasks: they are not parsed as JSON.
_TASK = re.compile(
    rb'"Stage ID":(\d+),"Stage Attempt ID":(\d+).*?"Task End Reason":\{"Reason":"(\w+)".*?'
    rb'"Launch Time":(\d+).*?"Speculative":(true|false).*?"Finish Time":(\d+)'
)
_PEAK = re.compile(rb'"Peak Execution Memory":(\d+)')
_ROWS = re.compile(rb'"(?:Input Metrics":\{"Bytes Read":\d+,"Records Read|Total Records Read)":(\d+)')

_METRICS = {
    "executorRunTime": "run_ms",
    "executorCpuTime": "cpu_ns",
    "jvmGCTime": "gc_ms",
    "time to run Python workers": "python_ms",
    "memoryBytesSpilled": "memory_spilled_bytes",
    "diskBytesSpilled": "disk_spilled_bytes",
    "input.recordsRead": "input_rows",
    "input.bytesRead": "input_bytes",
    "output.recordsWritten": "output_rows",
    "output.bytesWritten": "output_bytes",
    "shuffle.read.remoteBytesRead": "shuffle_read_bytes",
    "shuffle.read.localBytesRead": "shuffle_read_bytes",
    "shuffle.write.bytesWritten": "shuffle_written_bytes",
}
"""Spark's name of a stage's sum, without `internal.metrics.` -> its name here."""


@dataclass
class _Tasks:
    """The tasks of one attempt of a stage that have ended."""

    count: int = 0
    failed: int = 0
    rows: int = 0
    slowest_ms: int = -1
    rows_of_slowest: int = 0
    durations: dict[int, int] = field(default_factory=dict)
    """Number of successful tasks by the class of their duration, an eighth of a power of two."""

    def took(self, milliseconds: int, rows: int) -> None:
        least = _least_of_class(milliseconds)
        self.durations[least] = self.durations.get(least, 0) + 1
        self.rows += rows
        if milliseconds > self.slowest_ms:
            self.slowest_ms, self.rows_of_slowest = milliseconds, rows

    @property
    def median_ms(self) -> int:
        count, before = sum(self.durations.values()), 0
        for least in sorted(self.durations):
            before += self.durations[least]
            if before * 2 >= count:
                return min(least, self.slowest_ms)
        return 0


class LoggedUsage:
    """Adds up jobs, stages and tasks of one application."""

    def __init__(self) -> None:
        self._sums: dict[str, int] = dict.fromkeys(("jobs", "stages", "failed_stages"), 0)
        self._tasks: dict[tuple[int, int], _Tasks] = {}
        self._executors: dict[str, int] = {}
        """Cores of each running executor, by its id."""

        self._memory: dict[str, int] = {}
        self._longest: list[StageUsage] = []
        self._peak = 0
        self._first_ms = self._last_ms = -1

    def executor_added(self, line: bytes) -> None:
        """Count an executor, from the line of its start."""
        event = json.loads(line)
        self._executors[str(event["Executor ID"])] = int(event["Executor Info"]["Total Cores"])
        self._measure()

    def memory_added(self, line: bytes) -> None:
        """Count the memory of an executor or a driver, from the line of its block manager."""
        event = json.loads(line)
        self._memory[str(event["Block Manager ID"]["Executor ID"])] = int(event["Maximum Memory"])
        self._measure()

    def executor_removed(self, line: bytes) -> None:
        """Forget an executor, from the line of its end."""
        self._executors.pop(str(json.loads(line)["Executor ID"]), None)

    def _measure(self) -> None:
        # The driver of a cluster has memory, but no cores for tasks.
        running = [executor for executor, cores in self._executors.items() if cores]
        for name, value in (
            ("executors", len(running)),
            ("cores", sum(self._executors.values())),
            ("memory_bytes", sum(self._memory.get(executor, 0) for executor in running)),
        ):
            self._sums[name] = max(self._sums.get(name, 0), value)

    def job_started(self) -> None:
        """Count a job."""
        self._sums["jobs"] += 1

    def stage_submitted(self, line: bytes) -> None:
        """Begin an attempt of a stage, from the line of its start."""
        info = json.loads(line)["Stage Info"]
        now = int(info.get("Submission Time") or 0)
        self._first_ms = now if self._first_ms < 0 else self._first_ms
        if not self._tasks and self._last_ms >= 0:
            self._add({"idle_ms": max(now - self._last_ms, 0)})
        self._tasks[int(info["Stage ID"]), int(info.get("Stage Attempt ID") or 0)] = _Tasks()

    def task_ended(self, line: bytes) -> None:
        """Count a task, from the line of its end."""
        match = _TASK.search(line)
        if match is None:
            return
        stage, attempt, reason, began, speculative, ended = match.groups()
        is_killed = reason in (b"TaskKilled", b"TaskCommitDenied")
        is_failed = not is_killed and reason != b"Success"
        how = {"failed_tasks": is_failed, "killed_tasks": is_killed}
        self._add({"tasks": 1, "speculative_tasks": speculative == b"true", **how})
        # None for a stage that has ended.
        tasks = self._tasks.get((int(stage), int(attempt)))
        if tasks is None:
            return
        tasks.count += 1
        tasks.failed += is_failed
        if is_killed or is_failed:
            return
        peak = _PEAK.search(line, match.end())
        self._peak = max(self._peak, int(peak[1]) if peak else 0)
        tasks.took(int(ended) - int(began), sum(map(int, _ROWS.findall(line, match.end()))))

    def stage_completed(self, info: Mapping[str, Any], execution: int | None) -> None:
        """Count an attempt of a stage; `execution` is the one that it belongs to."""
        number, attempt = int(info["Stage ID"]), int(info.get("Stage Attempt ID") or 0)
        tasks = self._tasks.pop((number, attempt), _Tasks())
        is_failed = bool(info.get("Failure Reason"))
        if not (tasks.count or is_failed):
            # A compacted log has no tasks of jobs that have ended.
            tasks.count = int(info.get("Number of Tasks") or 0)
            self._add({"tasks": tasks.count})
        sums = _sums(info)
        self._add({**sums, "stages": 1, "failed_stages": is_failed})
        began, ended = int(info.get("Submission Time") or 0), int(info.get("Completion Time") or 0)
        self._last_ms = ended or self._last_ms
        stage = StageUsage(
            number,
            attempt,
            execution,
            without_secrets(str(info.get("Stage Name") or "")),
            is_failed=is_failed,
            partitions=int(info.get("Number of Tasks") or 0),
            elapsed_ms=ended - began if began and ended else 0,
            tasks=tasks.count,
            failed_tasks=tasks.failed,
            rows=tasks.rows,
            rows_of_slowest=tasks.rows_of_slowest,
            slowest_ms=max(tasks.slowest_ms, 0),
            median_ms=tasks.median_ms,
            **sums,
        )
        stages = sorted([*self._longest, stage], key=StageUsage.rank)
        self._longest = stages[:MOST_STAGES]

    def usage(self) -> Usage:
        """Return the sums so far."""
        return Usage(
            **self._sums,
            span_ms=max(self._last_ms - self._first_ms, 0) if self._first_ms >= 0 else 0,
            peak_task_memory_bytes=self._peak,
            longest_stages=tuple(self._longest),
        )

    def _add(self, sums: Mapping[str, int]) -> None:
        for name, value in sums.items():
            self._sums[name] = self._sums.get(name, 0) + value


def _sums(info: Mapping[str, Any]) -> dict[str, int]:
    """Return the sums of a stage over all of its tasks."""
    sums = dict.fromkeys(_METRICS.values(), 0)
    for accumulable in info.get("Accumulables") or ():
        name = _METRICS.get(str(accumulable.get("Name")).removeprefix("internal.metrics."))
        if name is not None:
            sums[name] += int(accumulable.get("Value") or 0)
    sums["cpu_ms"] = sums.pop("cpu_ns") // 1_000_000
    return sums


def _least_of_class(milliseconds: int) -> int:
    """Return the smallest duration of the class that a duration belongs to.

    >>> _least_of_class(7), _least_of_class(17), _least_of_class(1000)
    (7, 16, 960)
    """
    if milliseconds < 8:
        return max(milliseconds, 0)
    shift = milliseconds.bit_length() - 4
    return milliseconds >> shift << shift
