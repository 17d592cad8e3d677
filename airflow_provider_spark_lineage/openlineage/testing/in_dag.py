"""The comparison as the last task of a DAG: `OpenLineageTestOperator`, for deployments without pytest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events import EVENT_TYPES, Events
from airflow_provider_spark_lineage.openlineage.events.model import TERMINAL
from airflow_provider_spark_lineage.openlineage.testing.comparison import LineageDiffersError, compare
from airflow_provider_spark_lineage.openlineage.testing.event_places import (
    CheckingTask,
    FileStore,
    VariableStore,
    store_of,
)
from airflow_provider_spark_lineage.openlineage.testing.expected import Expected, read_expected
from airflow_provider_spark_lineage.openlineage.testing.keys import parse_key
from airflow_provider_spark_lineage.openlineage.testing.relations import RELATIONS, relations_without
from airflow_provider_spark_lineage.openlineage.testing.report import Report

if TYPE_CHECKING:
    from airflow.sdk import Context

NOT_WHILE_RUNNING = ("one_terminal",)
"""Relations that need not hold before the DAG run has ended."""

NOT_IF_CLEARED = ("parents",)
"""Relations that need not hold in a cleared DAG run: tasks that did not run again keep their old parent."""

PAUSE_S = 0.2
"""Time between two reads of the events."""


class OpenLineageTestOperator(BaseOperator):
    """Compares the events of this DAG run, and in files also of DAGs that it triggered, with expected ones.

    Make it the last task. A task's last event may be written after the next task has started: the check
    repeats until the events have been as expected for `settle_s`, or until `timeout_s` has passed, then
    raises LineageDiffersError with all differences. Its own events and the end events of its DAG run are not
    compared. If it fails, it deletes nothing.

    :param file_path: an expected file, or a folder of them.
    :param expected: the events themselves instead, by `<dag_id>.<task_id>.event.<type>`: one event or
        a list, with matchers as in a JSON file.
    :param clear_variables: delete this DAG run's Variables of a VariableTransport after success; if a DAG has
        several checks, only the last may do so.
    :param fail_fast: raise with the first difference only.
    :param events: file or folder with the events; by default the destination of OpenLineage's client here.
    :param variables: values of `${NAME}` in an expected file.
    :param without: relations to skip, besides those that cannot hold while tasks run.
    :param timeout_s: maximum seconds to wait for events.
    :param settle_s: seconds without further events after everything is as expected.
    """

    def __init__(
        self,
        *,
        file_path: str | Path | None = None,
        expected: Mapping[str, Any] | None = None,
        clear_variables: bool = True,
        fail_fast: bool = False,
        events: str | Path | None = None,
        variables: Mapping[str, str] | None = None,
        without: Collection[str] = (),
        timeout_s: float = 30,
        settle_s: float = 3,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.file_path = file_path
        self.expected = expected
        self.clear_variables = clear_variables
        self.fail_fast = fail_fast
        self.events = events
        self.variables = variables
        self.without = (without,) if isinstance(without, str) else tuple(without)
        self.timeout_s = timeout_s
        self.settle_s = settle_s
        # Wrong arguments fail when the DAG is parsed: unknown relations, variables without a value.
        wanted = self._expected()
        relations_without(self.without)
        # Versions are known only when there are events.
        if not any(event.when for event in wanted.events):
            # Without relations: a DAG is parsed often, and JSON schemas load slowly.
            compare(wanted, Events((), ()), variables=variables, without=RELATIONS)

    def execute(self, context: Context) -> None:
        """Wait for the events, compare them, and raise LineageDiffersError if they differ."""
        dag_run = context["dag_run"]
        task = CheckingTask(dag_run.dag_id, dag_run.run_id, self.task_id)
        expected = self._expected_before_end(task)
        store = self._store(task)
        without = {*NOT_WHILE_RUNNING, *self.without, *(NOT_IF_CLEARED if dag_run.clear_number else ())}
        self.log.info("Waiting at most %g s for the expected events in %s", self.timeout_s, store)
        deadline, as_expected_since = monotonic() + self.timeout_s, float("inf")
        while True:
            is_late = monotonic() >= deadline
            events = task.select(store.read())
            report = self._compare(expected, events, without)
            is_ok = isinstance(report, Report) and report.ok
            as_expected_since = min(as_expected_since, monotonic()) if is_ok else float("inf")
            # Events that came just before the deadline get their `settle_s`, too.
            if monotonic() - as_expected_since >= self.settle_s or (is_late and not is_ok):
                break
            sleep(PAUSE_S)
        if isinstance(report, BadInputError):
            raise report
        for problem in events.problems:
            self.log.warning("%s", problem)
        self.log.info("%s", report.text())
        if not report.ok:
            if self.fail_fast:
                report = replace(report, differences=report.differences[:1])
            raise LineageDiffersError(report, (store,))
        if self.clear_variables:
            store.clear(task.own(events))

    def _compare(self, expected: Expected, events: Events, without: set[str]) -> Report | BadInputError:
        try:
            return compare(
                expected,
                # Another run may have written incomplete lines to a shared file.
                replace(events, problems=()),
                variables=self.variables,
                scope="dags" if expected.scope == "all" else None,
                without=without,
            )
        except BadInputError as error:
            # A later event may have the version that a condition needs.
            return error

    def _expected_before_end(self, task: CheckingTask) -> Expected:
        """Return the expected events, without events that are emitted after this task."""
        expected = self._expected()
        late = {f"{task.dag_id}.event.{kind}" for kind in TERMINAL}
        late |= {f"{task.subject}.event.{kind}" for kind in EVENT_TYPES}
        keys = expected.keys
        left_out = [key for key in keys if parse_key(key).plain in late]
        self.log.info("Not compared, because this task still runs: %s", ", ".join(left_out) or "nothing")
        if len(left_out) == len(keys):
            raise BadInputError(
                f"OpenLineageTestOperator `{self.task_id}`: only its own events and the end of its DAG run "
                "are expected; expect events of the tasks before it."
            )
        return replace(
            expected,
            events=tuple(event for event in expected.events if event.key not in left_out),
        )

    def _store(self, task: CheckingTask) -> FileStore | VariableStore:
        if self.events is not None:
            return FileStore(Path(self.events))
        from airflow.providers.openlineage.plugins.adapter import OpenLineageAdapter

        client = OpenLineageAdapter().get_or_create_openlineage_client()
        return store_of(client.transport, task)

    def _expected(self) -> Expected:
        """Return the expected events of the arguments; BadInputError names a mistake in them."""
        if (self.expected is None) is (self.file_path is None):
            raise BadInputError(
                f"OpenLineageTestOperator `{self.task_id}`: give either file_path or expected."
            )
        if self.file_path is not None:
            return read_expected(self.file_path)
        if not self.expected:
            raise BadInputError(f"OpenLineageTestOperator `{self.task_id}`: expects no events.")
        return Expected.of(self.expected, f"expected of `{self.task_id}`")
