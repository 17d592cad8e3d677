"""Columns of a database's query, and their sources: `queries*.txt`, and Spark as a witness."""

from __future__ import annotations

from pathlib import Path

import pytest
from scan_columns import how, name_of
from test_expressions import pairs

from airflow_provider_spark_lineage.spark.lineage.columns import evaluate
from airflow_provider_spark_lineage.spark.lineage.values import Sources
from airflow_provider_spark_lineage.spark.plan.database_sql.reader import SqlError, read_query
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import Dialect

PLACE = Path(__file__).resolve().parent
FOLDS = {
    **dict.fromkeys(("", "oracle", "snowflake"), "upper"),
    **dict.fromkeys(("postgres", "redshift", "trino"), "lower"),
}


def cases() -> list[tuple[str, str, str, str]]:
    """(rule, dialect and columns, SQL, lineage) of each block of the files."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(PLACE.glob("queries*.txt"))]
    listed = []
    for block in (block for text in texts for block in text.split("\n\n")[1:]):
        rule, head, *lines = block.strip("\n").splitlines()
        sql = [line for line in lines if not line.startswith("  ")]
        listed.append((rule, head, "\n".join(sql), "\n".join(line for line in lines if line not in sql)))
    return listed


def written(sources: Sources) -> str:
    uses = (f"{origin[0].relation}.{name_of(origin)} {how(path)}" for origin, path in sources)
    return ", ".join(sorted(set(uses)))


def lineage(dialect: str, names: list[str], sql: str) -> str:
    """Return the lineage of a query as `queries.txt` has it: tables, columns, rows, and unknown names."""
    evaluation = evaluate(read_query(sql, Dialect(dialect, FOLDS.get(dialect, "")), names))
    assert [column.name for column, _ in evaluation.output] == names
    tables = ", ".join(sorted({scan.relation for scan in evaluation.scans}))
    lines = [
        f"  from {tables}".rstrip(),
        *(f"  {c.name} <- {written(value.whole)}".rstrip() for c, value in evaluation.output),
    ]
    if evaluation.rows:
        lines.append(f"  * <- {written(evaluation.rows)}")
    return "\n".join([*lines, *(f"  gap {gap.reason}" for gap in evaluation.gaps)])


@pytest.mark.parametrize(("rule", "head", "sql", "expected"), cases())
def test_query(rule: str, head: str, sql: str, expected: str) -> None:
    """Each block's first line is the rule."""
    dialect, _, names = head.partition(":")
    assert lineage(dialect.strip(), [name.strip() for name in names.split(",")], sql) == expected, rule


@pytest.mark.parametrize(
    ("sql", "uses"),
    # Only plans have the order of a struct's fields: they have the types.
    [
        (sql, uses)
        for sql, uses in pairs()
        if "st.p " not in uses and (not sql.startswith("named_struct") or sql.endswith(")"))
    ],
)
def test_an_expression_has_the_meaning_of_sparks_text(sql: str, uses: str) -> None:
    """The text of an expression, read here, and Spark's plan of it give the same edges."""
    evaluation = evaluate(read_query(f"select {sql} as v from t", Dialect("spark"), ["v"]))  # noqa: S608  read, never run
    ((_, value),) = evaluation.output
    actual = {f"{name_of(origin)} {how(path)}" for origin, path in value.whole}
    assert actual == {use.strip() for use in uses.split(",") if use.strip()}
    assert not evaluation.gaps


@pytest.mark.parametrize(
    "text",
    [
        "",
        "select a from from",
        "drop table t",
        "select 1; select 2",
        "(" * 3000 + "select 1" + ")" * 3000,
    ],
)
def test_a_text_that_is_not_a_query_is_reported(text: str) -> None:
    """An unreadable text raises one kind of error, never one of the parser's."""
    with pytest.raises(SqlError):
        read_query(text, Dialect("postgres"), ["a"])


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("select a from t for system_time as of timestamp_sub()()", "bigquery"),
        ("select a from a remote('h', db.,)", "clickhouse"),
    ],
)
def test_a_text_that_breaks_the_parser_is_not_a_query(text: str, dialect: str) -> None:
    """An error of the parser's own is the same as its refusal, and so is a tree with holes."""
    with pytest.raises(SqlError):
        read_query(text, Dialect(dialect), ["a"])
