"""Capture in this process, from start to finish: for notebooks, plain functions, operators and the plugin.

Needs no Airflow. Records go to a temporary folder of their own, which lives as long as the object.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.capture.sessions import DRAIN_TIMEOUT_SECONDS, MAX_PLAN_BYTES, Capture
from airflow_provider_spark_lineage.folders import TemporaryFolder
from airflow_provider_spark_lineage.lineage.model import Gap, Lineage
from airflow_provider_spark_lineage.pipeline import Recorded, Run
from airflow_provider_spark_lineage.record import Record, RecordError, write_record


class Captured(Recorded):
    """What Spark did in this process between `start` and `finish`."""

    def __init__(
        self,
        *,
        directory: str | Path | None = None,
        drain_timeout_seconds: float = DRAIN_TIMEOUT_SECONDS,
        max_plan_bytes: int = MAX_PLAN_BYTES,
    ) -> None:
        self._temporary = None if directory else TemporaryFolder()
        super().__init__(directory or self._temporary.name)  # type: ignore[union-attr]
        self._capture = Capture(
            self._store, drain_timeout_seconds=drain_timeout_seconds, max_plan_bytes=max_plan_bytes
        )
        self._finished = self._discarded = False
        self._run: Run | None = None
        """Kept once everything is recorded: an event may ask earlier."""
        self.failed: bool | None = None
        """Whether the captured code raised; None where that is not known."""

    def _store(self, record: Record) -> None:
        if not self._discarded:
            write_record(self.directory, record)

    def start(self) -> None:
        """Capture what the active session and every session made from now on do."""
        self._capture.arm()

    def attach(self, spark: Any) -> None:
        """Capture one session in particular."""
        self._capture.attach(spark)

    def finish(self) -> None:
        """Wait for Spark to report what it did, and let go of it."""
        self._capture.disarm()
        self._finished = True

    @property
    def problems(self) -> list[str]:
        """What was lost beside the records, a sentence each."""
        return list(self._capture.problems)

    @property
    def agent_configured(self) -> bool:
        """Whether OpenLineage's Java agent listens to the same Spark application."""
        return self._capture.agent_configured

    def run(self, problems: Any = ()) -> Run:
        """Return what was recorded; a run in which Spark did nothing is empty.

        A pure function of the records, so it may be asked in a forked child too.
        """
        if self._run is not None:
            return self._run
        told = (*self._capture.problems, *problems)
        try:
            run = super().run(told)
        except RecordError:
            run = Run(Lineage(gaps=tuple(Gap("records", problem) for problem in told)), problems=told)
        if self._finished:
            self._run = run
        return run

    def events(self, **options: Any) -> list[dict[str, Any]]:
        """Return OpenLineage events, as `Recorded.events`; none when Spark did nothing."""
        options.setdefault("failed", self.failed)
        return super().events(**options) if self.run().applications else []

    def discard(self) -> None:
        """Record nothing more and remove the temporary records; the lineage that was read stays."""
        self._discarded = True
        if self._temporary is not None:
            self._temporary.cleanup()


@contextmanager
def capture_lineage(spark: Any = None) -> Iterator[Captured]:
    """Capture what Spark does inside the block.

    `spark` is the session, needed only if it is not the active one. Afterwards `captured.lineage` is
    the model, `captured.text()` the readable form and `captured.events(namespace=..., job=...)` the
    OpenLineage events. An exception of the block passes through; what had happened until then is
    captured, and the events end with FAIL.

    >>> with capture_lineage(spark) as captured:  # doctest: +SKIP
    ...     spark.read.csv("orders.csv", header=True).write.parquet("orders")
    >>> print(captured.text())  # doctest: +SKIP
    """
    captured = Captured()
    captured.start()
    if spark is not None:
        captured.attach(spark)
    try:
        yield captured
    except BaseException:  # Ctrl-C and sys.exit end the block as failed, too; all of them pass through.
        captured.failed = True
        raise
    finally:
        captured.finish()
