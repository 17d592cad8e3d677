"""Checks that ride on a write over Spark Connect: the server's responses have what they measured."""

from __future__ import annotations

import pyspark
import pytest
from servers.connect import client, connect

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.checks import check
from airflow_provider_spark_lineage.spark.checks.in_flight import NOT_MEASURED

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


def measured(frame, order, folder):
    """Write the checked frame, and return the capture, in which each check was measured.

    The server waits 100 ms for its own measurements; on a busy machine it answers without them, so the write
    is repeated then.
    """
    for attempt in range(30):
        with capture_lineage(frame.sparkSession) as captured:
            checked = check(frame, columns=COLUMNS, rows={"small": "id < 990"}, severity="warn")
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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"columns": {"age": {"min": {"geq_to": 0}}}}, "UNRESOLVED_COLUMN"),
        ({"rows": {"mixed": "sum(id) > id"}}, "INVALID_OBSERVED_METRICS"),
        ({"rows": {"union": "1=1 UNION SELECT 5"}}, "PARSE_SYNTAX_ERROR"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(rows, arguments, sentence):
    """Although a server analyzes a frame only when it is asked."""
    with pytest.raises(ValueError, match=sentence):
        check(rows, **arguments)
