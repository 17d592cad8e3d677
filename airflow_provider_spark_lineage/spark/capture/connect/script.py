"""An SQL script of a client, whose statements are explained one by one, as if the client sent them.

The server runs a script as one request, and cannot explain it. Each statement is explained before, during or
after the script: at a time when its names mean the same as when it runs. Statements without such a time, and
statements that may not have run, are listed in a gap.
"""

from __future__ import annotations

import threading
import time
from typing import List, Optional, Tuple

from airflow_provider_spark_lineage.spark.capture.connect.execution import ConnectExecution
from airflow_provider_spark_lineage.spark.capture.connect.script_steps import ScriptStep, When, steps_of
from airflow_provider_spark_lineage.spark.capture.connect.script_text import UnreadScriptError, read_script
from airflow_provider_spark_lineage.spark.capture.connect.session import WAIT_SECONDS
from airflow_provider_spark_lineage.spark.guard import harmless

_FAILED = "the SQL script failed: it is unknown which of its statements ran before"


class ScriptExecution(ConnectExecution):
    """One script, from its request to the records of its statements; its own record has only gaps."""

    _statements: List[Tuple[When, ConnectExecution]]

    def begin(self) -> None:
        """Request plans that the script may change before it runs, and the other plans while it runs."""
        steps: List[ScriptStep] = []
        try:
            script = read_script(self._action.sql)
            steps, self._action.problems = steps_of(script, self._action.statement)
        except UnreadScriptError as reason:
            self._action.problems = [f"the statements of an SQL script are not recorded: {reason}"]
        self._problems = list(self._action.problems)
        super().begin()
        self._statements = [
            (step.when, ConnectExecution(self._session, step.action, is_part=True)) for step in steps
        ]
        until = time.monotonic() + WAIT_SECONDS
        for execution in self._those(When.BEFORE):
            if time.monotonic() > until:
                execution.wait(0)
            else:
                execution.begin()
        threading.Thread(target=self._ask_beside, name="spark-lineage-explain", daemon=True).start()

    def _ask_beside(self) -> None:
        """Request one plan after the other."""
        for execution in self._those(When.BESIDE):
            with harmless("the plan of a statement could not be requested", self._session.problems):
                execution.ask()

    def ended(self, error: Optional[BaseException]) -> None:
        """Request plans over tables that the script has created; leave the rest to the session's worker."""
        self._session.worker.submit(self._session.forget)
        if error is not None:
            # Explained plans are not used.
            self._problems = [_FAILED]
            super().ended(error)
            return
        until = time.monotonic() + WAIT_SECONDS
        for execution in self._those(When.AFTER):
            if time.monotonic() > until:
                execution.wait(0)
            else:
                execution.begin()
                execution.wait(until - time.monotonic())
        for execution in self._those(When.BESIDE):
            execution.wait(until - time.monotonic())
        for _, execution in self._statements:
            execution.ended(None)
        if self._action.problems:
            super().ended(None)

    def _those(self, when: When) -> List[ConnectExecution]:
        return [execution for each, execution in self._statements if each is when]
