"""Status file of one driver, written beside its records: the application, started, finished, problems.

Also runs on the cluster's driver: standard library only, Python 3.9 syntax.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.record import RecordError, file_stem

FORMAT = "spark-lineage-driver"
VERSION = 1
SUFFIX = ".driver.json"

UNFINISHED = (
    "the driver had not shut down cleanly when its records were read: it was killed, could no longer write, "
    "or still runs; its last executions may be missing, and its log may have the reason"
)


@dataclass
class DriverNote:
    """One Spark application whose driver wrote records."""

    application_id: str
    application_name: str
    spark_version: str
    tracking_url: str = ""
    """Spark's user interface; empty if it is off."""

    is_complete: bool = False
    """The capture ended normally; if not, the driver still runs, or was killed."""

    agent_configured: bool = False
    """OpenLineage's Java agent listens to the same application."""

    problems: list[str] = field(default_factory=list)
    """Losses that are not in a record, one sentence each."""

    details: dict[str, Any] = field(default_factory=dict)
    """`Application.details`; empty if the agent is of an earlier release."""

    @classmethod
    def of(cls, application: Application, *, agent_configured: bool) -> DriverNote:
        """Return the status of an application whose capture has ended."""
        return cls(
            application.id,
            application.name,
            application.spark_version,
            application.ui_url,
            is_complete=True,
            agent_configured=agent_configured,
            details=application.details,
        )

    @property
    def application(self) -> Application:
        """The application of this driver."""
        bare = Application(self.application_id, without_secrets(self.application_name), self.spark_version)
        return bare.with_details(self.details)

    def encode(self, attempt: str = "") -> tuple[str, bytes]:
        """Return name and content of the status file; `attempt` as in `records.record.encode_record`."""
        name = file_stem(self.application_id, attempt) + SUFFIX
        note = {"format": FORMAT, "version": VERSION, **{f.name: getattr(self, f.name) for f in fields(self)}}
        return name, json.dumps(note).encode("ascii")


_IS_RIGHT: dict[str, Callable[[Any], bool]] = {
    "application_id": lambda value: isinstance(value, str),
    "application_name": lambda value: isinstance(value, str),
    "spark_version": lambda value: isinstance(value, str),
    "tracking_url": lambda value: isinstance(value, str),
    "is_complete": lambda value: isinstance(value, bool),
    "agent_configured": lambda value: isinstance(value, bool),
    "problems": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
}
"""Field of a status file -> check of the type that readers rely on."""


def read_notes(directory: Path, problems: list[str]) -> list[DriverNote]:
    """Return the status files in a folder; add a sentence to `problems` for each that cannot be read."""
    notes = []
    for path in sorted(directory.glob("*" + SUFFIX)):
        try:
            notes.append(_decoded(json.loads(path.read_bytes())))
        except RecordError as error:
            problems.append(f"{path} {error}")
        except (OSError, ValueError) as error:
            problems.append(f"{path} cannot be read: {error}")
    return notes


def losses(notes: list[DriverNote]) -> list[str]:
    """Return the losses of drivers, one sentence each, without repetition."""
    lost = {problem: None for note in notes for problem in note.problems}
    if not all(note.is_complete for note in notes):
        lost[UNFINISHED] = None
    return list(lost)


def _decoded(value: Any) -> DriverNote:
    if not isinstance(value, dict) or value.get("format") != FORMAT or value.get("version") != VERSION:
        raise RecordError(
            f"is not a status file of version {VERSION}: use this release's agent (`spark-lineage agent`)"
        )
    values = {name: value.get(name) for name in _IS_RIGHT}
    for name, is_right in _IS_RIGHT.items():
        if not is_right(values[name]):
            raise RecordError(f"has a wrong value in field {name!r}")
    details = value.get("details")
    return DriverNote(**values, details=details if isinstance(details, dict) else {})  # type: ignore[arg-type]
