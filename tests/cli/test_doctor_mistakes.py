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
from airflow_provider_spark_lineage.cli.doctor.found import Found, Unreadable

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
