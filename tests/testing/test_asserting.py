"""Arguments of `assert_lineage`, and its refusals: a sentence in place of a traceback."""

from __future__ import annotations

import json

import pytest

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Events,
    Expected,
    LineageDiffersError,
    assert_lineage,
    compare,
)

KEY = "dag.task.event.start"
EVENT = {"eventType": "START", "run": {"runId": "1"}, "job": {"namespace": "n", "name": "dag.task"}}


@pytest.mark.parametrize("events", [[EVENT], (EVENT,), iter([EVENT]), Events.of([EVENT])])
def test_events_may_be_plain(events):
    """Whoever has events as dictionaries passes them as they are."""
    assert assert_lineage({KEY: {}}, events, without=RELATIONS).matched == 1


@pytest.mark.parametrize(
    ("expected", "events", "message"),
    [
        ({KEY: {}}, EVENT, "The events are an object; give a file, a folder, or a list of events."),
        ({KEY: {}}, 5, "The events are an integer; give"),
        ({KEY: {}}, [EVENT, 5], "The list of events has an item that is not a mapping."),
        ({5: {}}, [EVENT], "a key is not a string."),
        ([EVENT], [EVENT], "The expected events are a list; give a file, a folder, or a mapping of"),
        (None, [EVENT], "The expected events are null; give"),
    ],
)
def test_other_arguments_are_refused(expected, events, message):
    """A wrong argument is named, and the right one."""
    with pytest.raises(BadInputError) as error:
        assert_lineage(expected, events)
    assert message in str(error.value)


def test_one_rule_needs_no_list():
    """A rule that is turned off as a string is that rule, and not its letters."""
    report = compare(Expected.of({KEY: {}}), Events.of([EVENT]), without="schemas")
    assert "schemas" not in report.relations
    assert len(report.relations) == len(RELATIONS) - 1
    with pytest.raises(BadInputError, match=r"`strat_first` is not a relation .* did you mean `start_first`"):
        compare(Expected.of({KEY: {}}), Events.of([EVENT]), without="strat_first")


def test_a_failure_names_the_kept_events(tmp_path):
    """A failure has the place of the events; for events in memory it has no such line."""
    file = tmp_path / "events.jsonl"
    file.write_text(json.dumps(EVENT))
    with pytest.raises(LineageDiffersError) as error:
        assert_lineage({KEY: {"job": {"name": "x"}}}, file, without=RELATIONS)
    assert error.value.lines[-1].text == f"kept: events in {file}"
    with pytest.raises(LineageDiffersError) as error:
        assert_lineage({KEY: {"job": {"name": "x"}}}, [EVENT], without=RELATIONS)
    assert "kept" not in str(error.value)


def checked(kind: str, *, success: bool, severity: str = "error"):
    """Return the event of a task that checked a dataset."""
    found = [
        {
            "assertion": "not_null",
            "name": "id.null_check",
            "column": "id",
            "success": True,
            "severity": "error",
            "expected": "0",
            "actual": "0",
        },
        {
            "assertion": "positive",
            "name": "positive",
            "success": success,
            "severity": severity,
            "expected": "0",
            "actual": "3",
        },
    ]
    facets = {"dataQualityAssertions": {"assertions": found}}
    read = {"namespace": "file", "name": "/lake/orders", "facets": facets, "inputFacets": facets}
    return {**EVENT, "eventType": kind, "inputs": [read]}


def failure_of(expected, event):
    with pytest.raises(LineageDiffersError) as error:
        assert_lineage(expected, [event], scope="all", without=RELATIONS)
    return error.value.report


CHECKS = [
    "checks of file /lake/orders",
    "  failed  positive             error   expected 0, found 3",
    "  passed  id.null_check   id   error   expected 0, found 0",
]


def test_a_check_that_failed_is_a_line_below_the_value_that_differs():
    """Beside `true` and `false`, a person reads which check it is, what it expects and what it found."""
    facet = {"dataQualityAssertions": {"assertions": [{"name": "id.null_check"}, {"name": "positive"}]}}
    facet["dataQualityAssertions"]["assertions"][1]["success"] = True
    expected = {"dag.task.event.fail": {"inputs": [{"namespace": "file", "name": "/lake/orders"}]}}
    expected["dag.task.event.fail"]["inputs"][0]["inputFacets"] = facet
    report = failure_of(expected, checked("FAIL", success=False))
    assert report.text().splitlines()[:-2] == [
        "changed     dag.task.event.fail  (event 1)",
        "  inputs[file /lake/orders].inputFacets.dataQualityAssertions.assertions[positive].success"
        " has another value",
        "    expected  true",
        "    actual    false",
        *(f"  {line}" for line in CHECKS),
    ]
    assert report.as_dict()["differences"][0]["checks"] == CHECKS


def test_a_task_that_failed_by_a_check_shows_it():
    """The FAIL event comes unexpected, and its checks are the reason."""
    report = failure_of({"dag.task.event.complete": {}}, checked("FAIL", success=False))
    text = report.text()
    unexpected = text[text.index("unexpected") :].splitlines()
    assert unexpected[2:5] == [f"  {line}" for line in CHECKS]


def test_checks_are_not_shown_where_they_are_not_the_matter():
    """Other differences, and events whose checks passed, have no lines about checks."""
    other = failure_of({"dag.task.event.fail": {"outputs": []}}, checked("FAIL", success=False))
    passed = failure_of({"dag.task.event.start": {}}, checked("COMPLETE", success=True))
    assert "checks of" not in other.text() + passed.text()
    assert "checks" not in other.as_dict()["differences"][0]


def test_a_check_of_no_dataset_is_shown_too():
    """Checks over several tables are in the run facet `test`."""
    event = {**EVENT, "eventType": "FAIL"}
    tests = [{"name": "totals", "status": "fail", "expected": "4", "actual": "5"}]
    event["run"] = {"runId": "1", "facets": {"test": {"tests": tests}}}
    expected = {
        "dag.task.event.fail": {
            "run": {"facets": {"test": {"tests": [{"name": "totals", "status": "pass"}]}}}
        }
    }
    assert (
        "\n  checks of no single dataset\n    failed  totals   expected 4, found 5\n"
        in failure_of(expected, event).text()
    )
