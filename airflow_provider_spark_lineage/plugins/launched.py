"""Auto-capture of operators that launch Spark by another system: OpenLineage's provider gets our extractor.

Nothing is started in the task's process, and nothing is added to what the operator launches.
"""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.launch.shell.mention import mentions_spark
from airflow_provider_spark_lineage.launch.table import LAUNCHERS


def may_launch(task: Any) -> bool:
    """Return whether a task may launch Spark by another system, by its class or a base class.

    Most commands of shells and pods have nothing to do with Spark. A decorator knows its own only later.
    """
    launcher = next((parent.__name__ for parent in type(task).__mro__ if parent.__name__ in LAUNCHERS), None)
    if launcher is None:
        return False
    if launcher == "KubernetesPodOperator":
        words = [*(task.cmds or ()), *(task.arguments or ())]
        return not words or any(mentions_spark(f" {word}") for word in words)
    command = command_of(task)
    return not isinstance(command, str) or mentions_spark(command)


def command_of(task: Any) -> Any:
    """Return the command of an operator of a shell: a text, or something else where it is not known yet."""
    return getattr(task, "bash_command", None) or getattr(task, "command", None)


def report_launches(task_instance: Any) -> None:
    """Have the provider ask our extractor about the operators of a task's class, if it will send an event.

    An extractor of the user's stays; what the operator or the provider's own extractor says, ours passes on.
    """
    from airflow_provider_spark_lineage.task.provider import is_active

    if not is_active(task_instance):
        return
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    task = task_instance.task
    manager = get_openlineage_listener().extractor_manager
    extractor = manager.get_extractor_class(task)
    is_providers = extractor is not None and extractor.__module__.startswith("airflow.providers.openlineage.")
    if extractor is None or is_providers:
        from airflow_provider_spark_lineage.extractors.launchers import LauncherExtractor

        manager.add_extractor(task.task_type, LauncherExtractor)
