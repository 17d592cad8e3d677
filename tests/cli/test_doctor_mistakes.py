"""Each mistake that `spark-lineage doctor` knows, planted one by one: its message, and the exit code.

The mistakes are rows of the modules in `doctor_mistakes/`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cli.doctor_machine import (
    AIRFLOW,
    INSTALLATION,
    OURS,
    USERS,
    Machine,
    airflow,
    extractor,
    installed,
    options,
    plugins,
    unreadable,
)
from cli.doctor_mistakes import extractors, machine, settings, transports
from click.testing import CliRunner

from airflow_provider_spark_lineage.cli import doctor, main
from airflow_provider_spark_lineage.cli.doctor.model import Airflow, Extractor, Installation

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"
PLANTED = [*machine.PLANTED, *settings.PLANTED, *extractors.PLANTED]
Report = Callable[..., tuple[int, str]]


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Return a function that runs the command on a machine, through its public face."""

    def run(planted: Installation | Machine, *arguments: str) -> tuple[int, str]:
        on = planted if isinstance(planted, Machine) else Machine(planted)
        findings = on.planted(tmp_path, monkeypatch)
        monkeypatch.setattr(doctor, "look", lambda _: findings)
        done = CliRunner().invoke(main, ["doctor", *arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout

    return run


def levels() -> dict[str, str]:
    """Return the levels of all mistakes in docs/doctor.md."""
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {row[1].strip(" `"): row[2].strip() for row in rows if len(row) == 6}


@pytest.mark.parametrize(
    ("planted", "name", "words"), PLANTED, ids=lambda value: value if type(value) is str else ""
)
def test_planted_mistake_is_named_with_its_cure(planted, name, words, report):
    """A mistake in a setting ends in silence: no event, and no line that a user would read."""
    code, text = report(planted, "--json")
    findings = [each for each in json.loads(text)["findings"] if each["mistake"] == name]
    assert findings, text
    assert any(all(word in each["advice"] for word in words) for each in findings), findings
    level = levels()[name]
    assert all(each["level"] == level for each in findings)
    assert code == 1 or level == "note"
    assert "hunter2" not in text


@pytest.mark.parametrize("arguments", [(), ("--json",)])
@pytest.mark.parametrize("planted", [INSTALLATION, *machine.RIGHT])
def test_right_configuration_has_no_finding(report, planted, arguments):
    """A report that cries wolf is not read."""
    code, text = report(planted, *arguments)
    assert code == 0
    if arguments:
        findings = json.loads(text)["findings"]
        assert [each for each in findings if each["level"] != "ok" or each["advice"]] == []
    else:
        assert "Note:" not in text
        assert "Lineage can work here." in text


SEVERAL = f"{OURS}, {USERS}"
TWO = {**INSTALLATION.requirements, "openlineage-python": ("apache-airflow-providers-openlineage>=2.20",)}


@pytest.mark.parametrize(
    ("planted", "names"),
    [
        # What two packages require of a third.
        (
            replace(installed(apache_airflow_providers_openlineage="2.3.0"), requirements=TWO),
            ["package-version"],
        ),
        # `pip install pyspark-client` over PySpark.
        (
            Machine(installed(pyspark_client="4.2.0"), files={"pyspark/version.py": "__version__ = '4.2.0'"}),
            ["spark-files"],
        ),
        (Machine(variables={"SPARK_HOME": "{here}/pyspark"}), ["spark-home-missing"]),
        (unreadable(transport="AirflowConfigException"), ["transport-unreadable"]),
        # Several extractors in one entry.
        (
            airflow(
                texts={**AIRFLOW.texts, "extractors": SEVERAL},
                plugins=extractor(
                    SEVERAL, error="ModuleNotFoundError: No module named 'x'", is_import_error=True
                ).airflow.plugins,
            ),
            ["list-separator"],
        ),
        (
            plugins(
                listener_error="Airflow raises RuntimeError: no licence",
                extractors=(*AIRFLOW.plugins.extractors, Extractor(USERS, error="RuntimeError: no licence")),
            ),
            ["extractor-breaks-plugin"],
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_one_cause_is_one_finding(planted, names, report):
    """Two sentences about one cause are read as two things to do."""
    _, text = report(planted, "--json")
    assert [each["mistake"] for each in json.loads(text)["findings"] if each["mistake"]] == names


def test_findings_come_first(report):
    """In a terminal the end scrolls away last, in a ticket people read the beginning."""
    planted = Machine(options(selective_enable=True), variables={"JAVA_HOME": "", "PATH": "/no"})
    _, text = report(planted)
    lines = text.splitlines()
    assert lines[0] == "To fix:"
    assert lines[1].startswith("1. Spark needs Java")
    assert lines[2].startswith("Note: `[openlineage] selective_enable`")
    assert [line.split()[-1] for line in lines[5:8]] == ["fix", "note", "ok"]


def test_a_pipe_has_no_width(report):
    """A script that looks for a line finds it whole, however long the value is."""
    name = "team " * 100
    _, text = report(options(namespace=name))
    assert any(name.strip() in line for line in text.splitlines())
    assert all(line == line.rstrip() for line in text.splitlines())


def test_auto_capture_that_is_switched_off_is_meant(report):
    """The note is for people who do not know the option; writing False shows that they do."""
    off = {**AIRFLOW.own_values, "auto_capture": False}
    named = {**AIRFLOW.options, "custom_extractors": set()}
    _, text = report(airflow(own_texts={"auto_capture": "False"}, own_values=off, options=named))
    assert "Note:" not in text


def test_page_lists_every_mistake_and_each_has_been_planted():
    """docs/doctor.md is where a user looks a name up; a finding without a planted mistake is untested."""
    planted = {name for _, name, _ in [*PLANTED, *transports.PLANTED]}
    assert set(levels()) == planted | {"check-failed"}


def test_check_that_raises_hides_no_other_finding(report):
    """The doctor is run where things are broken: it reports, whatever it meets."""
    code, text = report(options(selective_enable=True, disabled_operators={1}), "--json")
    names = {each["mistake"] for each in json.loads(text)["findings"]}
    assert {"check-failed", "selective-enable"} <= names
    assert code == 0


def test_machine_without_airflow_is_examined(report):
    """Spark alone is enough for `spark-lineage run`; packages missing for Airflow are named."""
    code, text = report(replace(installed(apache_airflow=None), airflow=Airflow()))
    assert code == 1
    assert "pip install apache-airflow`" in text


def test_secrets_are_in_no_report(report, monkeypatch):
    """The report is pasted into tickets: text quoted by an exception may hold a password."""
    reason = "OSError: http://me:swordfish@host/x?token=abc refused hunter2hunter2 and tr0ub4dor"
    monkeypatch.setenv("COMPANY_API_KEY", "tr0ub4dor")
    for planted in (
        extractor(error=reason, is_import_error=True),
        plugins(listener_error=reason),
        airflow(error=reason, transport=AIRFLOW.transport),
        unreadable(namespace=reason),
    ):
        for arguments in ((), ("--json",)):
            _, text = report(planted, *arguments)
            assert "refused" in text
            assert not any(secret in text for secret in ("swordfish", "hunter2", "tr0ub4dor"))
