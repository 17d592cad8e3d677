"""Errors of a program are the same with and without capture, with the frames of their Java stack traces."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.spark

PROGRAMS = {
    "unknown table": lambda spark, path: spark.sql("select * from nowhere"),
    "unknown column of a statement": lambda spark, path: spark.sql("select b from numbers"),
    "unknown column of a frame": lambda spark, path: spark.range(3).select("b"),
    "path that is not there": lambda spark, path: spark.read.parquet(path),
    "insert into an unknown table": lambda spark, path: spark.range(3).write.insertInto("nowhere"),
    "save of a table that exists": lambda spark, path: spark.range(3).write.saveAsTable("numbers"),
    "drop of an unknown table": lambda spark, path: spark.sql("drop table nowhere"),
    "insert of too many columns": lambda spark, path: spark.sql("insert into numbers select 1, 2"),
    "wrong syntax": lambda spark, path: spark.sql("selec 1"),
    "error of the optimizer": lambda spark, path: spark.sql("select 1 / 0").collect(),
    "error of a task": lambda spark, path: spark.range(3).selectExpr("1 / (id - 1)").collect(),
}


@pytest.fixture
def errors(spark, tmp_path):
    """Return a function that runs all programs and returns their errors, which it caught."""
    spark.sql("create or replace temporary view rows as select 1 as id")
    spark.sql("drop table if exists numbers")
    spark.sql("create table numbers (a int) using parquet")

    def run():
        caught = {}
        for name, program in PROGRAMS.items():
            with pytest.raises(Exception) as error:  # noqa: PT011
                program(spark, str(tmp_path / "nowhere"))
            caught[name] = error.value
        return caught

    return run


def printed(spark, error):
    """Return the lines that Java prints of an error now, without what differs from call to call."""
    origin = getattr(error, "_origin", None) or error.java_exception
    lines = spark._jvm.org.apache.spark.util.Utils.exceptionString(origin).splitlines()
    # Java calls a method in another way once it was called often; `... 22 more` counts these frames.
    reflection = re.compile(r"at java\.base/(jdk\.internal|java\.lang)\.(reflect|invoke)\.|\.\.\. \d+ more$")
    varying = re.compile(r"#\d+L?|Lambda[^ ]*|stage \d+\.\d+|TID \d+")
    return [varying.sub("#", line) for line in lines if not reflection.search(line)]


def test_stack_traces_are_those_of_the_program(spark, errors, recorded):
    """Capture reads the plans of failed queries, and leaves the stack traces of their errors as they were.

    Since Spark 4.0 an error gets the frames of whoever asked the query last.
    """
    without = errors()
    with recorded() as records:
        within = errors()
    assert len(records) >= len(PROGRAMS) / 2, "failed queries are executions"
    for name in PROGRAMS:
        assert printed(spark, within[name]) == printed(spark, without[name]), name
        assert not [line for line in printed(spark, within[name]) if "sparklineage" in line], name


def test_a_query_that_failed_after_its_analysis_has_a_plan(spark, errors, recorded):
    """What was read and what was to be written are known where the analysis succeeded, and only there."""
    with recorded() as records:
        errors()
    kinds = {record.error["class"].rpartition(".")[2]: record.plan_kind for record in records if record.error}
    assert kinds["ExtendedAnalysisException"] == "none"
    assert kinds["SparkArithmeticException"] == "analyzed"
