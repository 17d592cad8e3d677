"""Checks over Spark Connect: of a frame by queries, and in a write whose responses have the measurements."""

from __future__ import annotations

import pyspark
import pytest
from servers.connect import client, connect

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.checks import check
from airflow_provider_spark_lineage.spark.checks.checks import run, samples
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.in_flight import NOT_MEASURED
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        pyspark.__version__.startswith("3."), reason="its server reports no observations of a write"
    ),
]

COLUMNS = {
    "id": {"null_check": {"equal_to": 0}, "max": {"leq_to": 998}, "sum": {"geq_to": 1}},
    "price": {"min": {"equal_to": 0.5}},
    "name": {"min": {"geq_to": "a"}},
    "at": {"max": {"equal_to": "2026-01-31 10:00:00"}},
}
RIGHT = {
    "id.null_check": (True, "0"),
    "id.max": (False, "999"),
    "id.sum": (True, "499500"),
    "price.min": (True, "0.50"),
    "name.min": (True, "b"),
    "at.max": (True, "2026-01-31 10:00:00"),
    "small": (False, "10"),
}


NOTHING = dict.fromkeys(RIGHT)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("connect")
    with connect(folder) as url, client(url) as remote:
        remote.range(0, 1000, 1, 4).selectExpr(
            "id",
            "CAST(0.5 AS DECIMAL(10, 2)) AS price",
            "'b' AS name",
            "TIMESTAMP'2026-01-31 10:00:00' AS at",
        ).write.parquet(str(folder / "rows"))
        yield remote.read.parquet(str(folder / "rows"))


def measured(frame, order, folder, **arguments):
    """Write the checked frame, and return the capture, in which each check was measured.

    The server waits 100 ms for its own measurements; on a busy machine it answers without them, so the write
    is repeated then.
    """
    given = {"columns": COLUMNS, "rows": {"small": "id < 990"}, "severity": "warn", **arguments}
    for attempt in range(30):
        with capture_lineage(frame.sparkSession) as captured:
            checked = check(frame, **given)
            order(checked).write.parquet(str(folder / str(attempt)))
        [findings] = captured.findings
        assert findings.output == ("file", str(folder / str(attempt)))
        if not all(each.not_evaluated == NOT_MEASURED for each in captured.checks):
            return captured
    raise AssertionError("the server never answered with its measurements")


@pytest.mark.parametrize(
    ("order", "changed"),
    [
        (lambda frame: frame, {}),
        (lambda frame: frame.orderBy("id"), {"id.sum": None, "small": (False, "at least 1")}),
        (lambda frame: frame.where("id > 10"), {**NOTHING, "id.null_check": (True, "0")}),
        (lambda frame: frame.union(frame), NOTHING),
        (
            lambda frame: frame.selectExpr("-id AS id", "name", "at", "price AS cost"),
            {name: None for name in NOTHING if name.startswith("id.") or name == "small"},
        ),
    ],
    ids=["plain", "sorted", "a part", "others", "other values"],
)
def test_results_are_those_of_a_session_in_this_process(rows, tmp_path, order, changed):
    """Also for a sort, which counts rows twice there, too. The server explains the plan."""
    found = {
        each.name: None if each.not_evaluated else (each.success, each.actual)
        for each in measured(rows, order, tmp_path).checks
    }
    assert found == {**RIGHT, **changed}


SKIP = {"if_absent": "skip"}
FRESH = {"within": "1 hour", "against": "2026-01-31T10:30:00Z"}
OLD = {**FRESH, "against": "2026-02-01T10:30:00Z"}
SHAPE = {"id": "long", "price": "numeric(10, 2)", "name": None, "at": "timestamp"}

KINDS = {
    # Columns, rows, and by name (success, actual), "skip", or the problem where there is no result.
    "a share of good rows": (
        {"id % 4": {"accepted_values": {"values": [0, 1, 2], "at_least": 0.75}}},
        {"most": {"check_statement": "id < 900", "at_least": 0.95}},
        {"id % 4.accepted_values": (True, "0.75"), "most": (False, "0.9")},
    ),
    "a key by an estimate": (
        None,
        {
            "key": {"unique": ["name", "at"], "approximate": 0.01, "equal_to": 999},
            "unlike": {"unique": ["id", "name"], "approximate": 0.01, "less_than": -500},
        },
        {"key": (True, "999"), "unlike": (False, ...)},
    ),
    "the age of values": (
        {"at": {"freshness": FRESH}, "to_date(at)": {"freshness": OLD}},
        None,
        {"at.freshness": (True, "30 minutes"), "to_date(at).freshness": (False, ...)},
    ),
    "columns that may be absent": (
        {"discount": {"max": {"leq_to": 1}, "matches": "a", **SKIP}, "id": {"max": {"leq_to": 999}}},
        {"rebate": {"check_statement": "discount < 1", **SKIP}, "low": "id < 990"},
        {
            "discount.max": "skip",
            "discount.matches": "skip",
            "id.max": (True, "999"),
            "rebate": "skip",
            "low": (False, "10"),
        },
    ),
    "patterns and lengths": (
        {"name": {"matches": "[ab]", "min_length": {"geq_to": 2}, "max_length": {"leq_to": 1}}},
        None,
        {"name.matches": (True, "0"), "name.min_length": (False, "1"), "name.max_length": (True, "1")},
    ),
}

KINDS_OF_A_FRAME = {
    **KINDS,
    "a key": (
        None,
        {"key": {"unique": ["id", "name"]}, "names": {"unique": ["name"], "leq_to": 10}},
        {"key": (True, "0"), "names": (False, "999")},
    ),
    "references": (
        {
            "id": {"references": {"table": "known", "column": "k"}},
            "id + 500": {"references": {"table": "known", "column": "k", "at_least": 0.5}},
        },
        None,
        {"id.references": (True, "0"), "id + 500.references": (True, "0.5")},
    ),
    "expected columns": (
        None,
        {
            "same": {"columns": SHAPE, "order": True},
            "other": {"columns": {"at": "date", "id": "bigint", "day": "date"}},
        },
        {
            "same": (True, ...),
            "other": (False, "at: timestamp; day: absent; price: decimal(10,2); name: string"),
        },
    ),
    "what Spark refuses": (
        {"name": {"references": {"table": "nowhere", "column": "k"}}, "id": {"freshness": "1 day"}},
        {
            "key": {"unique": ["id", "nothing"]},
            "own": {"check_statement": "company_rule(id)", "at_least": 0.5},
        },
        {
            "name.references": "TABLE_OR_VIEW_NOT_FOUND",
            "id.freshness": "DATATYPE_MISMATCH",
            "key": "UNRESOLVED_COLUMN",
            "own": "UNRESOLVED_ROUTINE",
        },
    ),
}


def as_in_table(assertions, expected):
    """Return assertions in the form of the tables; `...` where the table has it."""
    results = {}
    for each in assertions:
        known = expected.get(each.name)
        any_value = isinstance(known, tuple) and known[1] is ...
        result = (each.success, ... if any_value else each.actual)
        results[each.name] = "skip" if each.is_skipped else each.not_evaluated or result
    return results


@pytest.mark.parametrize(("columns", "rules", "expected"), KINDS_OF_A_FRAME.values(), ids=KINDS_OF_A_FRAME)
def test_each_kind_of_check_of_a_frame_on_a_server(rows, columns, rules, expected):
    """Results are as in a session of this process; a check that the server refuses has a problem."""
    rows.sparkSession.range(1000).toDF("k").createOrReplaceTempView("known")
    checks = [*column_checks(columns or {}), *row_checks(rules or {})]
    assertions = run(rows, checks).assertions
    assert as_in_table(assertions, expected) == expected
    for _, shown in samples(rows, checks, assertions, 2):
        assert len(shown) <= 2


@pytest.mark.parametrize(("columns", "rules", "expected"), KINDS.values(), ids=KINDS)
def test_each_kind_of_check_in_a_write_on_a_server(rows, tmp_path, columns, rules, expected):
    """The same kinds, measured by the server while it writes."""
    captured = measured(rows, lambda frame: frame, tmp_path, columns=columns, rows=rules)
    assert as_in_table(captured.checks, expected) == expected
    assert captured.lineage.gaps == ()


def test_broken_rows_of_a_server_are_written_to_a_place_of_their_own(rows, tmp_path):
    """Once, with the rules that each breaks; an output of the task."""
    rules = {"low": "id < 990", "even": {"check_statement": "id % 2 = 0", "partition_clause": "id >= 998"}}
    out, place = str(tmp_path / "out"), str(tmp_path / "quarantine")
    with capture_lineage(rows.sparkSession) as captured:
        check(rows, rows=rules, broken_to=place, severity="warn").write.parquet(out)
    read = rows.sparkSession.read
    broken = {row["id"]: row["broken_rules"] for row in read.parquet(place).collect()}
    assert broken == {number: ["low"] for number in range(990, 999)} | {999: ["low", "even"]}
    assert read.parquet(out).count() == 990
    outputs = {output.dataset.id.name.rpartition("/")[2] for output in captured.lineage.outputs}
    assert outputs == {"out", "quarantine"}


def test_dropped_rows_of_a_server_are_counted(rows, tmp_path):
    """A share counts the rows that came in."""
    rules = {"most": {"check_statement": "id < 900", "at_least": 0.85}}
    captured = measured(rows, lambda frame: frame, tmp_path, columns=None, rows=rules, on_violation="drop")
    assert as_in_table(captured.checks, {}) == {"most": (True, "0.9")}
    [output] = captured.lineage.outputs
    assert rows.sparkSession.read.parquet(f"file://{output.dataset.id.name}").count() == 900


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"columns": {"age": {"min": {"geq_to": 0}}}}, "UNRESOLVED_COLUMN"),
        ({"rows": {"mixed": "sum(id) > id"}}, "INVALID_OBSERVED_METRICS"),
        ({"rows": {"union": "1=1 UNION SELECT 5"}}, "PARSE_SYNTAX_ERROR"),
        ({"columns": {"id": {"freshness": "1 day"}}}, "DATATYPE_MISMATCH"),
        ({"columns": {"id": {"unique_check": {"equal_to": 0}}}}, "cannot count distinct values"),
        ({"rows": {"key": {"unique": ["id", "name"]}}}, "approximate"),
        ({"rows": {"shape": {"columns": ["id"]}}}, "Compare df.schema"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(rows, arguments, sentence):
    """Although a server analyzes a frame only when it is asked."""
    with pytest.raises(ValueError, match=sentence):
        check(rows, **arguments)
