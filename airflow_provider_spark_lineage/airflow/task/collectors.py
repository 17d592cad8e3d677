"""The collector of a task's lineage, by the place of its Spark driver, and the sender of its executions.

Our operators, and Airflow's own with an extractor or auto-capture, use the same collectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.known_operators import COMMAND, IN_PROCESS, PYTHON, driver_kind
from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.spark import Sender

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark import Collector


def collector_of(task_instance: Any, sender: Sender | None) -> Collector:
    """Return the collector for a task instance, by the class of its operator.

    `sender` sends the events of its executions.
    """
    driver = driver_kind(type(task_instance.task), conf.extra_operators()) or IN_PROCESS
    on_begin = sender.begin if sender and sender.sends_beginnings else None
    if driver in (IN_PROCESS, PYTHON):
        from airflow_provider_spark_lineage.spark import Captured

        return Captured(
            on_execution=sender.put if sender else None,
            on_begin=on_begin,
            keep=False,
            drain_timeout_seconds=conf.drain_timeout_seconds(),
            max_plan_bytes=conf.max_plan_bytes(),
            sql_text=conf.sql_text(),
            properties=conf.spark_properties(),
        )
    from airflow_provider_spark_lineage.airflow.submitted.records_folder import RecordsFolder
    from airflow_provider_spark_lineage.spark import agent_settings

    place = RecordsFolder(conf.records(), task_instance)
    options: dict[str, Any] = {
        "settings": agent_settings(
            drain_timeout_seconds=conf.drain_timeout_seconds(),
            max_plan_bytes=conf.max_plan_bytes(),
            sql_text=conf.sql_text(),
            properties=conf.spark_properties(),
        ),
        "agent": conf.agent(),
        "keep": conf.keep_records(),
        "on_execution": sender.put if sender else None,
    }
    if driver == COMMAND:
        from airflow_provider_spark_lineage.airflow.launch.shell.armed import Armed

        return Armed(
            task_instance.task,
            place,
            base=conf.records(),
            since=getattr(task_instance, "start_date", None),
            run_id=str(getattr(task_instance, "run_id", None) or ""),
            **options,
        )
    from airflow_provider_spark_lineage.airflow.submitted.collector import Submitted
    from airflow_provider_spark_lineage.airflow.submitted.jobs import JOBS

    options["on_begin"] = on_begin
    return Submitted(task_instance.task, place, job_class=JOBS[driver], **options)


def sender_of(task_instance: Any) -> Sender | None:
    """Return the sender of a task's executions by the options; None if none of them has events."""
    which = conf.execution_events()
    if which == "none":
        return None
    return Sender(
        provider.identity_of(task_instance),
        provider.emit,
        per_field=conf.repeat_dataset_edges(),
        max_event_bytes=conf.max_event_bytes(),
        which=which,
        start_outputs=conf.start_outputs(),
        progress_interval_seconds=conf.progress_interval_seconds(),
        wait_until_sent=provider.wait_until_sent,
    )
