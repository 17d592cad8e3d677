"""Checks of a frame on real Spark: their results, and what they cost."""

from __future__ import annotations

import random
import statistics
from collections import Counter

import pytest

from airflow_provider_spark_lineage.spark.checks.checks import run, samples
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks

pytestmark = pytest.mark.spark

AT_LEAST_ZERO = {"geq_to": 0}
CHECKS = {
    "n": {
        "null_check": AT_LEAST_ZERO,
        "distinct_check": AT_LEAST_ZERO,
        "unique_check": AT_LEAST_ZERO,
        "min": {"geq_to": -5},
        "max": {"leq_to": 5},
        "sum": {"geq_to": 0},
        "mean": {"leq_to": 2},
        "stddev": {"leq_to": 3},
        "accepted_values": [-1, 0, 1, 2],
    },
    "s": {
        "null_check": {"equal_to": 0},
        "min": {"geq_to": "b"},
        "max_length": {"leq_to": 2},
        "min_length": {"geq_to": 1},
        "matches": "[ab]+",
        "accepted_values": {"values": ["a", "b", "ab"], "at_least": 0.5},
    },
}
RULES = {
    "row": "n >= 0",
    "rows": "count(*) > 3",
    "total": {"check_statement": "sum(n) > 0", "partition_clause": "s IS NOT NULL"},
    "part": {"check_statement": "n < 4", "partition_clause": "s <> 'a'"},
    "most": {"check_statement": "n >= 0", "at_least": 0.5},
    "most_of_part": {"check_statement": "n >= 0", "at_least": 0.7, "partition_clause": "s <> 'a'"},
    "pair": {"unique": ["n", "s"]},
    "few_pairs": {"unique": ["s", "n % 3"], "leq_to": 1, "partition_clause": "n > 0"},
}


@pytest.mark.parametrize("seed", range(4))
def test_results_are_those_of_plain_python(spark, seed):
    """Many tables of seeded chance, with missing values and without rows: each result is computed twice."""
    chance = random.Random(seed)  # noqa: S311  a test's data
    tables = {}
    for table in range(25):
        words = [None, "a", "b", "ab", "ca", "abc"]
        rows = [
            (chance.choice([None, *range(-6, 7)]), chance.choice(words))
            for _ in range(chance.choice([0, 1, 2, 5, 9]))
        ]
        tables[table] = rows
    everything = [(table, *row) for table, rows in tables.items() for row in rows]
    frame = spark.createDataFrame(everything, "t int, n int, s string").coalesce(1).cache()
    for table, rows in tables.items():
        checks = [*column_checks(CHECKS), *row_checks(RULES)]
        found = run(frame.where(f"t = {table}").select("n", "s"), checks)
        results = {each.name: each for each in found.assertions}
        assert not [each for each in found.assertions if each.not_evaluated]
        counts = Counter((each.column, each.assertion) for each in found.assertions)
        assert set(counts.values()) == {1}, "a result is of one check"
        expected = _expected(rows)
        assert {name: results[name].success for name in expected} == expected, rows
        assert found.metrics.rows == len(rows)


def _expected(rows):
    numbers = [n for n, _ in rows if n is not None]
    words = [s for _, s in rows if s is not None]
    with_word = [n for n, s in rows if s is not None and n is not None]
    # A missing value counts as 0 for the checks of a column, as in Airflow.
    not_a = [(n, s) for n, s in rows if s not in (None, "a")]
    pairs = [(n, s) for n, s in rows if n is not None and s is not None]
    few = [(s, n % 3) for n, s in pairs if n > 0]
    spread = statistics.stdev(numbers) if len(numbers) > 1 else 0
    return {
        "n.min": min(numbers, default=0) >= -5,
        "n.max": max(numbers, default=0) <= 5,
        "n.sum": sum(numbers) >= 0,
        "n.mean": (sum(numbers) / len(numbers) if numbers else 0) <= 2,
        "n.stddev": spread <= 3,
        "n.accepted_values": all(n in (-1, 0, 1, 2) for n in numbers),
        "n.distinct_check": True,
        "s.null_check": len(words) == len(rows),
        "s.min": min(words, default="b") >= "b",
        "s.max_length": max(map(len, words), default=0) <= 2,
        "s.min_length": min(map(len, words), default=0) >= 1,
        "s.matches": all(any(letter in "ab" for letter in s) for s in words),
        "s.accepted_values": 2 * sum(s in ("a", "b", "ab") for s in words) >= len(words),
        "most": bool(rows) and 2 * _good(rows) >= len(rows),
        "most_of_part": bool(not_a) and 10 * _good(not_a) >= 7 * len(not_a),
        "pair": len(set(pairs)) == len(pairs),
        "few_pairs": len(few) - len(set(few)) <= 1,
        "row": bool(rows) and all(n is not None and n >= 0 for n, _ in rows),
        "rows": len(rows) > 3,
        "total": sum(with_word) > 0,
        "part": bool([s for s in words if s != "a"])
        and all(n is not None and n < 4 for n, s in rows if s is not None and s != "a"),
    }


def _good(rows):
    return sum(n is not None and n >= 0 for n, _ in rows)


def test_all_checks_are_one_execution_with_one_scan(spark, tmp_path, recorded):
    """However many there are; exact numbers of distinct values are one more."""
    path = str(tmp_path / "numbers")
    spark.range(100).selectExpr("id", "id % 7 AS n", "cast(id AS string) AS s").write.parquet(path)
    frame = spark.read.parquet(path)
    many = {
        column: {
            "null_check": {"equal_to": 0},
            "min": AT_LEAST_ZERO if column != "s" else {"geq_to": "0"},
            "min_length": {"geq_to": 1},
            "distinct_check": {"geq_to": 1, "approximate": 0.1},
            "unique_check": {"leq_to": 100, "approximate": 0.1},
        }
        for column in ("id", "n", "s")
    }
    rules = {f"rule {n}": f"id >= {-n}" for n in range(20)} | {"all": "sum(n) > 1 AND count(*) = 100"}
    checks = [*column_checks(many), *row_checks(rules)]
    with recorded() as records:
        found = run(frame, checks)
    assert not [each for each in found.assertions if not each.success]
    (record,) = records
    assert sum("LogicalRelation" in node["class"] for node in record.plan) == 1
    with recorded() as records:
        run(frame, [*checks, *column_checks({"n": {"unique_check": {"geq_to": 0}}})])
    assert len(records) == 2


def test_a_text_cannot_leave_its_place(spark):
    """A statement or clause is one expression: what else is in it does not run."""
    spark.sql("DROP TABLE IF EXISTS kept")
    spark.range(3).write.saveAsTable("kept")
    frame = spark.table("kept")
    bad = ["1=1 UNION SELECT 5", "id = 1) OR (1=1", "id = 1; DROP TABLE kept", "id = 1 /*", "id = 'a"]
    found = run(frame, row_checks({**{text: text for text in bad}, "good": "id = id --"})).assertions
    assert [each.name for each in found if each.not_evaluated] == bad
    assert found[-1].success
    for text in bad:
        clause = {"check_statement": "count(*) > 0", "partition_clause": text}
        own, common = (
            run(frame, row_checks({"own": clause, "good": "count(*) = 3"})).assertions,
            run(frame, row_checks({"common": "count(*) > 0"}), clause=text).assertions,
        )
        assert own[0].not_evaluated
        assert own[1].success
        assert common[0].not_evaluated
    assert spark.table("kept").count() == 3


def test_clauses_are_combined_as_conditions(spark):
    """`a OR b` of all checks and `c` of one of them keep their precedence."""
    frame = spark.createDataFrame([(1, 5), (2, 6), (3, 7)], "a int, b int")
    checks = [
        *column_checks({"b": {"min": {"equal_to": 7, "partition_clause": "a = 3 OR a = 2"}}}),
        *column_checks({"a": {"null_check": {"equal_to": 0, "partition_clause": "b > 5"}}}),
        *row_checks({"rows": {"check_statement": "count(*) = 1", "partition_clause": "b < 6 OR a = 3"}}),
    ]
    found = run(frame, checks, clause="a = 1 OR a = 3")
    assert [(each.success, each.actual) for each in found.assertions] == [
        (True, "7"),
        (True, "0"),
        (False, "2"),
    ]
    assert found.metrics.rows is None, "rows of a clause are not the dataset"


def test_an_error_belongs_to_its_check(spark):
    """While the query is analyzed or while it runs; also an aggregate of ours may fail."""
    spark.conf.set("spark.sql.ansi.enabled", "true")  # As of Spark 4.0.
    frame = spark.createDataFrame([(1, 0, "x"), (2, 0, "y")], "a int, b int, s string")
    found = run(
        frame,
        [
            *column_checks({"a": {"max": {"leq_to": 2}}, "c": {"max": {"leq_to": 2}}}),
            *column_checks({"s": {"sum": {"geq_to": 1}}, "a + 1": {"min": {"equal_to": 2}}}),
            *row_checks({"zero": "sum(a) / sum(b) > 1", "mixed": "sum(a) > b", "kind": "a", "good": "a > 0"}),
            *row_checks({"unknown": "company_rule(a)", "own": {"check_statement": "company_rule(a)"}}),
            *column_checks({"a": {"references": {"table": "nowhere", "column": "a"}}}),
        ],
    )
    assert {each.name: each.not_evaluated for each in found.assertions} == {
        "a.max": "",
        "c.max": "UNRESOLVED_COLUMN",
        "s.sum": "CAST_INVALID_INPUT",
        "a + 1.min": "",
        "zero": "DIVIDE_BY_ZERO",
        "mixed": "MISSING_GROUP_BY",
        "kind": "DATATYPE_MISMATCH",
        "good": "",
        "unknown": "UNRESOLVED_ROUTINE",
        "own": "UNRESOLVED_ROUTINE",
        "a.references": "TABLE_OR_VIEW_NOT_FOUND",
    }
    assert not [each.name for each in found.assertions if each.success and each.not_evaluated]


def test_samples_are_distinct_and_have_the_key(spark):
    """The same row five times tells as much as once; a key finds the row again. Spark compares no maps."""
    rows = [(1, "x", {"k": 1}), (1, "x", {"k": 1}), (2, "x", {"k": 2})]
    frame = spark.createDataFrame(rows, "id int, kind string, m map<string, int>")
    rule = row_checks({"kinds": "kind = 'y'", "maps": "m['k'] > 5"})
    found = run(frame, rule).assertions
    shown = {name: [row.asDict() for row in rows] for name, rows in samples(frame, rule, found, 5)}
    assert shown["kinds"] == [{"kind": "x"}]
    assert len(shown["maps"]) == 3
    checks = [*rule, *column_checks({"id": {"unique_check": {"equal_to": 0}}})]
    found = run(frame, checks).assertions
    shown = {name: [row.asDict() for row in rows] for name, rows in samples(frame, checks, found, 5)}
    assert sorted(row["id"] for row in shown["kinds"]) == [1, 2]


def test_a_comparison_says_what_it_found(spark):
    """In a query, with a clause, and of what Spark refuses or sqlglot writes in another way."""
    frame = spark.createDataFrame([(1, 5), (2, 6)], "a int, b int")
    statements = {
        "high": "max(b) < 3",
        "some": {"check_statement": "count(*) BETWEEN 2 AND 3", "partition_clause": "a = 1"},
        "percentile": "percentile_approx(b, 0.5) > 9",
        "unknown": "max(c) > 1",
        "null": "max(CASE WHEN a > 5 THEN a END) > 1",
    }
    found = {each.name: each for each in run(frame, row_checks(statements)).assertions}
    assert (found["high"].expected, found["high"].actual) == ("<3", "6")
    assert (found["some"].expected, found["some"].actual) == (">=2, <=3", "1")
    assert (found["percentile"].expected, found["percentile"].actual) == (">9", "5")
    assert (found["null"].expected, found["null"].actual) == ("all truthy", "0")
    assert found["unknown"].not_evaluated
    assert not [each.name for each in found.values() if each.success]


def test_references_and_samples_of_broken_rules(spark):
    """A missing value refers to nothing; samples have the columns that the rule names, and no more rows."""
    spark.createDataFrame([(1,), (2,)], "k int").createOrReplaceTempView("known")
    frame = spark.createDataFrame([(1, "Ann"), (5, "Bob"), (6, "Cid"), (None, "Dan")], "id int, name string")
    checks = [
        *column_checks({"id": {"references": {"table": "known", "column": "k"}, "accepted_values": [1]}}),
        *row_checks({"low": "id < 3", "many": "count(*) > 10"}),
    ]
    found = run(frame, checks).assertions
    assert [(each.success, each.actual) for each in found] == [
        (False, "2"),
        (False, "2"),
        (False, "3"),
        (False, "4"),
    ]
    shown = {name: [row.asDict() for row in rows] for name, rows in samples(frame, checks, found, 2)}
    assert shown == {"id.accepted_values": [{"id": 5}, {"id": 6}], "low": [{"id": 5}, {"id": 6}]}
