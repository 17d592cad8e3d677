"""Events of a task's executions and of its progress: which are sent, their root, and how long it waits."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from typing import Any

import pytest
from providers import import_or_skip
from started_tasks import started
from task_instances import instance, record

from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.airflow.task.answers import reported
from airflow_provider_spark_lineage.spark.runs.captured import Captured

pytestmark = pytest.mark.airflow


@pytest.mark.usefixtures("unsettled")
def test_a_long_execution_is_sent_while_it_runs(backend):
    """START of a query of five hours comes at its start; its end is an event of the same run."""
    lineage = started()
    running = replace(record(3), execution_id=7)
    lineage._collector.begin(running)
    assert backend.waits_for("START", "d.t.orders.3")
    lineage._collector.write(replace(running, ended_at="2026-01-01T05:00:00+00:00"))
    lineage.stop()
    own = [event for event in backend.events if event.job.name == "d.t.orders.3"]
    assert [event.eventType.value for event in own] == ["START", "COMPLETE"]
    assert own[0].run.runId == own[1].run.runId
    assert [source.name for source in own[0].inputs] == ["/in/orders"]


@pytest.mark.usefixtures("unsettled")
def test_an_execution_without_an_end_is_aborted(backend):
    """A query that another thread runs on after the task has one end, and no output that it may not write."""
    lineage = started()
    lineage._collector.begin(replace(record(3), execution_id=7))
    lineage.stop()
    assert backend.sent[-2:] == [("START", "d.t.orders.3"), ("ABORT", "d.t.orders.3")]
    assert backend.events[-1].outputs == []


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize(("which", "states"), [("failed", []), ("none", []), ("writes", [])])
def test_the_beginning_of_an_unwanted_execution_is_not_sent(backend, monkeypatch, which, states):
    """Where only writes or failures have events, a query that only reads has none while it runs, either."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__EXECUTION_EVENTS", which)
    lineage = started()
    lineage._collector.begin(replace(record(3), execution_id=7))
    lineage.stop()
    assert backend.sent == states


@pytest.mark.usefixtures("unsettled")
def test_a_long_task_reports_what_it_has_done_so_far(backend, monkeypatch):
    """RUNNING events say what a task has read hours before it ends; none comes after its end."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__PROGRESS_INTERVAL_SECONDS", "1")
    lineage = started()
    assert backend.waits_for("RUNNING", "d.t")
    lineage.stop()
    running = [event for event in backend.events if event.eventType.value == "RUNNING"]
    assert [source.name for source in running[-1].inputs] == ["/in/orders"]
    assert running[-1].run.facets["sparkLineage_executions"].count == 2
    assert "sparkLineage_gaps" not in running[-1].run.facets
    assert not [thread for thread in threading.enumerate() if thread.name == "spark-lineage-progress"]


@pytest.mark.usefixtures("unsettled")
def test_executions_are_sent_once_as_children(backend):
    """Each execution has a START and an end under the task's name."""
    started().stop()
    assert backend.sent == [
        ("START", "d.t.orders"),
        ("COMPLETE", "d.t.orders"),
        ("START", "d.t.orders.2"),
        ("COMPLETE", "d.t.orders.2"),
    ]


@pytest.mark.usefixtures("unsettled")
def test_executions_are_not_sent_against_the_users_will(backend, monkeypatch):
    """`execution_events` turns them off."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__EXECUTION_EVENTS", "False")
    started().stop()
    assert backend.sent == []


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize(("which", "count"), [("all", 2), ("writes", 0), ("failed", 0)])
def test_only_wanted_executions_are_sent(backend, monkeypatch, which, count):
    """A backend that keeps each run for ever gets only the ones that somebody looks at: here are reads."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__EXECUTION_EVENTS", which)
    started().stop()
    assert len(backend.sent) == 2 * count


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize(
    ("events", "names"), [("all", []), ("writes", ["/in/orders"]), ("none", ["/in/orders"])]
)
def test_a_task_may_leave_its_datasets_to_its_executions(backend, monkeypatch, events, names):
    """With `task_datasets` off, a dataset is named once; without events of executions, by the task."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__TASK_DATASETS", "False")
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__EXECUTION_EVENTS", events)
    lineage = started()
    lineage.stop()
    assert [source.name for source in reported(lineage.report).inputs] == names


@pytest.mark.usefixtures("unsettled")
def test_executions_that_the_java_agent_sends_are_not_sent_twice(backend, monkeypatch):
    """OpenLineage's Java agent sends an event of each execution itself."""
    monkeypatch.setattr(Captured, "agent_configured", True)
    started().stop()
    assert backend.sent == []


@pytest.mark.usefixtures("unsettled")
def test_a_backend_that_hangs_does_not_hold_the_task(backend, monkeypatch, caplog):
    """After the timeout one warning is logged, the rest is not sent, and the task's own lineage is there."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__EMIT_TIMEOUT_SECONDS", "0.1")
    backend.hangs = True
    lineage = started()
    with caplog.at_level("WARNING"):
        lineage.stop()
    assert "were not sent" in caplog.text
    backend.woken.set()
    for thread in threading.enumerate():
        if thread.name == "spark-lineage-events":
            thread.join(30)
    assert backend.sent == [("START", "d.t.orders")]
    assert [source.name for source in reported(lineage.report).inputs] == ["/in/orders"]


@pytest.mark.usefixtures("unsettled")
def test_a_fault_of_ours_costs_lineage_only(backend, caplog):
    """A fault in our own code ends in one warning that says what was lost."""
    with caplog.at_level("WARNING"):
        lineage = started(get_template_context=None)
    lineage.stop()
    assert [entry.levelname for entry in caplog.records] == ["WARNING"]
    assert "This has no impact on the task" in caplog.text
    assert [source.name for source in reported(lineage.report).inputs] == ["/in/orders"]
    assert backend.sent == []


_ROOT, _PARENT = "01941f29-7c00-7087-8940-40e509050000", "01941f29-7c00-7743-963e-b6f26e4b0000"
_OF_ROOT = {"rootParentRunId": _ROOT, "rootParentJobNamespace": "other", "rootParentJobName": "nightly"}
_OF_PARENT = {"parentRunId": _PARENT, "parentJobNamespace": "caller", "parentJobName": "nightly.start"}


def roots(events: list[Any]) -> set[tuple[str, str, str]]:
    facets = [event.run.facets["parent"].root for event in events]
    return {(root.job.namespace, root.job.name, root.run.runId) for root in facets}


@pytest.mark.usefixtures("unsettled")
@pytest.mark.parametrize(
    ("given", "root"),
    [
        ({**_OF_ROOT, **_OF_PARENT}, ("other", "nightly", _ROOT)),
        (_OF_PARENT, ("caller", "nightly.start", _PARENT)),
    ],
)
def test_all_events_have_the_root_that_the_dag_run_was_started_with(backend, given, root):
    """A consumer finds all runs of one request by their root: START and end of executions, and OTHER."""
    lineage = started(conf={"openlineage": given})
    lineage.stop()
    lineage.pause(instance(conf={"openlineage": given}))
    assert [kind for kind, _ in backend.sent] == ["START", "COMPLETE"] * 2 + ["OTHER"]
    assert roots(backend.events) == {root}


@pytest.mark.usefixtures("unsettled")
def test_all_events_of_a_triggered_dag_run_have_the_root_of_the_trigger(backend, monkeypatch):
    """`TriggerDagRunOperator` passes its own root on, over any number of DAGs."""
    trigger = import_or_skip("airflow.providers.standard.utils.openlineage")
    monkeypatch.setattr(trigger, "_is_openlineage_provider_accessible", lambda: True)
    first = provider.identity_of(instance(dag_id="first")).root
    conf: Any = {}
    for dag_id in ("first", "second"):
        conf = trigger.safe_inject_openlineage_properties_into_dagrun_conf(
            {}, instance(dag_id=dag_id, conf=conf)
        )
    started(dag_id="third", conf=conf).stop()
    assert roots(backend.events) == {(first.namespace, first.job, first.run_id)}
    assert first.job == "first"


@pytest.mark.usefixtures("unsettled")
def test_a_backend_that_hangs_does_not_use_up_the_time_of_the_function(backend, monkeypatch):
    """A function that ended within its `execution_timeout` succeeds, and its clock goes on afterwards."""

    def time_is_up(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__EMIT_TIMEOUT_SECONDS", "0.3")
    backend.hangs = True
    lineage = started()
    before = signal.signal(signal.SIGALRM, time_is_up)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        lineage.stop()
        remaining, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert 0 < remaining <= 0.2


@pytest.mark.usefixtures("unsettled")
def test_the_providers_children_do_not_inherit_our_connections(monkeypatch):
    """Its listener sends in forks, where a client used here would lack its threads and share its sockets."""
    from airflow.providers.openlineage.plugins.adapter import OpenLineageAdapter
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    sent: list[OpenLineageAdapter] = []
    monkeypatch.setattr(OpenLineageAdapter, "emit", lambda self, event: sent.append(self))
    lineage = started()
    lineage.on_kill(instance())
    lineage.stop()
    assert len(set(map(id, sent))) == 1
    assert sent[0] is not get_openlineage_listener().adapter
