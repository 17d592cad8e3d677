"""What the text of a statement says of the table that it makes, before a Connect server's catalog has it."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.capture.connect.actions import action_of_statement
from airflow_provider_spark_lineage.spark.capture.connect.new_tables import Making, making

CSV = {"spark.sql.sources.default": "csv"}


def made_by(text, settings=CSV):
    return making(action_of_statement(text, None), settings)


@pytest.mark.parametrize(
    ("text", "provider", "location"),
    [
        ("create table t as select 1", "csv", ""),
        ("create table t using Delta as (select 1)", "delta", ""),
        (
            "create table t comment 'same as yesterday' location '/x/c1' using json as select 1",
            "json",
            "/x/c1",
        ),
        ("/* using csv */ create table t using delta -- location '/old'\nas select 1", "delta", ""),
        ("""create table t comment "location '/no'" as select 1""", "csv", ""),
        ('create table t location "s3://lake/t" as select 1', "csv", "s3://lake/t"),
        ("create table t location 'file:/t?token=abc' as select 1", "csv", "file:/t?token=***"),
    ],
)
def test_clauses_are_read_but_not_comments_and_texts(text, provider, location):
    """A wrong name would make a dataset that does not exist."""
    made = made_by(text)
    assert (made.provider, made.location) == (provider, location)


@pytest.mark.parametrize(
    "text",
    [
        "create table t using csv options (path '/x') as select 1",
        "create table t stored as orc as select 1",
        "create table t location 'relative/place' as select 1",
        "create table t location '/x/../y' as select 1",
        "create table t tblproperties ('location' = '/x') as select 1",
        "create table t (a int)",
        "create table t like other",
        "create view t as select 1",
        "alter table t rename to u",
        "insert into t select 1",
        "drop table t",
    ],
)
def test_a_place_that_is_not_certain_is_not_planned(text):
    """Its START is sent with its end."""
    assert made_by(text) is None


def test_the_query_of_a_statement_is_what_may_be_analyzed():
    """Never the statement itself: its schema is asked for while it runs."""
    text = "-- saves the rows as\ncreate or replace table t using delta as select a as b from s"
    assert made_by(text) == Making("delta", "", "select a as b from s", replaces=True)
