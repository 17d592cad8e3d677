"""The lineage of a task: whether it is captured at all, its facets, and the state left behind."""

from __future__ import annotations

import os

import pytest
from providers import import_or_skip
from pyspark.sql import SparkSession
from started_tasks import TWO
from task_instances import instance, operator

from airflow_provider_spark_lineage.airflow.task import provider, task_lineage
from airflow_provider_spark_lineage.airflow.task.answers import reported
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark.runs.captured import Captured

pytestmark = pytest.mark.airflow


@pytest.fixture
def finished() -> task_lineage.TaskLineage:
    """The lineage of a task that read twice."""
    captured = Captured()
    for item in TWO:
        captured.write(item)
    lineage = task_lineage.TaskLineage(captured)
    lineage.stop()
    return lineage


def test_facets_are_equal_on_every_call_and_share_nothing(finished):
    """The provider's redactor writes into its argument, and other listeners ask again."""
    first, second = reported(finished.report), reported(finished.report)
    assert first == second
    assert [source.name for source in first.inputs] == ["/in/orders"]
    assert first.inputs[0] is not second.inputs[0]
    first.inputs[0].facets.clear()
    assert reported(finished.report) == second


def test_facets_can_be_asked_in_a_forked_child(finished):
    """The provider asks in a child that has no JVM; the facets must be plain objects."""
    assert finished.report.run.lineage
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        names = ",".join(source.name for source in reported(finished.report).inputs)
        os.write(writer, names.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"/in/orders"


OURS = "airflow_provider_spark_lineage.operators.pyspark.PySparkLineageOperator"
SILENT = {
    "no transport": ("OPENLINEAGE__TRANSPORT", ""),
    "disabled": ("OPENLINEAGE__DISABLED", "True"),
    "operator": ("OPENLINEAGE__DISABLED_FOR_OPERATORS", OURS),
    "selective": ("OPENLINEAGE__SELECTIVE_ENABLE", "True"),
    "policy": ("OPENLINEAGE__EMISSION_POLICY", '[{"scope": {"dag_id": "d"}, "controls": {"emit": false}}]'),
    "metadata": (
        "OPENLINEAGE__EMISSION_POLICY",
        '[{"scope": {}, "controls": {"extract_operator_metadata": false}}]',
    ),
    "ours": ("SPARK_LINEAGE__DISABLED", "True"),
}


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize("why", SILENT)
def test_nothing_is_captured_where_no_event_would_carry_it(why, monkeypatch):
    """A task that the user excluded, by whichever option of OpenLineage, is not looked at."""
    option, value = SILENT[why]
    if option == "OPENLINEAGE__EMISSION_POLICY":
        import_or_skip("airflow.providers.openlineage.utils.emission_policy", "this provider has no policy")
    monkeypatch.setenv(f"AIRFLOW__{option}", value)
    assert task_lineage.start_capture(instance(task=operator())) is None


@pytest.mark.usefixtures("unsettled")
def test_the_next_task_of_a_process_finds_nothing_of_the_one_before():
    """A task that ended unheard, as one that skips itself in Airflow 3.0, neither lingers nor leaks."""
    original = SparkSession.__init__
    first, second = instance(task=operator()), instance(task=operator(), task_id="next")
    assert task_lineage.start_capture(first) is TASK.capture
    assert TASK.report_of(first) is not None
    lineage = task_lineage.start_capture(second)
    assert lineage is not None
    assert TASK.report_of(first) is None
    lineage.stop()
    assert SparkSession.__init__ is original


def test_a_run_facet_that_does_not_exist_is_named_once(monkeypatch, caplog):
    """A misspelled function is one sentence in the log of the process, and the others work."""
    from airflow.providers.openlineage import conf as openlineage_conf

    names = {f"airflow_provider_spark_lineage.run_facets.{name}" for name in ("spark_gap", "all_facets")}
    monkeypatch.setattr(openlineage_conf, "custom_run_facets", lambda: names)
    provider.warn_of_unknown_run_facets.cache_clear()
    for _ in range(2):
        provider.warn_of_unknown_run_facets()
    [line] = caplog.messages
    assert "run_facets.spark_gap, which does not exist" in line
