"""Bodies of functions that are written in SQL: how the result depends on arguments and queries, if known."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.plan.database_sql.functions import read_body


def effects(body):
    """Return a body as text: position and kind of each argument, then how its queries act."""
    kinds = [f"{position}:{kind.name.lower()}" for position, kind in body.arguments]
    queries = ",".join(sorted(kind.name.lower() for kind in body.of_query))
    return " ".join([*kinds, *([f"{body.queries} {queries}"] if body.queries else [])])


@pytest.mark.parametrize(
    ("body", "parameters", "expected"),
    [
        ("x", "x STRUCT<a: INT, b: INT>", "0:identity"),
        ("x + 1", "x INT", "0:transformation"),
        ("upper(Y)", "x INT, y STRING DEFAULT '' COMMENT ''", "1:transformation"),
        ("IF(x > 0, y, 0)", "x INT, `y` INT", "0:conditional 1:transformation"),
        ("CASE WHEN x > 0 THEN y END", "x INT DEFAULT f(1, 2), y INT", "0:conditional 1:transformation"),
        ("42", "()", ""),
        ("(SELECT max(b) FROM t WHERE a = x)", "x INT", "1 identity"),
        ("SELECT max(b) FROM t WHERE a = x", "x INT", "1 identity"),
        ("x + (SELECT max(b) FROM t)", "x INT", "0:transformation 1 transformation"),
        ("(SELECT max(a) FROM t) + (SELECT max(b) FROM t)", "", "2 transformation"),
    ],
)
def test_effect_of_arguments_is_read_from_the_body(body, parameters, expected):
    """An unused argument is not a source; one that only chooses a value is CONDITIONAL."""
    assert effects(read_body(body, parameters)) == expected


@pytest.mark.parametrize(
    "body",
    [
        "other(x)",
        "transform(x, y -> y + 1)",
        "nothing + 1",
        "IF((SELECT max(a) FROM t) > 0, (SELECT max(b) FROM t), x)",
        "EXISTS (SELECT 1 FROM t WHERE a = x)",
        "sha2(x, 256)",
        "x +",
        "x, x",
        "",
    ],
)
def test_doubtful_body_is_not_known(body):
    """Another function may have queries inside, and a name may be a column: then the gap stays."""
    assert read_body(body, "x INT") is None
