"""Auto-capture of operators that launch Spark by another system: OpenLineage's provider gets our extractor.

Nothing is started in the task's process, and the launched application is not changed.
"""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.launch.shell.mention import mentions_spark
from airflow_provider_spark_lineage.launch.table import LAUNCHERS


def may_launch(task: Any) -> bool:
    """Return whether a task may launch Spark by another system, by its class or a base class.

    False if its command does not mention Spark; True if it has none yet: `@task.bash` sets it later.
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
    """Return the command of a shell operator: a text, or another value if it is not set yet."""
    return getattr(task, "bash_command", None) or getattr(task, "command", None)


def report_launches(task_instance: Any) -> None:
    """Register our extractor for a task's class with the provider, if it will send an event of the task.

    An extractor of the user is not replaced. Ours adds to the results of the operator's own methods and of
    the provider's own extractor.
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
