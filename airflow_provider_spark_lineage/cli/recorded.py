"""Opens a folder of records for `explain` and `events`, and reports its problems."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.cli.refusal import refuse
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.reader import NO_JSON, TORN, read_events
from airflow_provider_spark_lineage.spark.event_log import is_event_log
from airflow_provider_spark_lineage.spark.records.record import SUFFIX, RecordError
from airflow_provider_spark_lineage.spark.records.status import SUFFIX as NOTE_SUFFIX
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder
from airflow_provider_spark_lineage.spark.runs.run import Run

RUN_FILE = "spark-lineage-run.json"
"""File beside the records, written by `spark-lineage run`: script, exit code and problems of capture."""


class _RecordedRun(RecordedFolder):
    """A folder of records with the problems of capture while they were written."""

    def __init__(self, directory: Path, lost: Sequence[str]) -> None:
        super().__init__(directory)
        self._lost = tuple(lost)

    def run(self, problems: Sequence[str] = ()) -> Run:
        return super().run((*self._lost, *problems))


class Opened:
    """A folder of records that has been read."""

    def __init__(self, directory: Path) -> None:
        self.about: dict[str, Any] = {}
        # Another program may have written the records.
        with contextlib.suppress(OSError, ValueError):
            about = json.loads((directory / RUN_FILE).read_text(encoding="utf-8"))
            self.about = about if isinstance(about, dict) else {}
        problems = self.about.get("problems")
        lost = [str(problem) for problem in problems] if isinstance(problems, list) else []
        self.recorded = _RecordedRun(directory, lost)
        try:
            self.run: Run = self.recorded.run()
        except RecordError as error:
            refuse(_other_input(directory) or str(error))
        if not self.run.applications and self.run.problems:
            refuse("; ".join(self.run.problems))

    def events(self, *, namespace: str = "default", job: str = "", **more: Any) -> list[dict[str, Any]]:
        """Return the run's OpenLineage events; the default of `job` is the script or the application."""
        exit_code = self.about.get("exit_code")
        return self.recorded.events(
            namespace=namespace,
            job=job or str(self.about.get("job", "")),
            failed=bool(exit_code) if isinstance(exit_code, int) else None,
            **more,
        )


def holds_records(place: Path) -> bool:
    """Return whether a place has records, status files of drivers, or a Spark event log."""
    if place.is_dir() and any(any(place.glob("*" + suffix)) for suffix in (SUFFIX, NOTE_SUFFIX, RUN_FILE)):
        return True
    return place.name.endswith(SUFFIX) or is_event_log(place)


def nothing_in(place: Path, problems: Sequence[str]) -> str:
    """Return a sentence for a place where no event could be read, with the likely kind of the file."""
    if not problems:
        return f"{place} has no OpenLineage event"
    is_torn = any(problem.endswith(f"{TORN}.") for problem in problems)
    # A folder may have files of any kind.
    is_other = place.is_dir() or all(NO_JSON in problem for problem in problems)
    if is_other and not is_torn and place.exists():
        return (
            f"{place} has neither OpenLineage events, nor records, nor a Spark event log: give a file that "
            "OpenLineage's FileTransport wrote, a folder that `spark-lineage run` wrote, or an event log"
        )
    first, *more = problems
    return f"{first.removesuffix('.')} (and {len(more):,} more)" if more else first


def _other_input(place: Path) -> str:
    """Return a sentence for a place without records and event logs; empty if it is missing or empty."""
    if not place.exists() or (place.is_file() and not place.stat().st_size):
        return ""
    try:
        events = read_events(place)
    except BadInputError:
        return ""
    if events.items:
        return (
            f"{place} has OpenLineage events already: `spark-lineage explain {place}` prints their lineage, "
            f"`spark-lineage show {place}` draws it"
        )
    is_known = place.is_dir() and (holds_records(place) or not events.problems)
    return "" if is_known else nothing_in(place, events.problems)
