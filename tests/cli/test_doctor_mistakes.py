"""Each mistake that `spark-lineage doctor` knows, planted one by one: what it says, and its exit code.

The mistakes are rows of the modules in `doctor_mistakes/`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cli.doctor_found import (
    AIRFLOW,
    FOUND,
    OURS,
    USERS,
    airflow,
    extractor,
    installed,
    options,
    plugins,
    variables,
)
from cli.doctor_mistakes import extractors, machine, provider, settings
from click.testing import CliRunner

from airflow_provider_spark_lineage.cli import doctor, main
from airflow_provider_spark_lineage.cli.doctor.finding import MISTAKES
from airflow_provider_spark_lineage.cli.doctor.found import Extractor, Found, Java, Unreadable

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"

PLANTED = [*machine.PLANTED, *provider.PLANTED, *extractors.PLANTED, *settings.PLANTED]


def report(monkeypatch: pytest.MonkeyPatch, found: Found, *arguments: str) -> tuple[int, str]:
    """Run the command on what was found, through its public face."""
    monkeypatch.setattr(doctor, "look", lambda **_: found)
    done = CliRunner().invoke(main, ["doctor", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout


@pytest.mark.parametrize(
    ("found", "name", "words"), PLANTED, ids=lambda value: value if type(value) is str else ""
)
def test_planted_mistake_is_named_with_its_cure(found, name, words, monkeypatch):
    """A mistake in a setting ends in silence: no event, and no line that a user would read."""
    code, text = report(monkeypatch, found, "--json")
    findings = [each for each in json.loads(text)["findings"] if each["mistake"] == name]
    assert findings, text
    assert any(all(word in each["advice"] for word in words) for each in findings), findings
    assert all(each["level"] == MISTAKES[name] for each in findings)
    assert code == 1 or MISTAKES[name] == "note"
    assert "hunter2" not in text


def test_several_extractors_in_one_entry_are_one_mistake(monkeypatch):
    """Two sentences about one comma look like two mistakes."""
    entry = f"{OURS}, {USERS}"
    planted = extractor(entry, error="ModuleNotFoundError: No module named 'x'", is_import_error=True)
    found = replace(planted, airflow=replace(planted.airflow, texts={**AIRFLOW.texts, "extractors": entry}))
    _, text = report(monkeypatch, found, "--json")
    assert [each["mistake"] for each in json.loads(text)["findings"] if each["advice"]] == ["list-separator"]


TWO = {**FOUND.requirements, "openlineage-python": ("apache-airflow-providers-openlineage>=2.20",)}


@pytest.mark.parametrize(
    ("found", "names"),
    [
        # What two packages require of a third.
        (
            replace(installed(apache_airflow_providers_openlineage="2.3.0"), requirements=TWO),
            ["package-version"],
        ),
        # `pip install pyspark-client` over PySpark.
        (replace(installed(pyspark_client="4.2.0"), spark_in_files="4.2.0"), ["spark-files"]),
        (
            replace(options(is_disabled=True), environment={"OPENLINEAGE_DISABLED": "true"}),
            ["openlineage-off"],
        ),
        (
            airflow(
                options={**AIRFLOW.options, "is_disabled": Unreadable("AirflowConfigException", "")},
                texts={**AIRFLOW.texts, "transport": "'{}'"},
            ),
            ["transport-unreadable"],
        ),
        (
            airflow(
                options={**AIRFLOW.options, "execution_timeout": Unreadable("ValueError", "no int")},
                texts={**AIRFLOW.texts, "execution_timeout": "'10'"},
                known_options=AIRFLOW.known_options | {"execution_timeout"},
            ),
            ["option-quoted"],
        ),
        (
            airflow(
                options={
                    **AIRFLOW.options,
                    "is_disabled": Unreadable("ValueError", ""),
                    "disabled_option": Unreadable("ValueError", "no boolean"),
                },
                texts={**AIRFLOW.texts, "disabled": "'False'"},
            ),
            ["option-quoted"],
        ),
        (
            extractor(
                error="ModuleNotFoundError: No module named 'openlineage.airflow'",
                is_import_error=True,
                legacy_names=("openlineage.airflow",),
            ),
            ["legacy-task-metadata"],
        ),
        (
            plugins(
                has_listener=False,
                listener_error="RuntimeError: no licence",
                extractors=(*AIRFLOW.plugins.extractors, Extractor(USERS, error="RuntimeError: no licence")),
            ),
            ["extractor-breaks-plugin"],
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_one_cause_is_one_finding(found, names, monkeypatch):
    """Two sentences about one cause are read as two things to do."""
    _, text = report(monkeypatch, found, "--json")
    assert [each["mistake"] for each in json.loads(text)["findings"] if each["mistake"]] == names


def test_what_is_wrong_comes_first(monkeypatch):
    """In a terminal the end is what scrolls away last, in a ticket the beginning is what is read."""
    found = replace(options(namespace="default"), java=Java())
    _, text = report(monkeypatch, found)
    lines = text.splitlines()
    assert lines[0] == "To fix:"
    assert lines[1].startswith("1. Spark needs Java")
    assert lines[2].startswith("Note: All jobs are in")
    assert [line.split()[-1] for line in lines[5:8]] == ["fix", "note", "ok"]


def test_a_pipe_has_no_width(monkeypatch):
    """A script that looks for a line finds it whole, however long the value is."""
    name = "team " * 100
    _, text = report(monkeypatch, options(namespace=name))
    assert any(name.strip() in line for line in text.splitlines())
    assert all(line == line.rstrip() for line in text.splitlines())


def test_auto_capture_that_is_switched_off_is_meant(monkeypatch):
    """Who has written False knows: the note is for those who have not heard of the option."""
    off = {**AIRFLOW.own_values, "auto_capture": False}
    named = {**AIRFLOW.options, "custom_extractors": set()}
    found = airflow(own_texts={"auto_capture": "False"}, own_values=off, options=named)
    _, text = report(monkeypatch, found)
    assert "Note:" not in text


def test_every_mistake_has_been_planted():
    """A finding that nobody has seen is one that may not be given."""
    assert {name for _, name, _ in PLANTED} == set(MISTAKES) - {"check-failed"}


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--airflow", "--json")])
def test_right_configuration_has_no_finding(monkeypatch, arguments):
    """A report that cries wolf is not read."""
    code, text = report(monkeypatch, FOUND, *arguments)
    assert code == 0
    if "--json" in arguments:
        assert [
            each for each in json.loads(text)["findings"] if each["level"] != "ok" or each["advice"]
        ] == []
    else:
        assert "Note:" not in text
        assert "Lineage can work here." in text


def test_check_that_raises_hides_no_other_finding(monkeypatch):
    """The doctor is run where things are broken: it reports, whatever it meets."""
    broken = options(namespace="default", disabled_operators={1})
    code, text = report(monkeypatch, broken, "--json")
    names = {each["mistake"] for each in json.loads(text)["findings"]}
    assert {"check-failed", "namespace-default"} <= names
    assert code == 0


def test_machine_without_airflow_is_examined(monkeypatch):
    """Spark alone is enough for `spark-lineage run`; what is missing for Airflow is named."""
    found = replace(installed(apache_airflow=None), airflow=None)
    code, text = report(monkeypatch, found)
    assert code == 1
    assert "pip install apache-airflow`" in text


def test_page_lists_every_mistake():
    """docs/doctor.md is where a user looks a name up: each has a row, with its level."""
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    listed = {row[1].strip(" `"): row[2].strip() for row in rows if len(row) == 6}
    assert listed == dict(MISTAKES)


def test_secrets_are_in_no_report(monkeypatch):
    """The report is pasted into tickets: what an exception quotes may hold a password."""
    reason = "OSError: http://me:swordfish@host/x?token=abc refused hunter2hunter2"
    for found in (
        extractor(error=reason, is_import_error=True),
        plugins(has_listener=False, listener_error=reason),
        airflow(error=Unreadable("OSError", reason)),
        options(namespace=Unreadable("OSError", reason)),
        variables(OPENLINEAGE_URL="http://me:swordfish@host", OPENLINEAGE_API_KEY="hunter2hunter2"),
    ):
        for arguments in ((), ("--json",)):
            _, text = report(monkeypatch, found, *arguments)
            assert "swordfish" not in text
            assert "hunter2" not in text
