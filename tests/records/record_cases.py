"""Finds and reads the cases of this folder."""

from __future__ import annotations

import ast
import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from recordings import RECORDS, Recording, recordings
from spark_packages import PACKAGES

from airflow_provider_spark_lineage.spark.facets.events import EventRun, events_of
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.job_names import JobNames
from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.event_executions import execution_events_of
from airflow_provider_spark_lineage.spark.runs.executions import executions

CASES = Path(__file__).resolve().parent
SIZES = frozenset({"size_bytes"})
"""Counts that differ between Spark versions: each writes its own name into every file."""


def cases() -> list[Path]:
    return sorted(job.parent for job in CASES.glob("*/job.py"))


def versions(case: Path) -> list[Recording]:
    """The case's records, for each Spark version."""
    return recordings(RECORDS, case.name)


def versions_needed(case: Path) -> int:
    """For how many Spark versions a case must have records: two, unless its jars or its SQL are of one."""
    # Not imported: some jobs need a newer pyspark than the one that is installed.
    statements = ast.parse((case / "job.py").read_text(encoding="utf-8")).body
    constants = {
        statement.targets[0].id: statement.value
        for statement in statements
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }
    needs = ast.literal_eval(constants["NEEDS"]) if "NEEDS" in constants else ()
    return 1 if "SINCE" in constants or any("" not in PACKAGES.get(name, ()) for name in needs) else 2


def records(of: Recording) -> list[Record]:
    return [Record.from_json(json.loads(line, object_hook=without_sizes)) for line in of.lines]


def without_sizes(value: dict[str, Any]) -> dict[str, Any]:
    """Leave sizes out of a JSON object."""
    return {name: item for name, item in value.items() if name not in SIZES}


def lineage(of: Recording) -> Lineage:
    return compose(execution.lineage for execution in executions(records(of)))


def events(of: Recording) -> list[dict[str, Any]]:
    """The OpenLineage events of a case's run and of its executions."""
    executed = list(executions(records(of)))
    at = datetime(2024, 1, 1, tzinfo=timezone.utc)
    whole = EventRun("local-1", at, at, lineage(of))
    return events_of(
        execution_events_of(executed, JobNames(of.case)),
        whole,
        namespace="records",
        job=of.case,
    )


def golden_text(of: Recording) -> str:
    return render(lineage(of))
