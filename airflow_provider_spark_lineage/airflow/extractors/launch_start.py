"""START of a task that launches Spark by another system: datasets of its texts, or why there are none."""

from __future__ import annotations

from dataclasses import replace

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.launch.application import PYTHON, Launch
from airflow_provider_spark_lineage.airflow.launch.planned_applications import planned_of
from airflow_provider_spark_lineage.airflow.submitted.planned import certain
from airflow_provider_spark_lineage.airflow.task.report import TaskReport
from airflow_provider_spark_lineage.spark import Gap, GapKind, Lineage, of_tasks

CAPTURE_COMMANDS = (
    "set [spark_lineage] auto_capture and auto_capture_commands to True to get what Spark reads and writes"
)


def with_cure(launch: Launch) -> Launch:
    """Return the launch of a command with the option that would capture its applications."""
    if launch.service or (conf.auto_capture() and conf.auto_capture_commands()):
        return launch
    applications = (
        replace(each, cure=CAPTURE_COMMANDS) if each.kind == PYTHON and not each.is_elsewhere else each
        for each in launch.applications
    )
    return replace(launch, applications=tuple(applications))


def planned_report(launch: Launch) -> TaskReport:
    """Return the report of applications that have not run, from their texts."""
    lineage, unread = planned_of(launch.applications)
    lineage = Lineage() if lineage is None else lineage
    reasons = [GapKind.UNREAD_TEXT.reason(problem) for problem in launch.problems]
    if not certain(lineage):
        cures = {each.cure for each in launch.applications if each.cure}
        reasons += [of_tasks.OPEN_NAMES(cure=cure) for cure in cures]
    gaps = (Gap("task", reason) for reason in reasons)
    planned = replace(lineage, gaps=(*gaps, *lineage.gaps, *unread))
    return TaskReport(launch=launch, planned=planned)
