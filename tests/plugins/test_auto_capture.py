"""The plugin's listener: captures the tasks that the option names, and stops however a task ends."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from foreign_tasks import instance, started

from airflow_provider_spark_lineage.airflow.task import task_lineage
from airflow_provider_spark_lineage.airflow.task.process import TASK

pytestmark = pytest.mark.airflow

ENDINGS = {
    "on_task_instance_success": {},
    "on_task_instance_failed": {"error": ValueError("no")},
    "on_task_instance_skipped": {},
}


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
    assert TASK.report_of(subject) is not None, "the extractor asks after this"


def test_a_task_that_is_deferred_is_let_go_when_its_process_ends(listeners, monkeypatch):
    """Airflow has no hook for it, nor for a task that is rescheduled; one that has ended stays ended."""
    from pyspark.sql import SparkSession

    found = SparkSession.__init__
    paused = []
    monkeypatch.setattr(
        task_lineage.TaskLineage, "pause", lambda _, task_instance: paused.append(task_instance)
    )
    deferred, ended = instance(), instance(task_id="u")
    assert started(listeners, deferred)
    listeners.hook.before_stopping(component=None)
    assert SparkSession.__init__ is found
    assert started(listeners, ended)
    listeners.hook.on_task_instance_success(previous_state=None, task_instance=ended)
    listeners.hook.before_stopping(component=None)
    assert paused == [deferred]


@pytest.mark.parametrize("name", ["PythonOperator", "PythonSensor"])
def test_a_function_is_captured_from_its_first_session_on(listeners, name):
    """Until then only the constructors of contexts are replaced, and afterwards nothing at all."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session, create = SparkSession.__init__, SparkContext._do_init
    subject = instance("Decorated", name)
    assert not started(listeners, subject)
    assert SparkSession.__init__ is session
    assert SparkContext._do_init is not create
    listeners.hook.on_task_instance_success(previous_state=None, task_instance=subject)
    assert SparkContext._do_init is create


@pytest.mark.parametrize(
    "subject",
    [
        instance("BashOperator"),
        instance("Own", "PySparkOperator", get_openlineage_facets_on_complete=print),
        instance("_PythonVirtualenvDecoratedOperator", "_BasePythonVirtualenvOperator", "PythonOperator"),
    ],
    ids=lambda subject: subject.task.task_type,
)
def test_other_operators_are_left_alone(listeners, extractors, subject):
    """Others report by themselves, or run their function in another process or on another machine."""
    from pyspark import SparkContext

    create = SparkContext._do_init
    assert not started(listeners, subject)
    assert SparkContext._do_init is create


def test_a_failure_of_another_task_does_not_end_a_capture(listeners):
    """Airflow's own processes report tasks that never ran in them."""
    from pyspark.sql import SparkSession

    found, subject = SparkSession.__init__, instance()
    assert started(listeners, subject)
    other = instance("SparkSqlOperator", sql="select 1", _get_hook=print)
    other.task_id = "u"
    listeners.hook.on_task_instance_failed(previous_state=None, task_instance=other, error=ValueError("no"))
    assert TASK.report_of(subject) is not None
    assert SparkSession.__init__ is not found


def test_a_job_that_ran_and_failed_is_not_captured_a_second_time(listeners):
    subject = instance("SparkSqlOperator", sql="select 1", _get_hook=print)
    assert started(listeners, subject)
    captured = TASK.capture
    listeners.hook.on_task_instance_failed(previous_state=None, task_instance=subject, error=ValueError("no"))
    assert TASK.capture is captured


def test_a_skipped_task_is_let_go_when_the_next_one_begins(listeners, extractors):
    """Airflow 3.0 does not report a skipped task, and `dag.test()` goes on in the same process."""
    from pyspark import SparkContext

    create = SparkContext._do_init
    started(listeners, instance("PythonOperator"))
    started(listeners, instance("BashOperator"))
    assert SparkContext._do_init is create


@pytest.mark.parametrize(
    ("include", "exclude", "is_captured"),
    [
        ("", "", False),
        ("*", "", True),
        ("d", "", True),
        ("d.t; other", "", True),
        ("d.other", "", False),
        ("[a-d]", "d.u", True),
        ("*", "*.t", False),
        ("d.t", "d", False),
        ("d, e", "", False),
        ("*", "'x'", False),
    ],
)
def test_lists_of_dags_and_tasks_decide(listeners, monkeypatch, include, exclude, is_captured):
    """The more private of two wins, also where one cannot be read."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_INCLUDE", include)
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_EXCLUDE", exclude)
    assert started(listeners, instance()) is is_captured


def test_a_subclass_is_captured_as_its_base_class_is(listeners):
    """The provider's extractors go by exact names; the operator of this task answers by itself."""
    subject = instance("NightlyOperator", "PySparkOperator")
    assert started(listeners, subject)
    assert subject.task.get_openlineage_facets_on_failure(subject).inputs == []
    other = instance("NightlyOperator", "PySparkOperator").task
    assert not hasattr(other, "get_openlineage_facets_on_complete"), "given to the class, not to the task"


@pytest.mark.parametrize("also", [{}, {"get_openlineage_facets_on_complete": print}])
def test_named_operators_are_captured(listeners, monkeypatch, also):
    """Also those that report by themselves: theirs stays, and ours is added."""
    name = f"{__name__}.ScoreOperator"
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__EXTRA_OPERATORS", f"{name}=in process")
    subject = instance("ScoreOperator", **also, __module__=__name__)
    assert started(listeners, subject)
    assert ("get_openlineage_facets_on_complete" in vars(subject.task)) is not bool(also)


def test_a_task_that_is_told_to_stop_sends_its_finished_work(listeners, monkeypatch):
    """Its operator's own `on_kill` runs first, also one that fails."""
    stopped = []
    monkeypatch.setattr(
        task_lineage.TaskLineage, "on_kill", lambda _, task_instance: stopped.append(task_instance)
    )
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
    calls = []

    class OpenLineage:
        """Asks the extractor when it is called, as the provider's listener does."""

        from airflow.listeners import hookimpl

        @hookimpl
        def on_task_instance_success(self, task_instance):
            calls.append(SparkSession.__init__ is untouched)

    listeners.register(OpenLineage())
    subject = instance()
    assert started(listeners, subject)
    listeners.hook.on_task_instance_success(previous_state=None, task_instance=subject)
    assert calls == [True]


def test_it_has_started_before_openlineage_asks_the_operator(listeners):
    """START names the datasets of the job's text, by a method that we add to the operator."""
    calls = []

    class OpenLineage:
        """Asks the operator when it is called, as the provider's listener does."""

        from airflow.listeners import hookimpl

        @hookimpl
        def on_task_instance_running(self, task_instance):
            calls.append(hasattr(task_instance.task, "get_openlineage_facets_on_start"))

    listeners.register(OpenLineage())
    assert started(listeners, instance())
    assert calls == [True]


@pytest.mark.parametrize("wrong", [None, SimpleNamespace(task=None), SimpleNamespace(task=object())])
def test_a_hook_never_raises(listeners, wrong):
    """An exception in a listener would appear in the task's log as an error of the task."""
    listeners.hook.on_task_instance_running(previous_state=None, task_instance=wrong)
    for ending, more in ENDINGS.items():
        getattr(listeners.hook, ending)(previous_state=None, task_instance=wrong, **more)
