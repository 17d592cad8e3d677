"""Waits until a task's shell command exists: `@task.bash` builds it while it runs. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_provider_spark_lineage.guard import alarm_paused, harmless
from airflow_provider_spark_lineage.plugins.launched import command_of, may_launch


def awaits_command(task: Any) -> bool:
    """Return whether the command of a `BashOperator` or an `SSHOperator` is unknown before it runs."""
    return not isinstance(command_of(task), str)


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
