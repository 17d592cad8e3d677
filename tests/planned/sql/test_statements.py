"""Planned reads and writes of statements of Spark SQL: `statements.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planned_text import cases, shown

from airflow_provider_spark_lineage.spark.planned.program import Program
from airflow_provider_spark_lineage.spark.planned.session import Session
from airflow_provider_spark_lineage.spark.planned.sql.statements import read_sql

STATEMENTS = Path(__file__).with_name("statements.txt")


def read(text: str) -> Program:
    program = Program()
    program.add(read_sql(text, Session({"given": "schema"}, {})))
    return program


@pytest.mark.parametrize(("rule", "text", "expected"), cases(STATEMENTS))
def test_statements(rule: str, text: str, expected: str) -> None:
    """Each block's first line is the rule."""
    assert shown(read(text)) == expected, rule


PIECES = """
select * from t where ( ) ; , insert into overwrite directory '/x' create table view as using parquet options
merge update delete set = 'a ' ` " -- /* */ ${x} with drop alter use cache load data inpath values 1 .
lateral union all join on partition rename to truncate explain
"""


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES.split()), max_size=30).map(" ".join)))
def test_no_text_raises(text: str) -> None:
    """Any text gives a program, with gaps for the parts that are not understood."""
    assert all(step.line >= 1 for step in read(text).steps)
