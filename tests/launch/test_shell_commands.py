"""Commands of a shell: which Spark applications they start, by their text."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage.airflow.launch.application import Launch, LaunchedApplication
from airflow_provider_spark_lineage.airflow.launch.facets import _entry
from airflow_provider_spark_lineage.airflow.launch.shell.operators import of_bash, of_ssh

CASES = (Path(__file__).parent / "commands.txt").read_text().partition("\n\n")[2].split("\n----\n")


@pytest.mark.parametrize("case", CASES)
def test_a_script_says_which_applications_it_starts(case):
    """As `commands.txt` has it."""
    script, _, expected = case.rstrip("\n").rpartition("\n=> ")
    operator = SimpleNamespace(bash_command=script, env={"GIVEN": "env"}, append_env=False, cwd=None)
    assert (written(of_bash(operator)) or "none").replace("\n", "\\n") == expected


def written(launch: Launch | None) -> str | None:
    if launch is None:
        return None
    return ", ".join([*map(line, launch.applications), *(f"!{problem}" for problem in launch.problems)])


def line(application: LaunchedApplication) -> str:
    fields = {
        "text": application.statements,
        "class": application.main_class,
        "conf": pairs(application.conf),
        "with": pairs({k: v for k, v in application.variables.items() if k != "GIVEN"}),
        "in": "?" if application.directory is None else application.directory,
    }
    arguments = "|".join("?" if word is None else word for word in application.arguments)
    words = [application.kind, application.main, f"[{arguments}]"]
    words += [f"{name}={value}" for name, value in fields.items() if value]
    words += ["here"] * application.is_here
    words += [f"!{application.problem}"] * bool(application.problem)
    return " ".join(words)


def pairs(values: dict[str, str]) -> str:
    return ",".join(f"{name}:{value}" for name, value in sorted(values.items()))


def test_a_command_inherits_the_workers_environment_as_bash_does(monkeypatch):
    """`env` replaces it, unless `append_env` adds to it; the script's own variables are the given ones."""
    monkeypatch.setenv("FROM_WORKER", "w")
    for env, append, argument in ((None, False, "w"), ({"A": "1"}, False, "?"), ({"A": "1"}, True, "w")):
        operator = SimpleNamespace(
            bash_command="spark-submit /a.py $FROM_WORKER", env=env, append_env=append, cwd="/jobs"
        )
        given = f" with={pairs(env)}" if env else ""
        assert written(of_bash(operator)) == f"python /a.py [{argument}]{given} in=/jobs/ here"


def test_a_command_on_another_machine_has_no_file_here():
    operator = SimpleNamespace(command="spark-submit /a.py $A", environment={"A": "1"})
    assert written(of_ssh(operator)) == "python /a.py [1]"
    assert of_ssh(SimpleNamespace(command=None, environment=None)) is None


@pytest.mark.parametrize(
    "script", ["eval " * 1000 + "spark-submit a.py", "spark-submit " + "$(" * 20_000 + ")" * 20_000]
)
def test_scripts_inside_scripts_end(script):
    """Each is read twice, so there is a limit, with a gap."""
    launch = of_bash(SimpleNamespace(bash_command=script, env=None, append_env=False, cwd=None))
    assert launch.applications == ()
    assert "it is nested too deeply" in launch.problems[0]


def test_a_command_that_is_not_known_yet_is_none():
    """`@task.bash` has an object that is not a text until it runs."""
    assert of_bash(SimpleNamespace(bash_command=object(), env=None, append_env=False, cwd=None)) is None


@pytest.mark.parametrize(
    ("script", "shown"),
    [
        ("spark-submit /a.py etl $DB_PASSWORD", "etl ${DB_PASSWORD}"),
        ("spark-submit /a.py --name \"$DB_PASSWORD\" 'a b' ${DAY:-x}", "--name ${DB_PASSWORD} 'a b' ${DAY}"),
        ("X=$DB_PASSWORD; spark-submit /a.py jdbc:x:$X $(date)", "jdbc:x:${X} ***"),
        ("ALL='/a.py hunter2'; spark-submit $ALL b", "*** b"),
        ('bash -c "spark-submit /a.py $DB_PASSWORD $DAY"', "${DB_PASSWORD} ${DAY}"),
        ('eval "spark-submit /a.py $DB_PASSWORD" $DAY', "${DB_PASSWORD} ${DAY}"),
        ("x=$(spark-submit /a.py $DB_PASSWORD $DAY)", "${DB_PASSWORD} ${DAY}"),
        ("bash -s <<END\nspark-submit /a.py $DB_PASSWORD $DAY\nEND\n", "*** ***"),
        ('ssh edge "spark-submit /a.py $DB_PASSWORD $(id) $DAY"', "${DB_PASSWORD} *** ${DAY}"),
        ('bash -c "spark-submit /a.py $DAY"', "${DAY}"),
        ("bash -c 'spark-submit /a.py $DAY'", "${DAY}"),
    ],
)
def test_no_variable_has_its_value_in_an_event(script, shown, monkeypatch):
    """Arguments are shown as the command has them; the reader of a script's text gets no secret either."""
    monkeypatch.setenv("DB_PASSWORD", "hunter2")
    monkeypatch.setenv("DAY", "hunter2")
    launch = of_bash(
        SimpleNamespace(bash_command=script, env={"API_KEY": "hunter2"}, append_env=True, cwd=None)
    )
    for application in launch.applications if launch else ():
        assert (_entry(application, with_arguments=True)[-1] or None) == shown
        assert "hunter2" not in application.main + application.name + str(dict(application.variables))
    assert bool(launch) is bool(shown)
