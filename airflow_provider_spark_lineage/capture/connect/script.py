"""An SQL script that a client executes: its statements are explained one by one, as if the client sent them.

The server runs a script as one request, and explains none. Each statement is explained before, beside or
after the script, when its names mean what they mean while it runs. The others, and those that may not have
run, are named in a gap.
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
    """One script, from its request to the records of its statements; takes the place of an `Execution`."""

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
        """Ask for what the script may change before it runs, and for the rest beside it."""
        steps: List[Step] = []
        try:
            script = read_script(self._action.sql)
            steps, self._action.problems = steps_of(script, self._action.statement)
        except UnreadScriptError as reason:
            self._action.problems = [f"what an SQL script ran is not recorded: {reason}"]
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
        """Read what the server answers besides rows."""
        if self._whole is not None:
            self._whole.received(response)

    def ended(self, error: Optional[BaseException]) -> None:
        """Ask for what the script has made, and leave the rest to the session's worker."""
        if self._whole is None:
            return
        self._session.worker.submit(self._session.forget)
        if error is not None:
            # What was explained stays unused.
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
    """Ask for one plan after the other."""
    for execution in executions:
        with harmless("the plan of a statement could not be asked for", lost):
            execution.ask()
