"""An Airflow task that compares what was emitted so far with what is expected, and fails where it differs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing.asserting import LineageDiffersError
from airflow_provider_spark_lineage.testing.comparison import compare
from airflow_provider_spark_lineage.testing.expected import Expected, read_expected
from airflow_provider_spark_lineage.testing.in_dag.dag_run import AskingRun
from airflow_provider_spark_lineage.testing.in_dag.stores import FileStore, Store, store_of
from airflow_provider_spark_lineage.testing.keys import parse_key
from airflow_provider_spark_lineage.testing.reference import by_key, read_array
from airflow_provider_spark_lineage.testing.report import Report
from airflow_provider_spark_lineage.testing.waiting import poll

if TYPE_CHECKING:
    from airflow.sdk import Context
    from jinja2 import Environment

STILL_RUNNING = ("one_terminal",)
"""Relations that need not hold before the DAG run has ended: this very task has started and not ended."""


class OpenLineageTestOperator(BaseOperator):
    """Compares the events of this DAG run, or of DAGs that it triggered, with expected ones.

    Make it the last task. It looks again until the events are as expected or `timeout_s` has passed, because
    a task's last event may be written after the next task has started, then raises LineageDiffersError with
    all differences. Nothing that was emitted is deleted where it fails.

    :param event_templates: templates by `<dag_id>.<task_id>.event.<type>`, as Airflow's own system tests have
        them; each a template, a list of them, or `{"$absent": reason}`.
    :param file_path: in its place a file: a JSON array of templates, or an expected file of this package.
    :param env: Jinja environment whose globals, filters and tests templates may use besides ours.
    :param allow_duplicate_events_regex: keys, covered by this regular expression, that may have many events.
    :param event_count_assertions: the same by expression, with a count: `"2"`, `"==2"`, `">=2"`, `"<=2"`.
    :param clear_variables: delete this DAG run's Variables of a VariableTransport once all is as expected.
    :param fail_fast: raise with the first difference alone.
    :param event_sort_fn: orders the events of a key, by their JSON objects, before they are compared.
    :param events: file or folder where the events lie; by default what OpenLineage's client here writes to.
    :param variables: what replaces `${NAME}` in an expected file.
    :param without: relations that are not checked, besides those that cannot hold while tasks run.
    :param timeout_s: seconds to wait for events at most.
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
        self.without = without
        self.timeout_s = timeout_s
        # A DAG whose expectations mean nothing should not be there to run.
        self._expected()

    def execute(self, context: Context) -> None:
        """Wait for the events, compare them, and raise LineageDiffersError where they differ."""
        expected = self._expected()
        dag_run = context["dag_run"]
        run = AskingRun(dag_run.dag_id, dag_run.run_id, dag_run.start_date)
        store = self._store(run, expected)

        def look() -> Report:
            return compare(
                expected,
                run.events(store.read()),
                variables=self.variables,
                without=(*STILL_RUNNING, *self.without),
            )

        self.log.info("Waiting at most %g s for the expected events in %s", self.timeout_s, store)
        report, as_expected = poll(look, lambda report: report.ok, self.timeout_s)
        self.log.info("%s", report.text())
        if not as_expected:
            if self.fail_fast:
                report = replace(report, differences=report.differences[:1])
            raise LineageDiffersError(report, (store,))
        if self.clear_variables:
            store.clear()

    def _store(self, run: AskingRun, expected: Expected) -> Store:
        if self.events is not None:
            return FileStore(Path(self.events))
        from airflow.providers.openlineage.plugins.adapter import OpenLineageAdapter

        keys = [one.key for one in expected.events] + [one.key for one in expected.templates]
        plain_keys = tuple(dict.fromkeys(parse_key(key).plain for key in keys))
        client = OpenLineageAdapter().get_or_create_openlineage_client()
        return store_of(client.transport, run, self.task_id, plain_keys)

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
