"""An Airflow task that compares what was emitted so far with what is expected, and fails where it differs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import EVENT_TYPES, Events
from airflow_provider_spark_lineage.testing.asserting import LineageDiffersError
from airflow_provider_spark_lineage.testing.comparison import compare
from airflow_provider_spark_lineage.testing.expected import Expected, read_expected
from airflow_provider_spark_lineage.testing.in_dag.dag_run import AskingTask
from airflow_provider_spark_lineage.testing.in_dag.stores import FileStore, Store, store_of
from airflow_provider_spark_lineage.testing.keys import parse_key
from airflow_provider_spark_lineage.testing.reference import by_key, read_array
from airflow_provider_spark_lineage.testing.related import TERMINAL, Related
from airflow_provider_spark_lineage.testing.relations import RELATIONS, broken
from airflow_provider_spark_lineage.testing.report import Report
from airflow_provider_spark_lineage.testing.waiting import poll

if TYPE_CHECKING:
    from airflow.sdk import Context
    from jinja2 import Environment

STILL_RUNNING = ("one_terminal",)
"""Relations that need not hold before the DAG run has ended."""

CLEARED = ("parents",)
"""Relations that need not hold in a DAG run that was cleared: some tasks have a former parent."""


class OpenLineageTestOperator(BaseOperator):
    """Compares the events of this DAG run, or of DAGs that it triggered, with expected ones.

    Make it the last task. A task's last event may be written after the next task has started: the check looks
    again until the events have been as expected for `settle_s`, or until `timeout_s` has passed, then raises
    LineageDiffersError with all differences. Its own events, and those of the end of its DAG run, are not
    compared. Nothing that was emitted is deleted where it fails.

    :param event_templates: templates by `<dag_id>.<task_id>.event.<type>`, as Airflow's own system tests have
        them; each a template, a list of them, or `{"$absent": reason}`.
    :param file_path: in its place a file: a JSON array of templates, or an expected file of this package.
    :param env: Jinja environment whose globals, filters and tests templates may use besides ours.
    :param allow_duplicate_events_regex: keys, covered by this regular expression, that may have many events.
    :param event_count_assertions: the same by expression, with a count: `"2"`, `"==2"`, `">=2"`, `"<=2"`.
    :param clear_variables: delete this DAG run's Variables of a VariableTransport once all is as expected; of
        several checks in one DAG only the last may do so.
    :param fail_fast: raise with the first difference alone.
    :param event_sort_fn: orders the events of a key, by their JSON objects, before they are compared.
    :param events: file or folder where the events lie; by default what OpenLineage's client here writes to.
    :param variables: what replaces `${NAME}` in an expected file.
    :param without: relations that are not checked, besides those that cannot hold while tasks run.
    :param timeout_s: seconds to wait for events at most.
    :param settle_s: seconds in which nothing else may come once everything is as expected.
    """

    def __init__(
        self,
        *,
        event_templates: Mapping[str, Any] | None = None,
        file_path: str | Path | None = None,
        env: Environment | None = None,
        allow_duplicate_events_regex: str | None = None,
        event_count_assertions: Mapping[str, str | int] | None = None,
        clear_variables: bool = True,
        fail_fast: bool = False,
        event_sort_fn: Callable[[Mapping[str, Any]], Any] | None = None,
        events: str | Path | None = None,
        variables: Mapping[str, str] | None = None,
        without: Collection[str] = (),
        timeout_s: float = 30,
        settle_s: float = 3,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.event_templates = event_templates
        self.file_path = file_path
        self.env = env
        self.allow_duplicate_events_regex = allow_duplicate_events_regex
        self.event_count_assertions = event_count_assertions
        self.clear_variables = clear_variables
        self.fail_fast = fail_fast
        self.event_sort_fn = event_sort_fn
        self.events = events
        self.variables = variables
        # One name may stand there without a list.
        self.without = (without,) if isinstance(without, str) else tuple(without)
        self.timeout_s = timeout_s
        self.settle_s = settle_s
        # A DAG whose expectations mean nothing should not be there to run.
        expected = self._expected()
        # Relations that do not exist, and variables without a value; versions are known when events are.
        list(broken(Related((), Events((), ())), self.without))
        if not any(event.when for event in expected.events):
            # No relation is asked: a DAG is parsed often, and JSON schemas take long to load.
            compare(expected, Events((), ()), variables=variables, without=RELATIONS)

    def execute(self, context: Context) -> None:
        """Wait for the events, compare them, and raise LineageDiffersError where they differ."""
        dag_run = context["dag_run"]
        task = AskingTask(dag_run.dag_id, dag_run.run_id, self.task_id)
        expected = self._meant_for(task)
        store = self._store(task, expected)
        without = {*STILL_RUNNING, *self.without, *(CLEARED if dag_run.clear_number else ())}
        seen = Events((), ())
        as_expected_since = float("inf")

        def look() -> Report | BadInputError:
            nonlocal seen, as_expected_since
            seen = task.seen(store.read())
            try:
                report = compare(
                    expected,
                    # What another run tore in a file that many write to is no fault of this one.
                    replace(seen, problems=()),
                    variables=self.variables,
                    scope="dags" if expected.scope == "all" else None,
                    without=without,
                )
            except BadInputError as error:
                # Which versions there are may be told by an event that is yet to come.
                as_expected_since = float("inf")
                return error
            as_expected_since = min(as_expected_since, monotonic()) if report.ok else float("inf")
            return report

        def is_settled(_: object) -> bool:
            return monotonic() - as_expected_since >= self.settle_s

        self.log.info("Waiting at most %g s for the expected events in %s", self.timeout_s, store)
        report, _ = poll(look, is_settled, self.timeout_s)
        if isinstance(report, Report) and report.ok:
            # What came at the last moment has its time to settle, too.
            report, _ = poll(look, is_settled, self.settle_s)
        if isinstance(report, BadInputError):
            raise report
        for problem in seen.problems:
            self.log.warning("%s", problem)
        self.log.info("%s", report.text())
        if not report.ok:
            if self.fail_fast:
                report = replace(report, differences=report.differences[:1])
            raise LineageDiffersError(report, (store,))
        if self.clear_variables:
            store.clear(task.own(seen))

    def _meant_for(self, task: AskingTask) -> Expected:
        """What is expected, without what cannot be there while this task runs."""
        expected = self._expected()
        late = {f"{task.dag_id}.event.{kind}" for kind in TERMINAL}
        late |= {f"{task.subject}.event.{kind}" for kind in EVENT_TYPES}
        keys = _keys(expected)
        left_out = [key for key in keys if parse_key(key).plain in late]
        if left_out:
            self.log.info("Not looked for, because this task still runs: %s", ", ".join(left_out))
        if len(left_out) == len(keys):
            raise BadInputError(
                f"OpenLineageTestOperator `{self.task_id}`: nothing is expected but its own events and the "
                "end of its DAG run; expect events of the tasks before it."
            )
        return replace(
            expected,
            events=tuple(one for one in expected.events if one.key not in left_out),
            templates=tuple(one for one in expected.templates if one.key not in left_out),
        )

    def _store(self, task: AskingTask, expected: Expected) -> Store:
        if self.events is not None:
            return FileStore(Path(self.events))
        from airflow.providers.openlineage.plugins.adapter import OpenLineageAdapter

        plain_keys = tuple(dict.fromkeys(parse_key(key).plain for key in _keys(expected)))
        client = OpenLineageAdapter().get_or_create_openlineage_client()
        return store_of(client.transport, task, plain_keys)

    def _expected(self) -> Expected:
        """What the arguments expect; BadInputError says what is wrong with them."""
        if (self.event_templates is None) is (self.file_path is None):
            raise BadInputError(
                f"OpenLineageTestOperator `{self.task_id}`: give either event_templates or file_path."
            )
        templates: Mapping[str, Any] | Sequence[Any] | None = self.event_templates
        source = f"event_templates of `{self.task_id}`"
        if templates is not None and not templates:
            raise BadInputError(f"{source}: expects no event at all.")
        if self.file_path is not None:
            path = Path(self.file_path)
            array, source = read_array(path), str(path)
            if array is None:
                return self._own_format(path)
            templates = by_key(array, source)
        counts = dict(self.event_count_assertions or {})
        if self.allow_duplicate_events_regex:
            counts.setdefault(self.allow_duplicate_events_regex, ">=1")
        return Expected.of_templates(
            templates or {}, source, counts=counts, sort=self.event_sort_fn, helpers=self.env
        )

    def _own_format(self, path: Path) -> Expected:
        """An expected file of this package, in which counts and helpers are written another way."""
        templates_only = {
            "env": self.env,
            "allow_duplicate_events_regex": self.allow_duplicate_events_regex,
            "event_count_assertions": self.event_count_assertions,
            "event_sort_fn": self.event_sort_fn,
        }
        for name, value in templates_only.items():
            if value is not None:
                raise BadInputError(
                    f"{path}: no JSON array of event templates, so `{name}` has no meaning for it."
                )
        return read_expected(path)


def _keys(expected: Expected) -> list[str]:
    return [one.key for one in expected.events] + [one.key for one in expected.templates]
