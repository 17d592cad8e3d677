"""Auto-capture of operators that launch Spark by another system, or by a shell. Imports nothing heavy.

OpenLineage's provider gets our extractor. Nothing is started in the task's process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.shell.mention import mentions_spark
from airflow_provider_spark_lineage.airflow.launch.table import LAUNCHERS
from airflow_provider_spark_lineage.spark import alarm_paused, harmless


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
    return awaits_command(task) or mentions_spark(_command_of(task))


def awaits_command(task: Any) -> bool:
    """Return whether the command of a shell operator is unknown before it runs, as in `@task.bash`."""
    return not isinstance(_command_of(task), str)


def _command_of(task: Any) -> Any:
    return getattr(task, "bash_command", None) or getattr(task, "command", None)


def report_launches(task_instance: Any) -> None:
    """Register our extractor for a task's class with the provider, if it will send an event of the task.

    An extractor of the user is not replaced. Ours adds to the results of the operator's own methods and of
    the provider's own extractor.
    """
    from airflow_provider_spark_lineage.airflow.task.provider import is_active

    if not is_active(task_instance):
        return
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    task = task_instance.task
    manager = get_openlineage_listener().extractor_manager
    extractor = manager.get_extractor_class(task)
    is_providers = extractor is not None and extractor.__module__.startswith("airflow.providers.openlineage.")
    if extractor is None or is_providers:
        from airflow_provider_spark_lineage.airflow.extractors.launchers import LauncherExtractor, prepare_end

        manager.add_extractor(task.task_type, LauncherExtractor)
        prepare_end()


class CommandArrival:
    """Calls a function once, when a task is about to run a command that may call Spark.

    The function may replace the method that runs the command; the replacement is called.
    """

    def __init__(self, task: Any, function: Callable[[], None]) -> None:
        self._task = task
        self._function = function
        self._owner = getattr(task, "subprocess_hook", task)
        self._name = "run_ssh_client_command" if self._owner is task else "run_command"
        self._run: Any = getattr(self._owner, self._name, None)
        self.is_armed = False
        """The command has not arrived yet."""

    def arm(self) -> None:
        """Replace the method that runs the command, to look at the command."""
        if self._run is not None:
            self.is_armed = True
            setattr(self._owner, self._name, self._look)

    def disarm(self) -> None:
        """Restore the method, unless it was replaced again: that replacement calls ours."""
        self.is_armed = False
        if vars(self._owner).get(self._name) == self._look:
            setattr(self._owner, self._name, self._run)

    def _look(self, *args: Any, **kwargs: Any) -> Any:
        run = self._run
        if self.is_armed:
            self.disarm()
            # If a later wrapper of ours called this, run the original, not the wrapper again.
            is_back = getattr(self._owner, self._name) == run
            with alarm_paused(), harmless("the command of this task could not be captured"):
                if may_launch(self._task):
                    self._function()
            run = getattr(self._owner, self._name) if is_back else run
        return run(*args, **kwargs)
