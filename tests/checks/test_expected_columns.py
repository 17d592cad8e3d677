"""The columns that a frame must have: a result for each that differs, from names and types alone."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.checks.assertion import with_parts
from airflow_provider_spark_lineage.spark.checks.checks import findings_of, measures_of
from airflow_provider_spark_lineage.spark.checks.measuring import Measured
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks

FRAME = [("id", "bigint"), ("Name", "string"), ("price", "decimal(10,2)"), ("tags", "array<int>")]
TYPES = {"id": "long", "name": "STRING", "price": "numeric( 10, 2 )", "tags": "array<integer>"}


def results(given, frame=FRAME):
    checks = row_checks({"shape": given})
    [key] = measures_of(checks, {})
    found = findings_of(checks, {key: Measured(frame)}, {}, clause="", of_dataset="orders")
    whole, *parts = with_parts(found.assertions)
    return whole, {each.column: (each.expected, each.actual) for each in parts}


@pytest.mark.parametrize(
    "given",
    [
        {"columns": TYPES},
        {"columns": TYPES, "order": True},
        {"columns": ["tags", "price", "name", "ID"]},
        {"columns": {"name": None, "id": "bigint"}, "allow_more": True},
        {"columns": ["id", "price"], "allow_more": True, "order": True},
    ],
)
def test_columns_as_expected_are_one_result(given):
    """Names in any case, types by any of their names in SQL."""
    whole, parts = results(given)
    assert (whole.success, whole.name, parts) == (True, "shape", {})
    assert not whole.fails_task


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (
            {"columns": ["id", "name"]},
            {"price": ("absent", "decimal(10,2)"), "tags": ("absent", "array<int>")},
        ),
        ({"columns": {**TYPES, "day": "date"}}, {"day": ("date", "absent")}),
        ({"columns": [*TYPES, "day"]}, {"day": ("a column", "absent")}),
        ({"columns": {**TYPES, "name": "int"}}, {"Name": ("int", "string")}),
        ({"columns": {**TYPES, "price": "decimal"}}, {"price": ("decimal(10,0)", "decimal(10,2)")}),
        (
            {"columns": ["name", "id", "price", "tags"], "order": True},
            {"Name": ("place 1", "place 2"), "id": ("place 2", "place 1")},
        ),
        (
            {"columns": {"tags": None, "id": "int"}, "order": True, "allow_more": True},
            {"tags": ("place 1", "place 4"), "id": ("int, place 4", "bigint, place 1")},
        ),
    ],
)
def test_each_column_that_differs_has_a_result_of_its_own(given, parts):
    """A missing column and one too many, another type, another place: once for a column."""
    whole, found = results(given)
    assert found == parts
    assert not whole.success
    assert whole.column == ""
    assert whole.actual == "; ".join(f"{column}: {actual}" for column, (_, actual) in parts.items())


def test_the_whole_result_is_short_and_the_parts_are_all_there():
    """A table of 500 columns must not fill an event with one text."""
    whole, parts = results({"columns": [f"c{number}" for number in range(500)], "allow_more": True})
    assert len(parts) == 500
    assert whole.actual.endswith("c9: absent; and 490 more")
    assert len(whole.expected) < 100


def test_no_row_is_measured_for_columns_alone():
    """Not even their number."""
    assert [*measures_of(row_checks({"shape": {"columns": ["id"]}}), {})] == ["columns shape"]
    both = row_checks({"shape": {"columns": ["id"]}, "many": "count(*) > 1"})
    assert "rows" in measures_of(both, {})
