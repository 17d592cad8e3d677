"""The engine: from a live Spark, an event log or a text to records, and from these to lineage.

It never imports Airflow. The names here are its door: all that the floor of Airflow's tasks uses of it. Each
is imported when it is asked for, so that a module that Airflow loads everywhere stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark.agent.folder import local_path
    from airflow_provider_spark_lineage.spark.agent.settings import RECORDS, agent_settings
    from airflow_provider_spark_lineage.spark.agent.zipped import write_agent
    from airflow_provider_spark_lineage.spark.capture.arrival import Arrival
    from airflow_provider_spark_lineage.spark.capture.new_contexts import NewContexts
    from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, Findings
    from airflow_provider_spark_lineage.spark.checks.comparison import is_without_text
    from airflow_provider_spark_lineage.spark.checks.evaluated import EvaluatedChecks
    from airflow_provider_spark_lineage.spark.event_log import event_log_settings
    from airflow_provider_spark_lineage.spark.facets.applications import environment_facets
    from airflow_provider_spark_lineage.spark.facets.event_parts import EventParts
    from airflow_provider_spark_lineage.spark.facets.events import RunIdentity
    from airflow_provider_spark_lineage.spark.facets.excerpt import fitted_lineage
    from airflow_provider_spark_lineage.spark.facets.launches import launched_facets
    from airflow_provider_spark_lineage.spark.gaps import of_tasks
    from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind
    from airflow_provider_spark_lineage.spark.guard import (
        alarm_paused,
        harmless,
        tell,
        told_elsewhere,
        within,
    )
    from airflow_provider_spark_lineage.spark.lineage.compose import composed
    from airflow_provider_spark_lineage.spark.lineage.model import Failure, Gap, Lineage
    from airflow_provider_spark_lineage.spark.planned.tables import ServerTables
    from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage
    from airflow_provider_spark_lineage.spark.records.credentials import REMOVED, without_secrets
    from airflow_provider_spark_lineage.spark.records.secret_names import is_secret
    from airflow_provider_spark_lineage.spark.runs.captured import Captured
    from airflow_provider_spark_lineage.spark.runs.collector import Collector, OnExecution
    from airflow_provider_spark_lineage.spark.runs.facets import RUN_FACETS
    from airflow_provider_spark_lineage.spark.runs.other_process import OtherProcess
    from airflow_provider_spark_lineage.spark.runs.recorded import RunBuilder
    from airflow_provider_spark_lineage.spark.runs.run import Run
    from airflow_provider_spark_lineage.spark.runs.sender import Sender

_NAMES = {
    "agent.folder": "local_path",
    "agent.settings": "RECORDS agent_settings",
    "agent.zipped": "write_agent",
    "capture.arrival": "Arrival",
    "capture.new_contexts": "NewContexts",
    "checks.assertion": "Assertion Findings",
    "checks.comparison": "is_without_text",
    "checks.evaluated": "EvaluatedChecks",
    "event_log": "event_log_settings",
    "facets.applications": "environment_facets",
    "facets.event_parts": "EventParts",
    "facets.events": "RunIdentity",
    "facets.excerpt": "fitted_lineage",
    "facets.launches": "launched_facets",
    "gaps": "of_tasks",
    "gaps.kinds": "GapKind",
    "guard": "alarm_paused harmless tell told_elsewhere within",
    "lineage.compose": "composed",
    "lineage.model": "Failure Gap Lineage",
    "planned.tables": "ServerTables",
    "planned.texts": "planned_lineage",
    "records.credentials": "REMOVED without_secrets",
    "records.secret_names": "is_secret",
    "runs.captured": "Captured",
    "runs.collector": "Collector OnExecution",
    "runs.facets": "RUN_FACETS",
    "runs.other_process": "OtherProcess",
    "runs.recorded": "RunBuilder",
    "runs.run": "Run",
    "runs.sender": "Sender",
}
"""Module -> the names that it has at the door."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "RECORDS",
    "REMOVED",
    "RUN_FACETS",
    "Arrival",
    "Assertion",
    "Captured",
    "Collector",
    "EvaluatedChecks",
    "EventParts",
    "Failure",
    "Findings",
    "Gap",
    "GapKind",
    "Lineage",
    "NewContexts",
    "OnExecution",
    "OtherProcess",
    "Run",
    "RunBuilder",
    "RunIdentity",
    "Sender",
    "ServerTables",
    "agent_settings",
    "alarm_paused",
    "composed",
    "environment_facets",
    "event_log_settings",
    "fitted_lineage",
    "harmless",
    "is_secret",
    "is_without_text",
    "launched_facets",
    "local_path",
    "of_tasks",
    "planned_lineage",
    "tell",
    "told_elsewhere",
    "within",
    "without_secrets",
    "write_agent",
]


if not TYPE_CHECKING:  # mypy would take any name for one that is here

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = f"{__name__}.{_HOMES[name]}"
        module = import_module(home)
        return getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")
