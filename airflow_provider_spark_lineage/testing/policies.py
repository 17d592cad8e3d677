"""Check a policy in a test, on the events of a run (docs/policies.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import SparkLineageError
from airflow_provider_spark_lineage.openlineage.policy.checking import check_events
from airflow_provider_spark_lineage.openlineage.policy.findings import PolicyReport
from airflow_provider_spark_lineage.openlineage.policy.reading import read_policy
from airflow_provider_spark_lineage.openlineage.policy.texts import lines_of
from airflow_provider_spark_lineage.openlineage.testing.comparison import events_of


class PolicyBrokenError(SparkLineageError, AssertionError):
    """Events break a policy; the message has every violation with its path, `report` has them as objects."""

    def __init__(self, report: PolicyReport, source: str) -> None:
        self.report = report
        super().__init__("\n".join([source, *lines_of(report)]))


def assert_policy(policy: str | Path, events: Any) -> PolicyReport:
    """Return the report of a policy that no event breaks; raise PolicyBrokenError otherwise.

    `events` is a run of `run_dag`, a file or folder, or a list of plain mappings. Raises BadInputError for a
    mistake in the policy, and without events.
    """
    read = read_policy(policy)
    report = check_events(read, events_of(events))
    if not report.ok:
        raise PolicyBrokenError(report, read.source)
    return report
