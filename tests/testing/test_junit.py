"""The report for CI servers: a case per expected event and per relation, failed where something is wrong."""

from __future__ import annotations

import copy
import json
from typing import Any
from xml.etree import ElementTree

from click.testing import CliRunner
from testing.whole_run import run_id, whole_run

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.testing import RELATIONS, Events, Expected, Report, compare


def report_of(events: list[dict[str, Any]], **options: Any) -> Report:
    """The whole run is expected, whatever was emitted."""
    keys: dict[str, list[Any]] = {}
    for event in Events.of(whole_run()):
        keys.setdefault(event.key, []).append(copy.deepcopy(event.document))
    return compare(Expected.of(keys), Events.of(events), **options)


def cases(report: Report) -> dict[str, str]:
    """Class and name of each case, and `passed`, `failure` or `error`."""
    root = ElementTree.fromstring(report.junit())  # noqa: S314 - our own
    return {
        f"{case.get('classname', '').removeprefix('spark-lineage.')} {case.get('name')}": next(
            (child.tag for child in case), "passed"
        )
        for case in root.iter("testcase")
    }


def test_a_good_run():
    """Every expected event and every rule is a case, and all pass; several of one key are numbered."""
    found = cases(report_of(whole_run()))
    assert set(found.values()) == {"passed"}
    assert len(found) == 14 + len(RELATIONS)
    assert {
        "event shop.by.part.event.start",
        "event shop.by.part.event.start (2)",
        "relation parents",
    } <= found.keys()


def test_wrong_runs():
    """A changed, a missing and an unexpected event fail as themselves, a broken relation as its rule."""
    events = whole_run()
    events[0]["inputs"] = [{"namespace": "a", "name": "b"}]
    stray = {**events[-1], "job": {"namespace": "tests", "name": "stray"}}
    stray["run"] = {"runId": run_id(99), "facets": {}}
    del events[3]
    report = report_of([*events, stray])
    wrong = {name: state for name, state in cases(report).items() if state != "passed"}
    assert wrong == {
        "event shop.load.event.start": "failure",
        "event shop.load.orders.event.complete": "failure",
        "unexpected stray.event.complete": "failure",
        "relation start_first": "failure",
        "relation one_terminal": "failure",
    }
    root = ElementTree.fromstring(report.junit())  # noqa: S314
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("22", "5", "0")
    (changed,) = root.findall(".//testcase[@name='shop.load.event.start']/failure")
    assert "inputs[a b] is not expected in the list" in (changed.text or "")
    assert (suite.findtext("system-out") or "").endswith(report.summary)


def test_rules_that_are_off_are_no_cases():
    """A rule that was not checked has not passed."""
    assert "relation schemas" not in cases(report_of(whole_run(), without=("schemas",)))


def test_problems_are_errors():
    """What could not be read is an error, which no CI server overlooks."""
    events = Events(Events.of(whole_run()).items, ("events.jsonl, line 2: not JSON.",))
    report = compare(Expected.of({"shop.event.complete": {}}, scope="keys"), events)
    assert cases(report)["readable problem"] == "error"


def test_any_text_can_be_written():
    """Control characters and half characters come from anywhere, and XML may hold none of them."""
    events = whole_run()
    events[0]["job"]["name"] = "odd \x00 \ud800 <&\"'> ]]> \U0001f600"
    events[0]["run"]["facets"].pop("airflow")
    text = report_of(events).junit()
    assert ElementTree.fromstring(text.encode()) is not None  # noqa: S314
    assert "\U0001f600" in text


def test_the_command_writes_it(tmp_path):
    """`--junit` writes the file besides what is printed; where it cannot, that is bad input."""
    (tmp_path / "expected.yaml").write_text("shop.event.complete: {}\n")
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, whole_run())))
    arguments = [
        "compare",
        "--expected",
        str(tmp_path / "expected.yaml"),
        "--events",
        str(tmp_path / "events.jsonl"),
    ]
    file = tmp_path / "report.xml"
    result = CliRunner().invoke(main, [*arguments, "--scope", "keys", "--junit", str(file)])
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "1 event matches, 0 differ")
    assert 'errors="0"' in file.read_text()
    result = CliRunner().invoke(main, [*arguments, "--junit", str(tmp_path / "none" / "report.xml")])
    assert result.exit_code == 2
    assert "report.xml: cannot be written (No such file or directory)" in result.stderr
