"""The extractor adds to the provider's own report, and takes nothing away."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest
from gap_kinds import gap_kinds

pytestmark = pytest.mark.airflow


STATEMENT = "insert overwrite directory 's3://b/out' using parquet select * from parquet.`s3://b/in`"
JOB = {"spark_sql_job": {"query_list": {"queries": [STATEMENT]}}}


def dataproc(**fields: Any) -> Any:
    """An operator by its name, with attributes of Dataproc's."""
    from airflow.sdk import BaseOperator

    operator = type("DataprocSubmitJobOperator", (BaseOperator,), {})(task_id="t")
    vars(operator).update({"job": JOB, "job_id": None, "project_id": "p", "region": "r", **fields})
    return operator


def extractor_of(operator: Any) -> Any:
    from airflow_provider_spark_lineage.extractors.launchers import LauncherExtractor

    return LauncherExtractor(operator)


def instance(**changes: Any) -> Any:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1, **changes}
    return SimpleNamespace(**fields, start_date=datetime.now(tz=timezone.utc))


def gaps(lineage: Any) -> list[str]:
    facet = lineage.run_facets.get("sparkLineage_gaps")
    return [gap.kind for gap in facet.gaps] if facet else []


def names(lineage: Any) -> tuple[list[str], list[str]]:
    return [each.name for each in lineage.inputs], [each.name for each in lineage.outputs]


def test_each_event_of_an_operator_without_an_extractor_of_its_own():
    """START and COMPLETE have the plan; a FAIL has none, as it may not have run. All have the application."""
    extractor = extractor_of(dataproc(job_id="j-1"))
    start, complete = extractor.extract(), extractor.extract_on_complete(instance())
    failed = extractor.extract_on_failure(instance())
    assert [names(each) for each in (start, complete, failed)] == [(["in"], ["out"])] * 2 + [([], [])]
    for each in (start, complete, failed):
        assert each.run_facets["sparkLineage_launch"].runId == "j-1"
        assert each.run_facets["externalQuery"].externalQueryId == "j-1"
        assert "unknownSourceAttribute" not in each.run_facets
    assert [gaps(each) for each in (start, complete, failed)] == [[], ["planned"], ["not_captured"]]


def test_a_task_that_skipped_itself_may_have_done_nothing():
    """Its event is COMPLETE, and has as little of the plan as a FAIL."""
    extractor = extractor_of(dataproc())
    skipped = extractor.extract_on_complete(instance(state="skipped"))
    assert (names(skipped), gaps(skipped)) == (([], []), ["not_captured"])


@pytest.mark.parametrize("is_file", [True, False])
def test_a_text_that_cannot_be_read_hides_nothing_else(is_file, tmp_path, caplog):
    """The application is in all events, and the gap has the reason for missing datasets: in one warning."""
    script = tmp_path / "a.py"
    script.write_bytes(b"\xff") if is_file else script.mkdir()
    extractor = extractor_of(dataproc(job={"pyspark_job": {"main_python_file_uri": str(script)}}))
    start, complete = extractor.extract(), extractor.extract_on_complete(instance())
    for each in (start, complete):
        [application] = each.run_facets["sparkLineage_launch"].applications
        assert application.main == str(script)
    assert gaps(complete) == (["unread_program"] if is_file else ["not_captured"])
    assert ["UnicodeDecodeError" in each for each in caplog.messages] == [True] * is_file


def cures(lineage: Any) -> list[tuple[str, bool]]:
    """Return the kind of each gap, and whether it names the option that would mend it."""
    facet = lineage.run_facets.get("sparkLineage_gaps")
    return [(gap.kind, "auto_capture_commands" in gap.reason) for gap in facet.gaps] if facet else []


OPEN = "import sys\nspark.read.parquet(sys.argv[1]).write.parquet(given)\n"
FOLLOWED = "import sys\nspark.read.parquet(sys.argv[1]).write.parquet(sys.argv[2])\n"


def bash(command: str, folder: Any) -> Any:
    from airflow.providers.standard.operators.bash import BashOperator

    return BashOperator(task_id="t", bash_command=command, cwd=str(folder))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("spark-submit s3://code/job.py", [("not_captured", True)]),
        (
            "spark-submit followed.py s3://b/in s3://b/out && spark-submit s3://code/job.py",
            [("not_captured", True)],
        ),
        ("spark-submit --class A a.jar", [("not_captured", False)]),
        ("docker run image spark-submit /a.py", [("not_captured", False)]),
        ("spark-submit open.py s3://b/in", [("not_constant", True), ("not_constant", False)]),
        ("spark-submit 'a.py", [("unread_text", False)]),
        ("spark-submit followed.py s3://b/in s3://b/out", []),
        ("echo 1", []),
    ],
)
def test_the_start_of_a_command_has_its_gaps(command, expected, tmp_path):
    """Where a text is open there are no datasets, and the reason, with the option that would mend it."""
    (tmp_path / "open.py").write_text(OPEN)
    (tmp_path / "followed.py").write_text(FOLLOWED)
    start = extractor_of(bash(command, tmp_path)).extract()
    is_known = not expected and "submit" in command
    assert names(start) == ((["in"], ["out"]) if is_known else ([], []))
    assert cures(start) == expected


@pytest.mark.parametrize(
    ("auto_capture", "commands", "is_named"),
    [(False, True, True), (True, False, True), (True, True, False)],
)
def test_a_gap_names_the_option_that_is_not_set(auto_capture, commands, is_named, tmp_path, monkeypatch):
    """At START and at the end, also where the text is followed: with the option, Spark itself says it."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE", str(auto_capture))
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_COMMANDS", str(commands))
    (tmp_path / "followed.py").write_text(FOLLOWED)
    unread = extractor_of(bash("spark-submit s3://code/job.py", tmp_path))
    followed = extractor_of(bash("spark-submit followed.py s3://b/in s3://b/out", tmp_path))
    for answer in (unread.extract(), unread.extract_on_complete(instance())):
        assert cures(answer) == [("not_captured", is_named)]
    assert cures(followed.extract()) == []
    assert cures(followed.extract_on_complete(instance())) == [("planned", is_named)]


def test_stated_datasets_are_added():
    """The provider looks at `inlets` only where an extractor names no dataset."""
    from airflow.sdk import Asset

    operator = dataproc(inlets=[Asset("file:///rates")], outlets=[Asset("s3://b/out")])
    extractor = extractor_of(operator)
    ended = SimpleNamespace(**vars(instance()), task=operator)
    start, complete = extractor.extract(), extractor.extract_on_complete(ended)
    assert [names(each) for each in (start, complete)] == [(["in", "/rates"], ["out"])] * 2
    assert [sorted(each.facets) for each in complete.inputs if "rates" in each.name] == [
        ["sparkLineage_stated"]
    ]


def test_the_operators_own_report_stays_and_wins():
    """A dataset or a facet that both name is the operator's, however it is written; others are beside."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.event_v2 import InputDataset, OutputDataset
    from openlineage.client.facet_v2 import external_query_run

    own = InputDataset("s3://b/", "/in", facets={"own": None, "dataSource": None})
    query = external_query_run.ExternalQueryRunFacet(externalQueryId="own", source="own")

    def complete(task_instance: Any) -> OperatorLineage:
        return OperatorLineage([own], [OutputDataset("x", "y")], {"externalQuery": query})

    operator = dataproc(job_id="j-1", get_openlineage_facets_on_complete=complete)
    lineage = extractor_of(operator).extract_on_complete(instance())
    [read] = lineage.inputs
    assert (read.namespace, read.name) == ("s3://b/", "/in")
    assert read.facets.items() >= own.facets.items()
    assert names(lineage)[1] == ["y", "out"]
    assert lineage.run_facets["externalQuery"] is query
    assert lineage.run_facets["sparkLineage_launch"].runId == "j-1"


@pytest.mark.parametrize("method", ["extract", "extract_on_complete", "extract_on_failure"])
def test_a_job_without_spark_reports_the_same_as_without_us(method):
    """The provider's mark of an operator that nothing is known of, and its hooks' datasets, unchanged."""
    from airflow.providers.openlineage.extractors.manager import ExtractorManager

    operator = dataproc(job={"hive_job": {}})
    arguments = () if method == "extract" else (instance(),)
    lineage = getattr(extractor_of(operator), method)(*arguments)
    assert names(lineage) == ([], [])
    assert list(lineage.run_facets) == ["unknownSourceAttribute"]
    assert ExtractorManager().get_extractor_class(operator) is None


@contextlib.contextmanager
def new_collector(monkeypatch) -> Iterator[None]:
    """Have hooks report to a new collector, which the provider's plugin would read."""
    try:
        from airflow.sdk import lineage, plugins_manager
    except ImportError:  # Airflow before 3.2
        from airflow.lineage import hook

        monkeypatch.setattr(hook, "_hook_lineage_collector", hook.HookLineageCollector())
        yield
        return
    monkeypatch.setattr(plugins_manager, "get_hook_lineage_readers_plugins", lambda: [object])
    lineage.get_hook_lineage_collector.cache_clear()
    try:
        yield
    finally:
        lineage.get_hook_lineage_collector.cache_clear()


def test_a_job_without_spark_whose_hook_reports_datasets_is_not_unknown(monkeypatch):
    """The provider adds those datasets to an event without the mark."""
    from airflow.providers.common.compat.lineage.hook import get_hook_lineage_collector
    from airflow.sdk import BaseOperator

    from airflow_provider_spark_lineage.airflow.task.hook_reports import hook_datasets

    extractor = extractor_of(dataproc(job={"hive_job": {}}))
    with new_collector(monkeypatch):
        assert extractor.extract_on_complete(instance()).run_facets
        get_hook_lineage_collector().add_output_asset(context=object(), uri="file:///b/out")
        with_task = SimpleNamespace(**vars(instance()), task=BaseOperator(task_id="t"))
        inputs, [output] = hook_datasets(with_task, failed=False)
        assert (inputs, output.name) == ([], "/b/out")
        assert extractor.extract_on_complete(instance()).run_facets == {}


def test_an_operator_that_cannot_be_read_is_a_gap(caplog):
    """No exception escapes; the event has the provider's own report."""
    operator = dataproc()
    del operator.job
    lineage = extractor_of(operator).extract_on_complete(instance())
    assert gap_kinds(lineage.run_facets) == ["unread_text"]
    assert caplog.text.count("could not be read") == 1


def test_the_packages_switch_turns_it_off(monkeypatch):
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__DISABLED", "True")
    lineage = extractor_of(dataproc()).extract_on_complete(instance())
    assert names(lineage) == ([], [])
    assert "sparkLineage_launch" not in lineage.run_facets


@pytest.mark.parametrize("sql_text", ["masked", "none"])
def test_arguments_are_left_out_where_texts_of_statements_are(sql_text, monkeypatch):
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__SQL_TEXT", sql_text)
    job = {"pyspark_job": {"main_python_file_uri": "gs://a.py", "args": ["Smith"]}}
    lineage = extractor_of(dataproc(job=job)).extract_on_complete(instance())
    [application] = lineage.run_facets["sparkLineage_launch"].applications
    assert (application.main, application.arguments) == ("gs://a.py", None)


def test_a_task_that_the_lists_leave_out_reports_the_same_as_without_us(monkeypatch):
    """The same lists as for auto-capture, which brings this extractor with it."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_EXCLUDE", "*.t")
    extractor = extractor_of(dataproc(job_id="j-1"))
    assert "sparkLineage_launch" not in extractor.extract_on_complete(instance()).run_facets


def resumed(event: Any, **context: Any) -> Any:
    """Return a task instance as the process has it that resumes a task."""
    try:
        from airflow.sdk.serde import serialize

        given = {"event": serialize(event)}
    except ImportError:  # Airflow before 3.2
        from airflow.serialization.serialized_objects import BaseSerialization

        given = BaseSerialization.serialize({"event": event})
    known = SimpleNamespace(next_kwargs=given, **context)
    return SimpleNamespace(**vars(instance()), _ti_context_from_server=known)


def test_a_task_that_deferred_itself_keeps_the_id_of_its_run():
    """The operator is a new object, which knows no id; the trigger's report does."""
    extractor = extractor_of(dataproc())
    lineage = extractor.extract_on_complete(resumed({"job_id": "j-2", "job_state": "DONE"}))
    assert lineage.run_facets["externalQuery"].externalQueryId == "j-2"
    assert lineage.run_facets["sparkLineage_launch"].link.startswith(
        "https://console.cloud.google.com/dataproc/jobs/j-2?"
    )


@pytest.mark.parametrize("event", [None, "done", ["j-2"], {"job_id": None}, {"other": 1}])
def test_an_odd_report_of_a_trigger_gives_no_id(event):
    lineage = extractor_of(dataproc()).extract_on_complete(resumed(event))
    assert lineage.run_facets["sparkLineage_launch"].runId is None
    assert "externalQuery" not in lineage.run_facets


def test_an_encoding_of_an_older_airflow_is_read():
    """Airflow 3.0 encodes the report of a trigger otherwise."""
    from airflow.serialization.serialized_objects import BaseSerialization

    from airflow_provider_spark_lineage.airflow.extractors.launchers import trigger_event

    given = BaseSerialization.serialize({"event": {"job_id": "j-3"}})
    known = SimpleNamespace(next_kwargs=given)
    assert trigger_event(SimpleNamespace(_ti_context_from_server=known)) == {"job_id": "j-3"}


def test_records_of_a_task_that_deferred_itself_began_with_its_first_process():
    """Records from before the task resumed are older than the process that resumes it."""
    from airflow_provider_spark_lineage.airflow.extractors.launchers import first_start

    began = datetime(2026, 1, 1, tzinfo=timezone.utc)
    assert first_start(resumed({}, start_date=began)) == began
    assert first_start(subject := instance()) == subject.start_date
    assert first_start(resumed({}, start_date=None)) is not None
