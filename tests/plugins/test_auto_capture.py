"""The plugin's listener: captures what the option asks for, and lets go however a task ends."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage import task

pytestmark = pytest.mark.airflow

ENDINGS = {
    "on_task_instance_success": {},
    "on_task_instance_failed": {"error": ValueError("no")},
    "on_task_instance_skipped": {},
}


@pytest.fixture
def listeners(monkeypatch: pytest.MonkeyPatch):
    """Airflow's own hooks with our listener, on a machine where lineage is wanted."""
    import pluggy

    try:
        from airflow.sdk._shared.listeners.spec import taskinstance
    except ImportError:  # Airflow before 3.2
        from airflow.listeners.spec import taskinstance

    from airflow_provider_spark_lineage.plugins.auto_capture import SparkLineagePlugin

    manager = pluggy.PluginManager("airflow")
    manager.add_hookspecs(taskinstance)
    for listener in SparkLineagePlugin.listeners:
        manager.register(listener)
    monkeypatch.setattr(task, "is_active", lambda _: True)
    monkeypatch.setattr(task, "_latest", None)
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE", "True")
    yield manager
    if task._latest is not None:
        task._latest[1].finish()


class Task:
    """Of an operator that we do not own."""

    def __init__(self, task_type: str) -> None:
        self.task_type = task_type
        self.is_told = False

    def on_kill(self) -> None:
        self.is_told = True


def instance(task_type: str = "PySparkOperator") -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**fields, task=Task(task_type))


def started(listeners, task_instance: SimpleNamespace) -> bool:
    listeners.hook.on_task_instance_running(previous_state=None, task_instance=task_instance)
    return task.lineage_of(task_instance) is not None


@pytest.mark.parametrize("task_type", ["PySparkOperator", "_PySparkDecoratedOperator"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_task_is_captured_and_let_go_however_it_ends(listeners, task_type, ending):
    """A skipped task ends too: pyspark is as it was."""
    from pyspark.sql import SparkSession

    found = SparkSession.__init__
    subject = instance(task_type)
    assert started(listeners, subject)
    assert SparkSession.__init__ is not found
    getattr(listeners.hook, ending)(previous_state=None, task_instance=subject, **ENDINGS[ending])
    assert SparkSession.__init__ is found
    assert task.lineage_of(subject) is not None, "the extractor asks after this"


@pytest.mark.parametrize("task_type", ["PythonOperator", "PySparkLineageOperator"])
def test_other_operators_are_left_alone(listeners, task_type):
    """Our own operators capture by themselves; capture twice would send everything twice."""
    assert not started(listeners, instance(task_type))


def test_a_task_that_is_told_to_stop_sends_what_it_did(listeners, monkeypatch):
    """Its operator's own `on_kill` runs first, also one that fails."""
    stopped = []
    monkeypatch.setattr(task.TaskLineage, "stop", lambda _, task_instance: stopped.append(task_instance))
    subject = instance()
    assert started(listeners, subject)
    subject.task.on_kill()
    assert subject.task.is_told
    assert stopped == [subject]


def test_off_is_off(listeners, monkeypatch):
    """The default captures nothing."""
    monkeypatch.delenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE")
    assert not started(listeners, instance())


def test_it_has_finished_before_openlineage_asks_the_extractor(listeners):
    """Listeners are called last come first: OpenLineage's, registered after ours, must not come before it."""
    from pyspark.sql import SparkSession

    untouched = SparkSession.__init__
    asked = []

    class OpenLineage:
        """Asks the extractor when it is told, as the provider's listener does."""

        from airflow.listeners import hookimpl

        @hookimpl
        def on_task_instance_success(self, task_instance):
            asked.append(SparkSession.__init__ is untouched)

    listeners.register(OpenLineage())
    subject = instance()
    assert started(listeners, subject)
    listeners.hook.on_task_instance_success(previous_state=None, task_instance=subject)
    assert asked == [True]


@pytest.mark.parametrize("wrong", [None, SimpleNamespace(task=None), SimpleNamespace(task=object())])
def test_a_hook_never_raises(listeners, wrong):
    """An exception in a listener would stand in the task's log as an error of the task."""
    listeners.hook.on_task_instance_running(previous_state=None, task_instance=wrong)
    for ending, more in ENDINGS.items():
        getattr(listeners.hook, ending)(previous_state=None, task_instance=wrong, **more)
