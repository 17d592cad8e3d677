"""Gaps for rows that a program collected before it wrote literals, on records made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from spark_trees import Tree, alias, call, column, node, project, record, scan

from airflow_provider_spark_lineage.spark.lineage.model import Gap
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions
from airflow_provider_spark_lineage.spark.runs.recorded import RunBuilder

ROWS = scan(column("a", 1))


def literal(kind: Any = "integer") -> Tree:
    return call("Literal", dataType=kind)


def filtered(condition: Tree) -> Tree:
    return node("Filter", ROWS, condition=condition)


def at(second: int) -> dict[str, str]:
    """An execution that takes a second."""
    times = (f"2026-01-01T00:00:{each:02}+00:00" for each in (second, second + 1))
    return dict(zip(("started_at", "ended_at"), times, strict=True))


def collect(second: int, line: str, folder: str = "file:/in") -> Record:
    """An execution that returned the rows of a folder to a line of the program."""
    fact = {"node": "LogicalRelation", "expr_id": 1, "probed": {"paths": [folder], "format": "Parquet"}}
    return record([], plan=ROWS, facts=[fact], name="collectToPython", collected=line, **at(second))


def write(second: int, query: Tree, folder: str = "file:/out") -> Record:
    """An execution that wrote a query to a folder."""
    written = record(query, **at(second))
    probed = {**written.facts[-1]["probed"], "paths": folder}
    return replace(written, facts=[*written.facts[:-1], {**written.facts[-1], "probed": probed}])


LAST = write(5, filtered(call("EqualTo", column("a", 1), literal())))
"""`where(f"a = {last}")`"""


def gaps_of(*records: Record) -> list[Gap]:
    builder = RunBuilder()
    builder.read(executions(records), ())
    return [gap for gap in builder.run().lineage.gaps if gap.where == "program"]


def test_a_later_literal_may_come_from_collected_rows() -> None:
    """One gap of the run names the dataset, the line and the output; it is about no column."""
    [gap] = gaps_of(collect(1, "load.py:3"), LAST)
    assert (gap.output, gap.column) == (None, "")
    assert gap.reason == (
        "the program collected rows of /in at load.py:3: literals and functions in its later writes to /out "
        "may hold values of these rows, without an edge"
    )


def test_a_dataset_is_named_once() -> None:
    """A loop over days, or several lines, are one gap; long lists are cut."""
    lines = [collect(1, f"load.py:{number % 5}") for number in range(20)]
    writes = [replace(LAST), write(7, filtered(literal()), "file:/more")]
    [gap] = gaps_of(*lines, *writes, *writes)
    assert "rows of /in at load.py:0, load.py:1, load.py:2 and 2 more: " in gap.reason
    assert "writes to /out, /more may" in gap.reason


def test_each_dataset_has_its_own_gap() -> None:
    """The next reader looks for the dataset that a value may come from."""
    gaps = gaps_of(collect(1, "load.py:3"), collect(2, "load.py:4", "file:/days"), LAST)
    assert [gap.reason.split(":")[0] for gap in gaps] == [
        "the program collected rows of /in at load.py",
        "the program collected rows of /days at load.py",
    ]


def test_rows_that_are_only_shown_leave_no_gap() -> None:
    """The record of `print(df.collect())`, of `show()` and of `count()` has no line."""
    assert gaps_of(collect(1, ""), LAST) == []


def test_what_was_written_before_has_no_value_of_the_rows() -> None:
    """A write that began before the rows were there, ended before or after them."""
    assert gaps_of(LAST, collect(6, "load.py:3")) == []
    assert gaps_of(collect(6, "load.py:3"), LAST) == []


def test_other_programs_have_no_value_of_the_rows() -> None:
    """A task may run several drivers, which share no variables."""
    assert gaps_of(collect(1, "load.py:3"), replace(LAST, application_id="local-2")) == []


def test_a_write_without_literals_has_no_value_of_the_rows() -> None:
    """A plan without a value of the program can hold none of the rows."""
    assert gaps_of(collect(1, "load.py:3"), write(5, ROWS)) == []


def test_literals_that_spark_puts_in_are_not_the_programs() -> None:
    """`count(*)` counts 1, names of a struct's fields are texts, a missing value has no type."""
    counted = alias("n", 5, call("Count", literal()))
    fields = alias("s", 6, call("CreateNamedStruct", literal("string"), column("a", 1)))
    missing = alias("m", 7, literal("void"))
    of_spark = write(5, project(node("Aggregate", ROWS, aggregateExpressions=[counted]), fields, missing))
    assert gaps_of(collect(1, "load.py:3"), of_spark) == []
    value = alias("s", 6, call("CreateNamedStruct", literal("string"), literal()))
    assert len(gaps_of(collect(1, "load.py:3"), write(5, project(ROWS, value)))) == 1


def test_inserted_values_are_literals() -> None:
    """`INSERT INTO t VALUES (...)` has rows of the program."""
    assert (
        len(gaps_of(collect(1, "load.py:3"), write(5, node("LocalRelation", output=[column("a", 1)])))) == 1
    )


@pytest.mark.parametrize("name", ["PythonUDF", "PythonUDAF", "TranspiledPythonUDF", "ScalaUDF"])
def test_a_function_in_python_may_hold_the_rows(name: str) -> None:
    """`udf(lambda key: names.value[key])`, where `names` is a broadcast variable made of the rows."""
    query = project(ROWS, alias("n", 5, call(name, column("a", 1))))
    assert len(gaps_of(collect(1, "load.py:3"), write(5, query))) == (name != "ScalaUDF")


@pytest.mark.parametrize(
    "name",
    [
        "MapInPandas",
        "MapInArrow",
        "FlatMapGroupsInPandas",
        "FlatMapCoGroupsInArrow",
        "FlatMapGroupsInPandasWithState",
        "TransformWithStateInPySpark",
    ],
)
def test_code_over_whole_rows_may_hold_the_rows(name: str) -> None:
    """Its own gap is about the columns that it received, not about other datasets."""
    query = node(name, ROWS, output=[column("b", 5)])
    assert len(gaps_of(collect(1, "load.py:3"), write(5, query))) == 1


def test_a_write_that_failed_has_written_nothing() -> None:
    """No output, no literal in it."""
    failed = replace(LAST, outcome="failure", error={"class": "E", "message": ""})
    assert gaps_of(collect(1, "load.py:3"), failed) == []


def test_an_unknown_line_is_left_out() -> None:
    """A loop of an SQL script has no line of a program."""
    [gap] = gaps_of(collect(1, "?"), LAST)
    assert gap.reason.startswith("the program collected rows of /in: literals")


def test_the_write_inside_a_command_has_the_literals() -> None:
    """A command without a plan is read from the write inside."""
    inside = {"name": "save", "plan": LAST.plan, "facts": LAST.facts, "metrics": []}
    assert len(gaps_of(collect(1, "load.py:3"), replace(LAST, plan=[], facts=[], parts=[inside]))) == 1
