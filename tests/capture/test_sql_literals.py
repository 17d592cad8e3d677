"""No text of a query is recorded, whichever way its database writes a quote inside of one."""

from __future__ import annotations

import random

import pytest

from airflow_provider_spark_lineage.spark.lineage.columns import evaluate
from airflow_provider_spark_lineage.spark.plan.database_sql.reader import SqlError, read_query
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import Dialect
from airflow_provider_spark_lineage.spark.records.sql_literals import (
    CUT,
    without_numbers,
    without_sql_literals,
)
from airflow_provider_spark_lineage.spark.sources.databases import DATABASES

WAYS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "": (["'%'", "'it''s %'", r"'C:\%'"], ['"it\'s"', "a"], ["-- it's %\n", "/* it's % */"]),
    "oracle": (
        ["'%'", "q'[it's %]'", "nq'{it's '' %}'", "Q'!it's %!'", "q'(%')()'", "n'%'"],
        ['"it\'s"', "v$session"],
        ["-- % '\n", "/*+ it's % */"],
    ),
    "postgres": (
        ["'%'", r"E'it\'s %'", "$$it's %$$", "$b$it's $$ % $a$$b$", "U&'%'", "'it''s %'"],
        ['"it\'s"', "a$b", "js #> b"],
        ["--'%\n", "/* ' % */"],
    ),
    "mysql": (
        ["'%'", r"'it\'s %'", '"it\'s %"', r'"\"%"', "'it''s %'", "_utf8'%'"],
        ["`it's`", "a", "5--3", 'b as "c"'],
        ["# it's %\n", "-- it's %\n", "/* it's % */"],
    ),
    "bigquery": (
        ["'%'", r"'it\'s %'", '"it\'s %"', "'''it's % '\n'''", '"""it\'s "%" """', "r'%'"],
        ["`it's`", "a[1]"],
        ["# it's %\n", "-- %'\n"],
    ),
    "spark": (["'%'", r"'it\'s %'", '"it\'s %"', r"r'%\'", r'R"%\"'], ["`it's`", "a"], ["-- it's %\n"]),
    "snowflake": (
        ["'%'", r"'it\'s %'", "$$it's %$$", "'it''s %'"],
        ['"it\'s"', "a", "$1"],
        ["// it's %\n", "-- %'\n"],
    ),
    "tsql": (["'%'", "N'%'", "'it''s %'"], ["[it's]", '"it\'s"', "#t", "[a]]'b]"], ["-- it's %\n"]),
    "clickhouse": (["'%'", r"'it\'s %'", "$$it's %$$"], ['"a\'b"', "`a'b`"], ["# it's %\n", "#! %'\n"]),
}
"""Dialect -> ways to write texts, names and comments; the per cent sign is a secret."""


def written(dialect: str, seed: int) -> str:
    texts, names, comments = WAYS[dialect]
    chance = random.Random(seed)  # noqa: S311  no secret of ours
    parts = [chance.choice(texts * 2 + names + comments) for _ in range(chance.randint(1, 7))]
    listed = " , ".join(parts).replace("%", "SECRET")
    return f"select {listed} from t"  # noqa: S608  read, never run


@pytest.mark.parametrize("dialect", WAYS)
def test_no_text_stays_whether_or_not_the_dialect_is_known(dialect: str) -> None:
    """Everything that any database reads as a text or as a comment is removed."""
    for seed in range(400):
        text = written(dialect, seed)
        assert "SECRET" not in without_sql_literals(text, dialect), text
        assert "SECRET" not in without_sql_literals(text), text


@pytest.mark.parametrize("dialect", WAYS)
def test_names_stay_where_the_dialect_is_known(dialect: str) -> None:
    """A text beside it takes nothing away from a name."""
    _, names, _ = WAYS[dialect]
    for seed in range(100):
        emptied = without_sql_literals(written(dialect, seed), dialect)
        columns = [part for part in written(dialect, seed)[7:-7].split(" , ") if part in names]
        assert CUT not in emptied
        assert all(name in emptied for name in columns), emptied


@pytest.mark.parametrize(
    ("dialect", "text", "emptied"),
    [
        (
            None,
            r"select x where n = 'O\'Brien' and p = 'q'",
            "select x where n = '' and p = ''",
        ),
        (
            "mysql",
            r"select x where n in ('O\'Brien', 'D\'Arcy')",
            "select x where n in ('', '')",
        ),
        # Two texts, or one, two names and another.
        (None, r"select x where n in ('O\'Brien', 'D\'Arcy')", "select x where n in (" + CUT),
        ("postgres", r"select 'O\'Brien', 'D\'Arcy'", "select " + CUT),
        (None, r"select E'it\'s', 'b'", "select E'', ''"),
        # In the standard's SQL a backslash is a letter like any other.
        (None, r"select x where p = 'C:\' and n = 'Ann'", "select x where p = '' and n = ''"),
        ("oracle", r"select x where p = 'C:\' or p = 'D:\'", "select x where p = '' or p = ''"),
        (None, "select 'it''s' from a", "select '' from a"),
        ("mysql", "select a # it's\nfrom t where p = 'q'", "select a  \nfrom t where p = ''"),
        (None, "select a # it's\nfrom t where p = 'q' # it's", "select a " + CUT),
        ("oracle", "select q'[it's]' from t", "select '' from t"),
        ("postgres", "select $x$it's$x$ from t where b$c = 1", "select '' from t where b$c = 1"),
        # Double quotes are names to some, and texts to others.
        ("postgres", 'select "n" from t', 'select "n" from t'),
        ("spark", 'select "n" from t', "select '' from t"),
        (None, 'select "n" from t', "select " + CUT),
        (
            None,
            'Scan JDBCRelation("S"."A") [numPartitions=1]',
            'Scan JDBCRelation("S"."A") [numPartitions=1]',
        ),
        # What has no end is cut at its beginning, or sooner.
        ("tsql", "select 'a', 'b", "select " + CUT),
        (None, "select 1 /* it's", "select 1 " + CUT),
        ("", "", ""),
    ],
)
def test_texts_are_emptied(dialect: str | None, text: str, emptied: str) -> None:
    """By the rules of its database, or as far as all of them agree."""
    assert without_sql_literals(text, dialect) == emptied


@pytest.mark.parametrize("dialect", [None, *WAYS])
@pytest.mark.parametrize(
    "text",
    ["'" * 5001, "\\'" * 5001, "/*" * 5000, "q'[" * 5000, "$a$" * 5001, "'''a'" * 3001, "q'" + "[" * 100_000],
)
def test_any_text_can_be_read(text: str, dialect: str | None) -> None:
    """Quotes that do not pair up end in a cut, soon, and in no error."""
    assert len(without_sql_literals(text, dialect)) <= len(text) + len(CUT)


def test_every_database_has_a_reading() -> None:
    """A dialect that is known is not read as one that is not."""
    for database in DATABASES.values():
        assert CUT not in without_sql_literals("select a['x'] from `t` where \"b\" = 'c'", database.dialect)


@pytest.mark.parametrize("dialect", WAYS)
def test_a_query_that_was_cut_is_not_read_as_complete(dialect: str) -> None:
    """Its lineage would be wrong, with no gap."""
    for query in ("select a from t where b = 'x", "select a from t /* x"):
        with pytest.raises(SqlError):
            evaluate(read_query(without_sql_literals(query, dialect), Dialect(dialect), ["a"]))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("select a from t where b > 42 and c < -1.5e3", "select a from t where b > 0 and c < -0"),
        ("select .5, 5., 0xFF, 1_000, 10L, 3BD from t", "select 0, 0, 0, 0, 0, 0 from t"),
        (
            "select a1, b_2, 2024_sales, $1, :2, @3 from db.t4",
            "select a1, b_2, 2024_sales, $1, :2, @3 from db.t4",
        ),
        ("select \"5\", `6`, '' from t", "select \"5\", `6`, '' from t"),
        (
            "select a from t group by 1, 2 order by 3 desc limit 9",
            "select a from t group by 1, 2 order by 3 desc limit 0",
        ),
        ("select a from t order by a + 7, 4242", "select a from t order by a + 0, 0"),
        ("select a from t where b in (1, 2)", "select a from t where b in (0, 0)"),
        ("", ""),
    ],
)
def test_numbers_are_emptied(text: str, masked: str) -> None:
    """A number is a literal like any text, except for one that denotes a column."""
    assert without_numbers(text) == masked


def test_thousands_of_numbers_are_read_soon() -> None:
    """A query of a program may list all the ids that it wants."""
    text = ", ".join(["order by 12", *("12" for _ in range(20_000))])
    assert len(without_numbers(text)) <= len(text)
