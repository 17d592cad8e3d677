"""Operators that launch Spark elsewhere, which get our extractor, and commands of shells as they are run."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import pytest
from foreign_tasks import Task, instance, started

from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.airflow.task.process import TASK

pytestmark = pytest.mark.airflow


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
