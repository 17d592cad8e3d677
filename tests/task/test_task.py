"""The lineage of a task: whether it is captured at all, the events sent, and the state left behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from providers import import_or_skip
from pyspark.sql import SparkSession
from task_instances import instance, operator, record

from airflow_provider_spark_lineage.airflow.task import provider, task_lineage
from airflow_provider_spark_lineage.airflow.task.answers import reported
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark.runs.captured import Captured

pytestmark = pytest.mark.airflow


TWO = (record(1), record(2))


@pytest.fixture
def finished() -> task_lineage.TaskLineage:
    """The lineage of a task that read twice."""
    captured = Captured()
    for item in TWO:
        captured.write(item)
    lineage = task_lineage.TaskLineage(captured)
    lineage.stop()
    return lineage


class Backend:
    """A stand-in for the provider's adapter, which keeps the events."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.events: list[Any] = []
        self.hangs = False
        self.woken = threading.Event()
        self.arrived = threading.Condition()

    def waits_for(self, state: str, job: str) -> bool:
        """Return whether an event arrives."""
        with self.arrived:
            return self.arrived.wait_for(lambda: (state, job) in self.sent, timeout=60)

    def emit(self, event: Any) -> None:
        with self.arrived:
            self.events.append(event)
            self.sent.append((event.eventType.value, event.job.name))
            self.arrived.notify_all()
        if self.hangs:
            self.woken.wait(30)


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    monkeypatch.setattr(TASK, "capture", None)
    backend = Backend()
    monkeypatch.setattr(provider, "_adapter", lambda: backend)
    yield backend
    backend.woken.set()


def started(**changes: object) -> task_lineage.TaskLineage:
    """A task whose capture has begun, and which has read twice."""
    lineage = task_lineage.start_capture(instance(task=operator(), **changes))
    assert lineage is not None
    for item in TWO:
        lineage._collector.write(item)
    return lineage


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


def test_a_task_that_timed_out_sends_nothing_before_its_end(backend):
    """With auto-capture, Airflow's `on_kill` after `execution_timeout` comes before `stop`: FAIL follows."""
    from airflow.sdk.exceptions import AirflowTaskTimeout

    lineage = task_lineage.TaskLineage(Captured())
    try:
        raise AirflowTaskTimeout
    except AirflowTaskTimeout:
        lineage.on_kill(instance())
    assert backend.events == []


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


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenLineage has a transport, and has not read its options yet."""
    from airflow.providers.openlineage import conf

    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", '{"type": "console"}')
    caches = [value for value in vars(conf).values() if hasattr(value, "cache_clear")]
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


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
