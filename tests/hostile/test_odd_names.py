"""Columns, tables and folders may be called anything: names keep their letters through every stage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from spark_trees import alias, call, column, project, record, scan

from airflow_provider_spark_lineage.spark.lineage.model import Kind, Lineage
from airflow_provider_spark_lineage.spark.records.record import write_record
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

ODD = [
    "a.b",
    "`a`",
    "größe",
    "数量",
    "😀",
    "a b",
    "it's",
    'say "x"',
    "a\nb",
    "a\tb",
    "a\\nb",
    "a,b",
    "*",
    "<-",
    "%s{0}",
    " ",
    "\u202ea",
]


def lineage_of(name: str, folder: str = "/in") -> Lineage:
    tree = project(scan(column(name, 1)), alias(name, 2, call("Upper", column(name, 1))))
    return execution_lineage(record(tree, (1, f"file:{folder}"))).lineage


@pytest.mark.parametrize("name", ODD, ids=repr)
def test_name_is_kept_to_the_letter(name: str, tmp_path: Path) -> None:
    """In the model, in a second execution that reads it back, and in events."""
    first = project(scan(column(name, 1)), alias(name, 2, column(name, 1)))
    second = project(scan(column(name, 3)), alias("x", 4, call("Upper", column(name, 3))))
    write_record(tmp_path, record(first, (1, "file:/in"), number=1))
    back = record(second, (3, "file:/out"), number=2)
    back.facts[1]["probed"]["paths"] = "file:/last"
    write_record(tmp_path, back)
    recorded = RecordedFolder(tmp_path)
    last = next(written for written in recorded.lineage.outputs if written.dataset.id.name == "/last")
    assert [(edge.source.name, edge.field, edge.kind) for edge in last.edges] == [
        ("/in", name, Kind.TRANSFORMATION)
    ]
    event = recorded.events(namespace="tests", job="names")[-1]
    output = next(
        dataset for dataset in json.loads(json.dumps(event))["outputs"] if dataset["name"] == "/last"
    )
    (read,) = output["facets"]["columnLineage"]["fields"]["x"]["inputFields"]
    assert read["field"] == name


@pytest.mark.parametrize("name", ODD, ids=repr)
def test_text_has_one_line_for_each_thing(name: str, tmp_path: Path) -> None:
    """No name can forge a line of the text, or hide one."""
    write_record(tmp_path, record(project(scan(column(name, 1)), alias(name, 2, column(name, 1)))))
    lines = RecordedFolder(tmp_path).text().split("\n")
    assert [line[:5] for line in lines[:2]] == ["reads", "write"]
    assert len(lines) == 4
    assert all(letter.isprintable() for line in lines for letter in line)


@given(st.text(max_size=12))
@example("")
def test_any_name_finds_its_edge(name: str) -> None:
    """Whatever JSON can carry."""
    (output,) = lineage_of(name).outputs
    assert [edge.field for edge in output.edges] == [name]


@pytest.mark.parametrize("folder", ["/in a", "/in.csv dir", "/größe", "/a`b", "/it's", "/a,b", "/a[b]{c}"])
def test_folder_is_kept_to_the_letter(folder: str) -> None:
    """Hadoop's paths have no escapes."""
    (read,) = lineage_of("a", folder).inputs
    assert read.dataset.id.name == folder


def test_columns_that_differ_by_case_alone() -> None:
    """In a case-sensitive session `a` and `A` are two columns."""
    tree = project(
        scan(column("a", 1), column("A", 2)),
        alias("a", 3, call("Upper", column("A", 2))),
        alias("A", 4, column("a", 1)),
    )
    (output,) = execution_lineage(record(tree)).lineage.outputs
    assert {(edge.column, edge.field) for edge in output.edges} == {("a", "A"), ("A", "a")}


def test_columns_of_one_name() -> None:
    """If an output has two columns of one name, edges of either belong to that name."""
    tree = project(
        scan(column("a", 1), column("b", 2)), alias("x", 3, column("a", 1)), alias("x", 4, column("b", 2))
    )
    (output,) = execution_lineage(record(tree)).lineage.outputs
    assert {(edge.column, edge.field) for edge in output.edges} == {("x", "a"), ("x", "b")}


def test_table_without_columns() -> None:
    """Nothing can be read of it; that it was read is all there is, or a gap."""
    execution = record(scan())
    execution.facts[0]["expr_id"] = None
    lineage = execution_lineage(execution).lineage
    assert lineage.gaps or lineage.inputs
