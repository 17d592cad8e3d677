"""A task that is told to stop, or that is deferred: what it has done so far is sent, and once."""

from __future__ import annotations

import pytest
from started_tasks import TWO
from task_instances import instance

from airflow_provider_spark_lineage.airflow.task import task_lineage
from airflow_provider_spark_lineage.spark.runs.captured import Captured

pytestmark = pytest.mark.airflow


def test_a_task_that_timed_out_sends_nothing_before_its_end(backend):
    """With auto-capture, Airflow's `on_kill` after `execution_timeout` comes before `stop`: FAIL follows."""
    from airflow.sdk.exceptions import AirflowTaskTimeout

    lineage = task_lineage.TaskLineage(Captured())
    try:
        raise AirflowTaskTimeout
    except AirflowTaskTimeout:
        lineage.on_kill(instance())
    assert backend.events == []


def test_a_task_that_is_told_to_stop_sends_its_finished_work(backend):
    """Its process may be killed next: its finished work is sent, and that more may follow.

    By OTHER, because a task marked as failed has its FAIL from the API server by then.
    """
    captured = Captured()
    captured.write(TWO[0])
    lineage = task_lineage.TaskLineage(captured)
    lineage.on_kill(instance())
    (event,) = backend.events
    assert (event.eventType.value, event.job.name) == ("OTHER", "d.t")
    assert [source.name for source in event.inputs] == ["/in/orders"]
    assert "asked the task to stop" in str(event.run.facets["sparkLineage_gaps"])


@pytest.mark.parametrize("sends", ["on_kill", "pause"])
def test_a_task_that_has_not_ended_repeats_the_facets_of_its_start(backend, sends):
    """Parent, root, engine and type of the job: consumers replace earlier facets by the latest event's."""
    captured = Captured()
    captured.write(TWO[0])
    getattr(task_lineage.TaskLineage(captured), sends)(instance())
    (event,) = backend.events
    assert {"parent", "airflow", "processing_engine"} <= event.run.facets.keys()
    assert event.job.facets["jobType"].jobType == "TASK"
    assert event.job.facets["jobType"].integration == "AIRFLOW"
    parent = event.run.facets["parent"]
    assert (parent.job.name, parent.root.job.name) == ("d", "d")
    assert parent.run.runId == parent.root.run.runId


def test_a_task_that_goes_on_after_it_was_told_to_stop_is_complete(backend):
    """SIGTERM does not stop a function that ignores it: its own event has everything, without a gap."""
    captured = Captured()
    captured.write(TWO[0])
    lineage = task_lineage.TaskLineage(captured)
    lineage.on_kill(instance())
    captured.write(TWO[1])
    lineage.stop()
    assert [execution.number for execution in lineage.report.run.executions] == [1, 2]
    assert lineage.report.run.lineage.gaps == ()


def test_an_execution_that_runs_when_its_task_is_told_to_stop_may_end_later(backend, monkeypatch):
    """The gap of an execution that was running is not in the event of a task that went on to its end."""
    captured = Captured()
    captured.write(TWO[0])
    monkeypatch.setattr(captured, "drain", lambda _: ["1 execution was still running when the capture ended"])
    lineage = task_lineage.TaskLineage(captured)
    lineage.on_kill(instance())
    captured.write(TWO[1])
    lineage.stop()
    assert "1 execution was still running" in str(backend.events[0].run.facets)
    assert lineage.report.run.lineage.gaps == ()


def test_a_task_that_has_done_its_work_is_not_told_to_stop(backend):
    """Airflow calls `on_kill` after `execution_timeout` too: the FAIL that comes next holds everything."""
    lineage = task_lineage.TaskLineage(Captured())
    lineage.stop()
    lineage.on_kill(instance())
    assert backend.events == []


def test_a_task_that_is_deferred_sends_its_finished_work(backend):
    """It ends in another process, which does not know; without a gap, because nothing is missing."""
    captured = Captured()
    captured.write(TWO[0])
    lineage = task_lineage.TaskLineage(captured)
    lineage.stop()
    lineage.pause(instance())
    (event,) = backend.events
    assert (event.eventType.value, event.job.name) == ("OTHER", "d.t")
    assert [source.name for source in event.inputs] == ["/in/orders"]
    assert "sparkLineage_gaps" not in event.run.facets


def test_a_task_that_did_nothing_is_deferred_silently(backend):
    """A sensor may look a thousand times before there is something to see."""
    lineage = task_lineage.TaskLineage(Captured())
    lineage.stop()
    lineage.pause(instance())
    assert backend.events == []


def test_a_backend_that_hangs_does_not_hold_a_task_that_is_deferred(backend):
    """For `emit_timeout_seconds` at most."""
    captured = Captured()
    captured.write(TWO[0])
    backend.hangs = True
    task_lineage.TaskLineage(captured, emit_timeout_seconds=0.1).pause(instance())
    assert not backend.woken.is_set()


def test_a_backend_that_hangs_does_not_hold_a_task_that_is_told_to_stop(backend, monkeypatch):
    """Airflow kills it five seconds after asking it to end; the operator's own clean-up comes before that."""
    monkeypatch.setattr(task_lineage, "KILL_TIMEOUT_SECONDS", 0.1)
    backend.hangs = True
    task_lineage.TaskLineage(Captured()).on_kill(instance())
    assert not backend.woken.is_set()
