"""An SQL script of a client, whose statements are explained one by one, as if the client sent them.

The server runs a script as one request, and cannot explain it. Each statement is explained before, during or
after the script: at a time when its names mean the same as when it runs. Statements without such a time, and
statements that may not have run, are listed in a gap.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, List, Optional, Sequence, Tuple

from airflow_provider_spark_lineage.capture.connect.actions import Action
from airflow_provider_spark_lineage.capture.connect.execution import Execution
from airflow_provider_spark_lineage.capture.connect.script_steps import Step, When, steps_of
from airflow_provider_spark_lineage.capture.connect.script_text import UnreadScriptError, read_script
from airflow_provider_spark_lineage.capture.connect.session import WAIT_SECONDS, Session
from airflow_provider_spark_lineage.guard import harmless
from airflow_provider_spark_lineage.records.record import Record

_FAILED = "the SQL script failed: it is unknown which of its statements ran before"


class ScriptExecution:
    """One script, from its request to the records of its statements; used instead of an `Execution`."""

    def __init__(
        self,
        session: Session,
        action: Action,
        sql_text: str,
        emit: Callable[[Record], None],
        lost: List[str],
    ) -> None:
        self._session = session
        self._action = action
        self._lost = lost
        self._sql_text = sql_text
        self._emit = emit
        self._executions: List[Tuple[Step, Execution]] = []
        self._whole: Optional[Execution] = None

    def begin(self) -> None:
        """Request plans that the script may change before it runs, and the other plans while it runs."""
        steps: List[Step] = []
        try:
            script = read_script(self._action.sql)
            steps, self._action.problems = steps_of(script, self._action.statement)
        except UnreadScriptError as reason:
            self._action.problems = [f"the statements of an SQL script are not recorded: {reason}"]
        self._whole = self._execution(self._action)
        self._whole.begin()
        self._executions = [(step, self._execution(step.action)) for step in steps]
        until = time.monotonic() + WAIT_SECONDS
        for execution in self._those(When.BEFORE):
            if time.monotonic() > until:
                execution.give_up()
            else:
                execution.begin()
        beside = self._those(When.BESIDE)
        if beside:
            ask = threading.Thread(
                target=_ask_all, args=(beside, self._lost), name="spark-lineage-explain", daemon=True
            )
            ask.start()

    def received(self, response: Any) -> None:
        """Store the server's answers besides rows."""
        if self._whole is not None:
            self._whole.received(response)

    def ended(self, error: Optional[BaseException]) -> None:
        """Request plans over tables that the script has created; leave the rest to the session's worker."""
        if self._whole is None:
            return
        self._session.worker.submit(self._session.forget)
        if error is not None:
            # Explained plans are not used.
            self._whole.tell(_FAILED)
            self._whole.ended(error)
            return
        until = time.monotonic() + WAIT_SECONDS
        for execution in self._those(When.AFTER):
            if time.monotonic() > until:
                execution.give_up()
            else:
                execution.begin()
                execution.wait(until - time.monotonic())
        for execution in self._those(When.BESIDE):
            execution.wait(until - time.monotonic())
        for _, execution in self._executions:
            execution.ended(None)
        if self._action.problems:
            self._whole.ended(None)

    def _execution(self, action: Action) -> Execution:
        return Execution(self._session, action, self._sql_text, self._emit, self._lost)

    def _those(self, when: When) -> List[Execution]:
        return [execution for step, execution in self._executions if step.when is when]


def _ask_all(executions: Sequence[Execution], lost: List[str]) -> None:
    """Request one plan after the other."""
    for execution in executions:
        with harmless("the plan of a statement could not be requested", lost):
            execution.ask()
