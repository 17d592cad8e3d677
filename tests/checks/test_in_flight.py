"""Checks that ride on a write: what follows from numbers that Spark may have counted wrongly."""

from __future__ import annotations

import datetime
import logging
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from openlineage.client.facet_v2 import data_quality_assertions_dataset

from airflow_provider_spark_lineage.checks import Assertion, check, report_assertions
from airflow_provider_spark_lineage.spark.checks.assertion import Findings, Metrics
from airflow_provider_spark_lineage.spark.checks.checks import measures_of
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.in_flight import (
    ChecksInFlight,
    FrameChecks,
    WrittenDataset,
    register,
)
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks
from airflow_provider_spark_lineage.spark.plan.spark.observed_rows import ObservedColumn, ObservedRows, Rows
from airflow_provider_spark_lineage.spark.records.observed import value_of

COLUMNS = {
    "id": {"null_check": {"equal_to": 0}, "sum": {"geq_to": 1}, "min": {"geq_to": 5}},
    "name": {"max": {"leq_to": "K"}, "null_check": {"leq_to": 3}},
}
RULES = {"positive": {"check_statement": "id > 0", "severity": "warn"}, "many": "count(*) = 10"}
VALUES = {
    "rows": 10,
    "column id null_check": 2,
    "column id sum": 45,
    "column id min": 1,
    "column name max": "Zoe",
    "column name null_check": 0,
    "statement positive": 0,
    "statement positive rows": 10,
    "statement many": 1,
    "compared many": 10,
    "statement many rows": 10,
}
WRITTEN = WrittenDataset("file", "/out", 10, is_whole=True, ended_at="2026-01-01T00:00:00+00:00")
UNCOUNTED = replace(WRITTEN, rows=None)


NAMES = {"id": "id", "name": "name"}


def frame_checks(label: str = "", observation: str = "one") -> FrameChecks:
    checks = (*column_checks(COLUMNS), *row_checks(RULES))
    keys = measures_of(checks, NAMES)
    return FrameChecks(observation, label, checks, NAMES, {key: (key, 0) for key in keys})


NUMBERS = {key: frozenset({1} if " id " in key else {2} if " name " in key else ()) for key in VALUES}
NUMBERS["statement positive"] = frozenset({1})
KEPT = {1: ObservedColumn("id", "id"), 2: ObservedColumn("name", "name")}
ALL = ObservedRows(Rows.ALL, uses=NUMBERS, columns=KEPT)
PART = replace(ALL, rows=Rows.PART, reason="after check(), rows may be left out (GlobalLimit)")
OTHER = replace(ALL, rows=Rows.OTHER, reason="after check(), rows may be added (Union)")


def found(
    miscounted: str = "", written: WrittenDataset = WRITTEN, rows: ObservedRows = ALL, **values: Any
) -> Findings:
    return frame_checks().findings({**VALUES, **values}, miscounted, rows, written)


def results(findings: Findings) -> dict[str, Any]:
    return {
        each.name: None if each.not_evaluated else (each.success, each.actual) for each in findings.assertions
    }


RIGHT = {
    "id.null_check": (False, "2"),
    "id.sum": (True, "45"),
    "id.min": (False, "1"),
    "name.max": (False, "Zoe"),
    "name.null_check": (True, "0"),
    "positive": (True, "0"),
    "many": (True, "10"),
}


def test_counts_of_the_written_rows_are_used():
    """Also if Spark does not say how many rows it wrote. Appended rows are not the dataset: no metrics."""
    assert results(found()) == results(found(written=UNCOUNTED)) == RIGHT
    assert (found().metrics.rows, found().metrics.columns["id"].nulls) == (10, 2)
    assert found().output == ("file", "/out")
    assert found(written=replace(WRITTEN, is_whole=False)).metrics.rows is None


@pytest.mark.parametrize(("miscounted", "rows"), [("sort", 5), ("retry", 7), ("sort", None), ("retry", None)])
def test_what_a_second_count_cannot_change_stands(miscounted, rows):
    """Some or no failing rows, and extremes. The number of failing rows is not known any more."""
    findings = found(miscounted, replace(WRITTEN, rows=rows))
    assert results(findings) == {
        **RIGHT,
        "id.null_check": (False, "at least 1"),
        "id.sum": None,
        "many": None,
    }
    assert findings.metrics.rows is None
    [positive] = [each for each in findings.assertions if each.name == "positive"]
    assert "rows" not in positive.params


@pytest.mark.parametrize(("miscounted", "rows"), [("sort", ALL), ("retry", ALL), ("limit", PART), ("", PART)])
def test_counts_are_used_if_the_rows_are_as_many_as_the_written_ones(miscounted, rows):
    """A lost executor must not fail a task whose checks are fine, nor a filter that finds nothing."""
    assert results(found(miscounted, rows=rows)) == RIGHT


@pytest.mark.parametrize(
    ("miscounted", "rows", "count"),
    [("limit", PART, 7), ("", PART, 7), ("sort", PART, None), ("", PART, None), ("", ALL, 7)],
)
def test_of_a_part_only_the_absence_of_failing_rows_is_known(miscounted, rows, count):
    """The missing value, and the smallest one, may be in a row that is not written."""
    findings = found(miscounted, replace(WRITTEN, rows=count), rows)
    known = {name: result for name, result in results(findings).items() if result is not None}
    assert known == {"name.null_check": (True, "0"), "positive": (True, "0")}
    assert findings.metrics.rows is None


@pytest.mark.parametrize("rows", [OTHER, ObservedRows(Rows.OTHER, "unknown")])
def test_of_rows_that_may_be_others_nothing_is_known(rows):
    """Also if they are as many as the counted ones, and none of these breaks a rule."""
    findings = found(rows=rows)
    assert {each.not_evaluated for each in findings.assertions} == {rows.reason}
    assert not any(each.success for each in findings.assertions)
    assert findings.metrics == Metrics()


def test_nothing_is_known_of_a_column_that_changes():
    """Nor of a rule that needs it. What is about other columns, or about all rows, stands."""
    changed = replace(ALL, columns={**KEPT, 1: ObservedColumn("id", "id", "after check(), `id` is changed")})
    findings = found(rows=changed)
    lost = {name: None for name in RIGHT if name.startswith("id.") or name == "positive"}
    assert results(findings) == {**RIGHT, **lost}
    assert {each.not_evaluated for each in findings.assertions} == {"", "after check(), `id` is changed"}
    assert (findings.metrics.rows, [*findings.metrics.columns]) == (10, ["name"])


def test_a_check_is_about_the_column_that_has_the_checked_values():
    """Under its name in the dataset. A statement names the column as it was, so it says nothing there."""
    renamed = replace(ALL, columns={**KEPT, 1: ObservedColumn("key", "id")})
    findings = found(rows=renamed)
    assert results(findings) == {**RIGHT, "positive": None}
    assert [each.column for each in findings.assertions] == ["key"] * 3 + ["name"] * 2 + ["", ""]
    assert {*findings.metrics.columns} == {"key", "name"}
    [reason] = {each.not_evaluated for each in findings.assertions if each.not_evaluated}
    assert reason == "after check(), `id` has another name"


def test_some_missing_values_may_be_allowed():
    """Then their number matters, unless it is 0."""
    written = replace(WRITTEN, rows=5)
    doubted = frame_checks().findings({**VALUES, "column name null_check": 2}, "sort", ALL, written)
    assert results(doubted)["name.null_check"] is None


def test_a_value_that_spark_did_not_report_is_no_result():
    """A value that Python cannot hold is not reported either: a date after the year 9999."""
    values = {key: value for key, value in VALUES.items() if key != "column id sum"}
    findings = frame_checks().findings(
        {**values, "column id min": {"date": "+10000-01-01"}}, "", ALL, UNCOUNTED
    )
    assert {name for name, result in results(findings).items() if result is None} == {"id.sum", "id.min"}


def test_values_have_the_types_of_pyspark():
    """They are compared by type; a timestamp is local, as PySpark returns it."""
    moment = datetime.datetime(2026, 1, 31, 10, tzinfo=datetime.timezone.utc)
    assert value_of({"decimal": "0.10"}) == Decimal("0.1")
    assert value_of({"date": "2026-01-31"}) == datetime.date(2026, 1, 31)
    assert value_of({"timestamp": "2026-01-31T10:00:00Z"}) == moment.astimezone().replace(tzinfo=None)
    assert value_of({"timestamp_ntz": "2026-01-31T10:00"}) == datetime.datetime(2026, 1, 31, 10)
    assert str(value_of({"double": "NaN"})) == "nan"
    assert [value_of(plain) for plain in (None, True, 1, 1.5, "a")] == [None, True, 1, 1.5, "a"]
    with pytest.raises(ValueError, match="unknown type 'struct'"):
        value_of({"struct": "1"})


def test_a_warning_never_fails_a_task_and_a_missing_result_does():
    """The data are written: only what its author calls an error stops the DAG."""
    failures = found("sort", UNCOUNTED).failed_in_flight
    assert [each.name for each in failures] == ["id.null_check", "id.sum", "id.min", "name.max", "many"]
    warned = replace(failures[1], severity="warn")
    assert warned.not_evaluated
    assert Findings((warned,)).failed_in_flight == ()


def test_a_sentence_has_no_text_of_a_row_and_no_literal():
    """It is the text of an exception, which is in an event."""
    sentences = [each.sentence for each in found("sort", UNCOUNTED).assertions if not each.success]
    assert sentences == [
        "id.null_check: expected 0, found at least 1",
        "id.sum has no result: after check(), rows are sorted or partitioned by range, for which Spark "
        "counts them twice",
        "id.min: expected >=5, found 1",
        "name.max: expected something else, found another text",
        "many has no result: after check(), rows are sorted or partitioned by range, for which Spark "
        "counts them twice",
    ]


def plan_of(observation):
    """Return the plan of a write that follows the observation, whose numbers need a column each."""
    expressions = "org.apache.spark.sql.catalyst.expressions."
    metrics = [
        [
            {"class": expressions + "Alias", "num-children": 1, "name": key, "exprId": {"id": 90 + at}},
            {
                "class": expressions + "AttributeReference",
                "num-children": 0,
                "name": KEPT[min(ids)].name,
                "exprId": {"id": min(ids)},
            },
        ]
        if ids
        else [{"class": expressions + "Alias", "num-children": 0, "name": key, "exprId": {"id": 90 + at}}]
        for at, (key, ids) in enumerate(NUMBERS.items())
    ]
    nodes = "org.apache.spark.sql.catalyst.plans.logical."
    return [
        {"class": nodes + "InsertIntoHadoopFsRelationCommand", "num-children": 1},
        {"class": nodes + "CollectMetrics", "num-children": 1, "name": observation, "metrics": metrics},
        {"class": nodes + "LocalRelation", "num-children": 0, "output": []},
    ]


PLAN = plan_of("one")


SHARES = {"name": {"accepted_values": ["a"], "at_least": 0.7}}
RULE_WITH_A_SHARE = {"positive": {"check_statement": "id > 0", "at_least": 0.7}}


def shares(broken: int, miscounted: str, rows: ObservedRows, written: WrittenDataset) -> dict[str, Any]:
    """Return the results of two rules that some rows may break, if `broken` of 10 rows broke them."""
    checks = (*column_checks(SHARES), *row_checks(RULE_WITH_A_SHARE, accept_none=True))
    keys = measures_of(checks, NAMES)
    uses = {key: frozenset({2} if "name" in key else {1} if "positive" in key else ()) for key in keys}
    frame = FrameChecks("one", "", checks, NAMES, {key: (key, 0) for key in keys})
    values = {key: 10 if key == "rows" or key.endswith(" rows") else broken for key in keys}
    return results(frame.findings(values, miscounted, replace(rows, uses=uses), written))


@pytest.mark.parametrize(
    ("broken", "miscounted", "rows", "written_rows", "known"),
    [
        (2, "", ALL, 10, (True, "0.8")),
        (4, "", ALL, 10, (False, "0.6")),
        (2, "", PART, 10, (True, "0.8")),
        # A filter may leave the broken rows, and few others.
        (2, "", PART, 7, None),
        (4, "limit", PART, None, None),
        (2, "sort", ALL, 5, None),
        (4, "retry", ALL, None, None),
        (2, "", OTHER, 10, None),
        # No broken row among more rows is none among these.
        (0, "", PART, 7, (True, "1")),
        (0, "sort", ALL, 5, (True, "1")),
        (0, "", OTHER, 10, None),
    ],
)
def test_a_share_of_good_rows_is_that_of_the_written_rows(broken, miscounted, rows, written_rows, known):
    """Other than "no row breaks the rule", a share is another one in a part of the rows."""
    found = shares(broken, miscounted, rows, replace(WRITTEN, rows=written_rows))
    assert found == {"name.accepted_values": known, "positive": known}


def test_an_absent_column_is_skipped_and_fails_no_task():
    """Whatever happens to the rows: it is not a result of theirs."""
    skips = {"discount": {"min": {"geq_to": 0, "if_absent": "skip"}}, "id": {"max": {"leq_to": 50}}}
    checks = (
        *column_checks(skips),
        *row_checks({"low": {"check_statement": "rebate < 5", "if_absent": "skip"}}),
    )
    keys = {"rows": ("rows", 0), "column id max": ("max", 0)}
    frame = FrameChecks("one", "", checks, NAMES, keys)
    rows = replace(ALL, uses={"max": frozenset({1})})
    for each in (rows, OTHER):
        found = {
            assertion.name: assertion
            for assertion in frame.findings({"rows": 10, "max": 45}, "", each, WRITTEN).assertions
        }
        assert {name for name, assertion in found.items() if assertion.is_skipped} == {"discount.min", "low"}
        assert found["discount.min"].params["absent"] == "discount"
        assert found["id.max"].not_evaluated == ("" if each is rows else OTHER.reason)
    assert not frame.findings({"rows": 10, "max": 45}, "", rows, WRITTEN).failed_in_flight


def test_without_a_plan_nothing_is_known(captures):
    """Nor with one without the rows, or that cannot be read, or if several datasets were written."""
    damaged = [{"class": "Project", "num-children": 1}, *PLAN[1:], *PLAN[1:]]
    for plans, written in (
        ([], [WRITTEN]),
        ([[]], [WRITTEN]),
        ([plan_of("two")], [WRITTEN]),
        ([damaged], [WRITTEN]),
        ([PLAN], [WRITTEN, replace(WRITTEN, name="/other")]),
    ):
        register(frame_checks())
        assert captures[0].wrote({"one": VALUES}, {}, plans, written)
        assert all(each.not_evaluated for each in captures[0].findings[-1].assertions)


@pytest.fixture
def captures():
    """Two captures that run at once, as a notebook inside of a task."""
    both = ChecksInFlight(), ChecksInFlight()
    for capture in both:
        capture.start()
    yield both
    for capture in both:
        capture.stop()


def test_each_capture_gets_the_results_of_each_write(captures, caplog):
    """A frame may be written to several places. Observations of others are not checks."""
    assert register(frame_checks("orders"))
    observed = {"one": VALUES, "mine": {"rows": 1}}
    with caplog.at_level(logging.WARNING):
        for capture in captures:
            assert capture.wrote(observed, {}, [PLAN], [WRITTEN]) == []
        captures[0].wrote(observed, {}, [PLAN], [replace(WRITTEN, name="/other")])
    assert [each.output for each in captures[0].findings] == [("file", "/out"), ("file", "/other")]
    assert len(captures[1].findings) == 1
    assert captures[0].findings[0].assertions[0].name == "orders.id.null_check"
    assert caplog.messages[0] == "Check orders.id.null_check failed: expected 0, found 2"


def test_a_reason_is_one_sentence_for_all_checks_without_a_result(captures):
    """It becomes a gap."""
    register(frame_checks())
    [sentence] = captures[0].wrote({"one": VALUES}, {"one": "retry"}, [PLAN], [UNCOUNTED])
    assert sentence == (
        "checks have no result (id.sum, many): a task ran again, and Spark may have counted its rows twice"
    )


def test_checks_whose_frame_was_not_written_have_no_result(captures):
    """An action measures it, too, but its rows are nowhere; afterwards, no capture gets new checks."""
    register(frame_checks("orders"))
    register(frame_checks(observation="two"))
    assert captures[0].wrote({"one": VALUES}, {}, [PLAN], []) == []
    assert captures[0].wrote({"two": VALUES}, {}, [plan_of("two")], [WRITTEN]) == []
    assert captures[0].stop() == [
        "the checks orders have no result: Spark reported no rows that were written"
    ]
    captures[1].stop()
    assert not register(frame_checks())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "There is nothing to check: give columns or rows."),
        ({"rows": {"a": "b > 0"}, "on_violation": "skip"}, "on_violation is 'skip'"),
        ({"rows": {"a": "b > 0"}, "severity": "low"}, "severity is 'low'"),
        ({"columns": {"a": {"nulls": {"equal_to": 0}}}}, "Invalid column check: nulls"),
        (
            {"rows": {"a": "b > 0"}, "broken_to": "/q", "on_violation": "fail"},
            "broken_to .* combined with 'fail'",
        ),
        ({"rows": {"a": {"uniqe": ["b", "c"]}}}, "a: 'uniqe' is unknown."),
        ({"columns": {"a": {"freshness": "24"}}}, "freshness: '24' is not a duration"),
    ],
)
def test_checks_without_a_meaning_are_refused(arguments, sentence):
    """When `check` is called, before Spark is asked."""
    with pytest.raises(ValueError, match=sentence):
        check(None, **arguments)


def test_what_another_library_found_is_reported_and_fails_no_task(caplog: pytest.LogCaptureFixture) -> None:
    """The library decides; without a capture, a warning says that nothing is reported."""
    given = data_quality_assertions_dataset.Assertion(assertion="rows", success=False, column="id")
    report_assertions("orders", [given])
    assert "not reported" in caplog.text
    running = ChecksInFlight()
    running.start()
    report_assertions("orders", [given, Assertion("own", False, "own", "own")])
    running.stop()
    (findings,) = running.findings
    assert [(each.name, each.column, each.success) for each in findings.assertions] == [
        ("rows", "id", False),
        ("own", "", False),
    ]
    assert [each for of in running.findings for each in of.failed_in_flight] == []
