"""Sums over the tasks of one Spark application: times, bytes, rows. Also runs on the cluster's driver."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Mapping, Optional, Tuple

from airflow_provider_spark_lineage.spark.records.credentials import without_secrets


@dataclass(frozen=True)
class StageUsage:
    """One attempt of a stage whose tasks ran long."""

    id: int
    attempt: int = 0
    execution: Optional[int] = None
    """Number of the execution of SQL in Spark's user interface; None for a job over an RDD."""

    name: str = ""
    """Spark's call site, for example `collect at /jobs/load.py:12`."""

    is_failed: bool = False
    elapsed_ms: int = 0
    partitions: int = 0
    """Number of its tasks, without repetitions."""

    tasks: int = 0
    """Tasks that ended, with all attempts."""

    failed_tasks: int = 0
    rows: int = 0
    """Rows that its tasks read: input and shuffle."""

    rows_of_slowest: int = 0
    """Rows that its slowest task read."""

    slowest_ms: int = 0
    median_ms: int = 0
    """Median of the durations of successful tasks, at most an eighth too small."""

    run_ms: int = 0
    """Sum of the times that its tasks ran on executors."""

    cpu_ms: int = 0
    gc_ms: int = 0
    python_ms: int = 0
    """Sum of the times that Python workers ran for operators of SQL; 0 before Spark 4.0."""

    memory_spilled_bytes: int = 0
    disk_spilled_bytes: int = 0
    input_rows: int = 0
    input_bytes: int = 0
    output_rows: int = 0
    output_bytes: int = 0
    shuffle_read_bytes: int = 0
    shuffle_written_bytes: int = 0

    def rank(self) -> tuple[bool, int, int, int]:
        """Return the sort key of the stages of an application."""
        return (not self.is_failed, -self.run_ms, self.id, self.attempt)


@dataclass(frozen=True)
class Usage:
    """Sums over all stages that ended while the application was captured; meanings as in `StageUsage`."""

    jobs: int = 0
    stages: int = 0
    failed_stages: int = 0
    tasks: int = 0
    failed_tasks: int = 0
    killed_tasks: int = 0
    speculative_tasks: int = 0
    span_ms: int = 0
    """From the start of the first stage to the end of the last one."""

    idle_ms: int = 0
    """Part of this time without a running stage."""

    executors: int = 0
    """Largest number of executors at one time."""

    cores: int = 0
    """Largest number of their cores at one time."""

    memory_bytes: int = 0
    """Largest memory at one time that Spark had on them for blocks, sorts, joins and aggregations."""

    run_ms: int = 0
    cpu_ms: int = 0
    gc_ms: int = 0
    python_ms: int = 0
    memory_spilled_bytes: int = 0
    disk_spilled_bytes: int = 0
    peak_task_memory_bytes: int = 0
    """Largest memory that one task used for its sorts, joins and aggregations."""

    input_rows: int = 0
    input_bytes: int = 0
    output_rows: int = 0
    output_bytes: int = 0
    shuffle_read_bytes: int = 0
    shuffle_written_bytes: int = 0
    longest_stages: Tuple[StageUsage, ...] = ()
    """At most fifty: those that failed, then the longest."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> Optional[Usage]:
        """Return the usage of plain JSON values; None if there is none. Values of a wrong type count as 0."""
        if not isinstance(value, dict):
            return None
        stages = value.get("longest_stages")
        known = (_stage(each) for each in (stages if isinstance(stages, list) else ()))
        longest = sorted((stage for stage in known if stage), key=StageUsage.rank)
        usage = cls(longest_stages=tuple(longest))
        return replace(
            usage, **_known(value, {each.name: int for each in fields(cls) if each.name != "longest_stages"})
        )


_KINDS = {each.name: int for each in fields(StageUsage)} | {"name": str, "is_failed": bool}


def _stage(value: Any) -> Optional[StageUsage]:
    if not isinstance(value, dict) or type(value.get("id")) is not int:
        return None
    stage = StageUsage(**_known(value, _KINDS))
    return replace(stage, name=without_secrets(stage.name))


def _known(value: dict[str, Any], kinds: Mapping[str, type]) -> dict[str, Any]:
    """Return the values of known names that have the right type."""
    return {name: item for name, item in value.items() if type(item) is kinds.get(name)}
