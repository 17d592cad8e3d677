"""Run facets of the resources that Spark's tasks used, and of their bottlenecks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
from openlineage.client.facet_v2 import RunFacet

from airflow_provider_spark_lineage.openlineage.words import counted, duration, size
from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER, OwnSchema
from airflow_provider_spark_lineage.spark.lineage.model import ExecutionSummary, Join
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.usage import StageUsage, Usage

MOST_BOTTLENECKS = 5

_SLOW_MS = 2_000
"""A shorter stage is not reported."""

_WORTH_MS = 5_000
_WORTH_SHARE = 0.1
"""A bottleneck that costs less time, or a smaller share of the application's stages, is not reported: nobody
would look at it twice, and ordinary short tasks have several."""

_IDLE_MS = 30_000
"""A shorter time without tasks is not reported."""

_MOST_PAIRS = 10_000_000
"""A nested loop join that compares fewer pairs of rows is not reported."""

_PAIRS_PER_MS = 20_000
"""Pairs of rows that one core compares, roughly."""

_MANY_TASKS = 1_000
_SHORT_TASK_MS = 50
_LARGE_TASK_BYTES = 1 << 30


@attrs.define
class SparkResourcesRunFacet(OwnSchema, RunFacet):
    """Resources that each Spark application of a task used while it was captured."""

    applications: list[dict[str, Any]]


@attrs.define
class SparkBottlenecksRunFacet(OwnSchema, RunFacet):
    """Bottlenecks of the Spark applications of a task, the costliest first."""

    bottlenecks: list[dict[str, Any]]


def resources_facets(applications: Sequence[Application]) -> dict[str, RunFacet]:
    """Return `sparkLineage_resources`; empty if the usage of no application is known."""
    entries = [
        {"applicationId": each.id, **_camel_case(each.usage)}
        for each in applications
        if each.usage is not None
    ]
    if not entries:
        return {}
    return {"sparkLineage_resources": SparkResourcesRunFacet(entries, producer=PRODUCER)}


def bottlenecks_facets(
    applications: Sequence[Application], executions: Sequence[ExecutionSummary] = ()
) -> dict[str, RunFacet]:
    """Return `sparkLineage_bottlenecks`, with at most five; empty without any."""
    pairs = [
        (cost_ms, {"applicationId": each.id, **entry})
        for each in applications
        if each.usage is not None
        for cost_ms, entry in bottlenecks(each.usage)
    ]
    usages = {each.id: each.usage for each in applications if each.usage is not None}
    for join in (join for execution in executions for join in execution.joins):
        usage = usages.get(join.application_id, Usage())
        for cost_ms, entry in _of_join(join, usage):
            pairs.append((cost_ms, {"applicationId": join.application_id, **entry}))
    pairs.sort(key=lambda pair: -pair[0])
    if not pairs:
        return {}
    entries = [entry for _, entry in pairs[:MOST_BOTTLENECKS]]
    return {"sparkLineage_bottlenecks": SparkBottlenecksRunFacet(entries, producer=PRODUCER)}


def bottlenecks(usage: Usage) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the bottlenecks of an application: what each costs in milliseconds, roughly, and its entry.

    An entry has `kind` and a sentence with figures (`message`). An entry about a stage has its number and,
    for SQL, the number of the execution in Spark's user interface.
    """
    if usage.idle_ms >= _IDLE_MS and usage.idle_ms * 4 > usage.span_ms:
        message = (
            f"No task ran for {duration(usage.idle_ms)} of {duration(usage.span_ms)}: the program was busy"
            " elsewhere, or it waited."
        )
        yield usage.idle_ms, {"kind": "idle", "message": message}
    for stage in usage.longest_stages:
        for kind, cost_ms, message in _of_stage(stage, usage):
            if not _is_worth_a_look(cost_ms, max(usage.span_ms, stage.elapsed_ms)):
                continue
            entry: dict[str, Any] = {"kind": kind, "message": message, "stage": stage.id}
            if stage.attempt:
                entry["attempt"] = stage.attempt
            if stage.execution is not None:
                entry["execution"] = stage.execution
            if stage.name:
                entry["callSite"] = stage.name
            yield cost_ms, entry


def _is_worth_a_look(cost_ms: int, whole_ms: int) -> bool:
    """Return whether a bottleneck costs enough of the time that the application's stages took."""
    return cost_ms >= max(_WORTH_MS, _WORTH_SHARE * whole_ms)


def _of_stage(stage: StageUsage, usage: Usage) -> Iterator[tuple[str, int, str]]:
    if stage.elapsed_ms < _SLOW_MS:
        return
    cores = max(usage.cores, 1)
    if stage.is_failed:
        attempt, ran = stage.attempt + 1, duration(stage.elapsed_ms)
        message = f"Attempt {attempt} of stage {stage.id} was not completed; it ran for {ran}."
        yield "failed stage", stage.elapsed_ms, message
        return
    slowest, median = duration(stage.slowest_ms), duration(stage.median_ms)
    if stage.tasks > 1 and stage.slowest_ms >= max(4 * stage.median_ms, _SLOW_MS):
        share = f" and read {stage.rows_of_slowest / stage.rows:.0%} of the rows" if stage.rows else ""
        message = (
            f"The slowest of {stage.tasks} tasks of stage {stage.id} took {slowest}{share};"
            f" the median is about {median}."
        )
        yield "skew", stage.slowest_ms - stage.median_ms, message
    if stage.disk_spilled_bytes:
        message = (
            f"Stage {stage.id} wrote {size(stage.disk_spilled_bytes)} to local disks,"
            " because its tasks had too little memory."
        )
        yield "spill", stage.run_ms // cores // 4, message
    if stage.run_ms and stage.gc_ms * 10 > stage.run_ms:
        share = f"{stage.gc_ms / stage.run_ms:.0%}"
        message = f"Garbage collection took {share} of the time of stage {stage.id}."
        yield "garbage collection", stage.gc_ms // cores, message
    if stage.run_ms and stage.python_ms * 2 > stage.run_ms:
        # Operators of one stage wait for each other, each in its own worker.
        share = f"{min(stage.python_ms / stage.run_ms, 1):.0%}"
        message = f"Python workers ran for {share} of the time of stage {stage.id}."
        yield "python", min(stage.python_ms, stage.run_ms) // cores // 4, message
    bytes_per_task = (stage.input_bytes + stage.shuffle_read_bytes) // max(stage.partitions, 1)
    if not stage.attempt and stage.partitions < cores and bytes_per_task > _LARGE_TASK_BYTES:
        tasks = counted(stage.partitions, "task")
        message = f"Stage {stage.id} had {tasks} for {cores} cores, {size(bytes_per_task)} for each."
        yield "too few partitions", stage.elapsed_ms * (cores - stage.partitions) // cores, message
    if stage.tasks >= _MANY_TASKS and stage.median_ms < _SHORT_TASK_MS:
        message = (
            f"The median of the {stage.tasks:,} tasks of stage {stage.id} is about {stage.median_ms} ms."
        )
        yield "too many partitions", stage.elapsed_ms // 2, message
    if stage.failed_tasks:
        tasks = counted(stage.failed_tasks, "task")
        message = f"{tasks} of stage {stage.id} failed, and Spark repeated the work."
        yield "failed tasks", stage.failed_tasks * stage.median_ms // cores, message


def _of_join(join: Join, usage: Usage) -> Iterator[tuple[int, dict[str, Any]]]:
    whole_ms, cores = max(usage.span_ms, join.elapsed_ms), max(usage.cores, 1)
    if join.elapsed_ms < _SLOW_MS or not _is_worth_a_look(join.elapsed_ms, whole_ms):
        return
    cost_ms, compared = join.elapsed_ms, "compared every row of one side with every row of the other"
    if join.left_rows is not None and join.right_rows is not None:
        pairs = join.left_rows * join.right_rows
        if pairs < _MOST_PAIRS:
            return
        cost_ms = min(cost_ms, pairs // _PAIRS_PER_MS // cores)
        if not _is_worth_a_look(cost_ms, whole_ms):
            return
        compared = f"compared {counted(join.left_rows, 'row')} with {counted(join.right_rows, 'row')}"
    elif join.rows is not None:
        # It has compared at least the pairs that it returned.
        cost_ms = min(cost_ms, join.rows // _PAIRS_PER_MS // cores)
    is_product = join.operator == "CartesianProduct"
    kind = "cartesian product" if is_product else "nested loop join"
    returned = "" if join.rows is None else f"; it returned {counted(join.rows, 'row')}"
    message = f"A {kind} in execution {join.execution} {compared}{returned}."
    yield cost_ms, {"kind": kind, "message": message, "execution": join.execution}


def _camel_case(usage: Usage) -> dict[str, Any]:
    """Return the sums with the names of the facet; without executors and Python if they are unknown."""
    unknown = {"longest_stages"}
    if not usage.executors:
        unknown |= {"executors", "cores", "memory_bytes"}
    if not usage.python_ms:
        # Spark 3.5 does not count it.
        unknown.add("python_ms")
    return {_camel(name): value for name, value in vars(usage).items() if name not in unknown}


def _camel(name: str) -> str:
    """Return a name of Python as one of JSON.

    >>> _camel("disk_spilled_bytes")
    'diskSpilledBytes'
    """
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
