"""The plugin's listener: captures the tasks that the option names, and stops however a task ends."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage.airflow.task import provider, task_lineage
from airflow_provider_spark_lineage.airflow.task.process import TASK

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
        from airflow.sdk._shared.listeners.spec import lifecycle, taskinstance
    except ImportError:  # Airflow before 3.2
        from airflow.listeners.spec import lifecycle, taskinstance

    from airflow_provider_spark_lineage.airflow.plugins.listener import AutoCapture

    manager = pluggy.PluginManager("airflow")
    manager.add_hookspecs(lifecycle)
    manager.add_hookspecs(taskinstance)
    manager.register(AutoCapture())
    monkeypatch.setattr(provider, "is_active", lambda _: True)
    monkeypatch.setattr(TASK, "capture", None)
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE", "True")
    yield manager
    if TASK.capture is not None:
        TASK.capture.stop()


class Task:
    """Of an operator that we do not own."""

    is_told = False
    task_id = "t"
    dag_id = "d"

    @property
    def task_type(self) -> str:
        return type(self).__name__

    def on_kill(self) -> None:
        self.is_told = True


def operator(*names: str, **also: object) -> type:
    """Return a class of the first name, whose base classes have the others."""
    base: type = Task
    for name in reversed(names):
        base = type(name, (base,), also if name == names[0] else {})
    return base


def instance(*names: str, **also: object) -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**fields, task=operator(*names or ("PySparkOperator",), **also)())


def started(listeners, task_instance: SimpleNamespace) -> bool:
    listeners.hook.on_task_instance_running(previous_state=None, task_instance=task_instance)
    return TASK.report_of(task_instance) is not None


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


@pytest.fixture
def extractors():
    """The extractors of OpenLineage's provider by class name, which are as before afterwards."""
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    known = get_openlineage_listener().extractor_manager.extractors
    before = dict(known)
    yield known
    known.clear()
    known.update(before)


@pytest.mark.parametrize(
    ("names", "also"),
    [
        (["BashOperator"], {"bash_command": "spark-submit a.py"}),
        (["NightlyShell", "BashOperator"], {"bash_command": "spark-submit a.py"}),
        (["LivyOperator"], {}),
        (["OwnLivyOperator", "LivyOperator"], {}),
        (["EmrContainerOperator"], {"get_openlineage_facets_on_complete": print}),
        (["KubernetesPodOperator"], {"cmds": [], "arguments": ["bash", "-c", "cd a; spark-submit a.py"]}),
        (["KubernetesPodOperator"], {"cmds": [], "arguments": []}),
        (["SparkKubernetesOperator", "KubernetesPodOperator"], {"cmds": ["a"], "arguments": []}),
    ],
)
def test_operators_that_launch_spark_elsewhere_have_our_extractor(listeners, extractors, names, also):
    """Also subclasses; it passes on the reports of an operator or of the provider's own extractor."""
    from airflow_provider_spark_lineage.extractors.launchers import LauncherExtractor

    started(listeners, instance(*names, **also))
    assert extractors[names[0]] is LauncherExtractor


@pytest.mark.parametrize(
    ("name", "also", "is_reported"),
    [
        ("BashOperator", {"bash_command": "spark-submit {{ missing }}"}, True),
        ("BashOperator", {"bash_command": "ls {{ missing }}"}, False),
        ("SparkSqlOperator", {"sql": "missing.sql", "_get_hook": print}, True),
        ("PySparkOperator", {}, False),
        ("PythonOperator", {}, False),
    ],
)
def test_a_task_that_failed_before_it_ran_says_which_job_that_was(
    listeners, extractors, name, also, is_reported
):
    """Airflow renders templates before it reports that a task runs."""
    before, subject = dict(extractors), instance(name, **also)
    failure = {"previous_state": None, "error": ValueError("no template")}
    listeners.hook.on_task_instance_failed(task_instance=subject, **failure)
    captured = TASK.report_of(subject)
    assert (captured is not None or extractors != before) is is_reported
    assert captured is None or captured.run.problems


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


def test_an_extractor_of_the_users_own_stays(listeners, extractors):
    """It may know more of the company's jobs than we do."""
    extractors["LivyOperator"] = Task
    started(listeners, instance("LivyOperator"))
    assert extractors["LivyOperator"] is Task


@pytest.mark.parametrize("reason", ["off", "no event"])
def test_without_need_the_provider_keeps_its_extractors(listeners, extractors, monkeypatch, reason):
    """An operator whose events are off is not asked."""
    before = dict(extractors)
    if reason == "off":
        monkeypatch.delenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE")
    else:
        monkeypatch.setattr(provider, "is_active", lambda _: False)
    started(listeners, instance("BashOperator", bash_command="spark-sql -f a.sql"))
    assert extractors == before


@pytest.mark.parametrize(
    ("name", "also"),
    [
        ("BashOperator", {"bash_command": "ls"}),
        ("KubernetesPodOperator", {"cmds": ["python"], "arguments": ["report.py", "--of", "spark"]}),
    ],
)
def test_a_command_without_spark_pays_nothing(listeners, extractors, name, also):
    """Most shells and pods run something else."""
    before = dict(extractors)
    started(listeners, instance(name, **also))
    assert extractors == before


class Shell:
    """A task of a shell whose command is not known before `execute`; nothing is run."""

    def __init__(self, class_name: str, path: str = "") -> None:
        self.given: list[str] = []
        self.is_armed = False
        """The shell finds another `spark-submit` than the one in `path`."""

        self._path = path
        self.hook = SimpleNamespace(run_command=self.run)
        self.is_bash = class_name == "BashOperator"
        also: dict[str, object] = {"command": None, "environment": None, "run_ssh_client_command": self.run}
        if self.is_bash:
            also = {"bash_command": object(), "env": None, "cwd": None, "subprocess_hook": self.hook}
        self.instance = instance("_Decorated", class_name, **also)

    def run(self, *args: object, command: object = None, **kwargs: object) -> int:
        """Keep the command: the last of a `BashOperator`'s words, the text of an `SSHOperator`."""
        [given] = (each for each in (command, *args) if isinstance(each, (list, str)))
        self.given.append(given if isinstance(given, str) else given[-1])
        environment = next((each for each in (*args, kwargs.get("env")) if isinstance(each, dict)), {})
        self.is_armed = environment.get("PATH", self._path) != self._path
        return 7

    def execute(self, command: str) -> object:
        operator = self.instance.task
        if self.is_bash:
            operator.bash_command = command
            return self.hook.run_command(command=["bash", "-c", command], env={"PATH": self._path})
        operator.command = command
        return operator.run_ssh_client_command(object(), command, context={})


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """The option that has the agent added to commands."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_COMMANDS", "True")
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__RECORDS", str(tmp_path))


@pytest.fixture(params=["BashOperator", "SSHOperator"])
def shell(request, tmp_path):
    """A task of each kind, and a `spark-submit` that it finds."""
    program = tmp_path / "spark-submit"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return Shell(request.param, str(tmp_path))


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize(("command", "is_spark"), [("spark-submit a.py", True), ("echo spark", False)])
def test_a_command_that_is_not_known_yet_is_looked_at_when_it_runs(
    listeners, extractors, shell, command, is_spark
):
    """As that of `@task.bash`: only one that may call Spark is captured."""
    before = dict(extractors)
    assert not started(listeners, shell.instance)
    assert extractors == before
    assert shell.execute(command) == 7
    assert (TASK.report_of(shell.instance) is not None) is is_spark
    assert (extractors != before) is is_spark
    assert shell.given == [command]
    assert shell.is_armed is (is_spark and shell.is_bash), "the other machine has no agent"


@pytest.mark.parametrize("command", ["spark-submit a.py", "echo spark"])
def test_without_the_option_a_command_is_only_reported(listeners, extractors, command):
    before, shell = dict(extractors), Shell("BashOperator")
    started(listeners, shell.instance)
    shell.execute(command)
    assert shell.given == [command]
    assert TASK.report_of(shell.instance) is None
    assert (extractors != before) is command.startswith("spark")


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize("is_over", [True, False])
def test_a_command_that_nobody_waits_for_runs_as_it_is(listeners, extractors, is_over):
    """After the task has ended, or if somebody has replaced the method, ours only passes the call on."""
    shell = Shell("BashOperator")
    original = shell.hook.run_command
    started(listeners, shell.instance)
    ours = shell.hook.run_command
    assert ours != original
    if is_over:
        ending = listeners.hook.on_task_instance_failed
        ending(previous_state=None, task_instance=shell.instance, error=ValueError())
        assert shell.hook.run_command == original
    else:
        shell.hook.run_command = functools.partial(ours, cwd=None)
    assert shell.execute("spark-submit a.py") == 7
    assert shell.given == ["spark-submit a.py"]


@pytest.mark.parametrize("class_name", ["BashOperator", "SSHOperator"])
@pytest.mark.parametrize(("command", "is_spark"), [("spark-submit a.py", True), ("echo spark", False)])
def test_a_command_that_runs_by_other_means_is_reported_at_the_end(
    listeners, extractors, class_name, command, is_spark
):
    """As of a subclass with a process of its own: OpenLineage's listener asks after ours."""
    before, shell = dict(extractors), Shell(class_name)
    started(listeners, shell.instance)
    setattr(shell.instance.task, "bash_command" if shell.is_bash else "command", command)
    assert extractors == before
    listeners.hook.on_task_instance_success(previous_state=None, task_instance=shell.instance)
    assert (extractors != before) is is_spark


@pytest.mark.parametrize("exclude", ["*.t", ""])
def test_a_command_of_a_task_that_the_lists_leave_out_is_not_looked_at(
    listeners, extractors, exclude, monkeypatch
):
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_EXCLUDE", exclude)
    before, shell = dict(extractors), Shell("BashOperator")
    started(listeners, shell.instance)
    shell.execute("spark-submit a.py")
    assert (extractors == before) is bool(exclude)


@pytest.mark.parametrize(("command", "is_captured"), [("spark-submit a.py", True), ("echo spark", False)])
def test_commands_of_shells_are_captured_if_the_user_says_so(
    listeners, extractors, command, is_captured, monkeypatch
):
    """One that may submit a job: it is known when the task starts."""

    def subject() -> SimpleNamespace:
        hook = SimpleNamespace(run_command=print)
        return instance("BashOperator", bash_command=command, env=None, cwd=None, subprocess_hook=hook)

    assert not started(listeners, subject())
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_COMMANDS", "True")
    assert started(listeners, subject()) == is_captured


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
