"""SQL statements of a Connect client: which are explained, when, and which tables they name."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.capture.connect.parameters import with_arguments
from airflow_provider_spark_lineage.spark.capture.connect.statements import Ask, is_query, statement_of


@pytest.mark.parametrize(
    ("text", "ask", "targets"),
    [
        ("select * from t", Ask.NEVER, ()),
        ("  -- insert into t\n select 1", Ask.NEVER, ()),
        ("(select 1) union (select 2)", Ask.NEVER, ()),
        ("with x as (select 1) select * from x", Ask.NEVER, ()),
        ("values (1)", Ask.NEVER, ()),
        ("show tables", Ask.NEVER, ()),
        ("set spark.sql.x = 1", Ask.NEVER, ()),
        ("explain insert into t select 1", Ask.NEVER, ()),
        ("insert into t select 'update u'", Ask.BESIDE, ("t",)),
        ("INSERT OVERWRITE TABLE db.`odd.name` SELECT 1", Ask.BESIDE, ("db.`odd.name`",)),
        ("insert overwrite directory '/x' using csv select 1", Ask.BESIDE, ()),
        ("with x as (select 1) insert into a.b.c select * from x", Ask.BESIDE, ("a.b.c",)),
        ("from s insert into t select a insert into u select b", Ask.BESIDE, ("t", "u")),
        ("merge into t using s on t.a = s.a when matched then update set a = 1", Ask.BESIDE, ("t",)),
        ("update t set a = 1", Ask.BESIDE, ("t",)),
        ("delete from t where a = 1", Ask.BESIDE, ("t",)),
        ("create table if not exists db.t using parquet as select 1 a", Ask.BEFORE, ("db.t",)),
        ("create or replace table t as select 1", Ask.BEFORE, ("t",)),
        ("create or replace temp view v as select 1", Ask.BEFORE, ()),
        ("create view v as select 1", Ask.BEFORE, ("v",)),
        ("drop table if exists t", Ask.BEFORE, ("t",)),
        ("alter table t rename to u", Ask.BEFORE, ("t", "u")),
        ("truncate table t", Ask.BEFORE, ("t",)),
        ("load data local inpath '/in' overwrite into table t", Ask.BEFORE, ("t",)),
        ("declare x = 1", Ask.BEFORE, ()),
        ("set variable x = (select max(a) from t)", Ask.BEFORE, ()),
    ],
)
def test_the_kind_of_a_statement_is_known_from_its_first_words(text, ask, targets):
    """A query waits for its action, a command that changes names is explained before, the others beside."""
    statement = statement_of(text)
    assert (statement.ask, set(statement.targets)) == (ask, set(targets))


@pytest.mark.parametrize("text", ["execute immediate 'drop table t'", "begin insert into t values (1); end"])
def test_a_statement_that_explaining_would_run_is_never_explained(text):
    """The analyzer runs EXECUTE IMMEDIATE, and a script cannot be explained: that is a visible loss."""
    statement = statement_of(text)
    assert statement.ask is Ask.NEVER
    assert statement.lost


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select a from t", True),
        ("select 'insert' from t", True),
        ("from s insert into t select *", False),
        ("drop table t", False),
        ("execute immediate 'select 1'", False),
        ("", False),
    ],
)
def test_only_a_certain_query_is_analysed_as_a_relation(text, expected):
    """The server would run a command while it analyses the relation that holds it."""
    assert is_query(text) is expected


def test_arguments_are_put_where_spark_would():
    """Quotes, comments, casts and names without an argument stay as they are."""
    text = "insert into t select :a, ':a', `:a`, x::int, v:b -- :a\n, ?"
    assert with_arguments(text, {"a": "1"}, ["'?'"]) == (
        "insert into t select 1, ':a', `:a`, x::int, v:b -- :a\n, '?'"
    )


@pytest.mark.parametrize(
    ("text", "is_insert"),
    [
        ("from s insert into t select a insert into u select b", True),
        ("with x as (select 1) insert overwrite t select * from x", True),
        ("from s select 'insert into t'", False),
        ("with x as (select insert, update from t) select * from x", False),
    ],
)
def test_inserts_are_known_for_certain(text, is_insert):
    """Spark 3.5 answers several inserts as it answers a query, which runs only later."""
    assert statement_of(text).is_insert == is_insert
