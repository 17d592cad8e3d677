"""Folders of a dataset that are written and read by their paths: their place, and the rows read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from recordings import RECORDS, recordings
from spark_trees import column, project, record, scan
from tasks import changes, edge, edges_of, execution, inputs_of, modes_of, reads, writes

from airflow_provider_spark_lineage.spark.gaps.of_plans import REMOVED_ROWS
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.execution import ExecutionLineage
from airflow_provider_spark_lineage.spark.lineage.model import (
    Failure,
    Gap,
    Input,
    Lineage,
    Mode,
    Output,
    Snapshot,
)
from airflow_provider_spark_lineage.spark.lineage.reads import together
from airflow_provider_spark_lineage.spark.lineage.wrapping import wrapped
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions
from airflow_provider_spark_lineage.spark.sources.dataset import Part

Access = TypeVar("Access", Input, Output)

DAYS = [("20240101", "20240102"), ("2024-01-01", "2024-01-02"), ("2024/01/01", "2024/01/02"), ("d=1", "d=2")]


def at(part: Access, *folders: str) -> Access:
    """A read or a write of folders of its dataset alone; an empty name is all of it."""
    name = part.dataset.id.name
    locations = tuple(f"file:{name}/{folder}" for folder in folders if folder)
    return replace(part, dataset=part.dataset.of(Part(locations)))


def copied(source: str, *folders: str, mode: Mode = Mode.OVERWRITE, rows: int | None = None) -> Lineage:
    """Column `v` of a source is written into a folder of the dataset `d`."""
    write = writes("d", edge(f"{source}.v", "v"), mode=mode, rows=rows)
    return execution(reads(source, "v", rows=rows), at(write, *folders))


def read(*folders: str, rows: int | None = None) -> Lineage:
    """Column `v` of folders of `d` is written to `out`."""
    return execution(at(reads("d", "v", rows=rows), *folders), writes("out", edge("d.v", "v")))


def sources(lineage: Lineage, name: str = "out") -> set[str]:
    return {each.source.name.removeprefix("/wh/") for each in edges_of(lineage, name)}


def rows_read(lineage: Lineage) -> int | None:
    (of_folders,) = (source for source in lineage.inputs if source.dataset.id.name == "/wh/d")
    return of_folders.statistics.rows


@pytest.mark.parametrize(("first", "second"), DAYS)
@pytest.mark.parametrize("mode", [Mode.CREATE, Mode.OVERWRITE])
def test_folder_has_the_rows_written_there(first: str, second: str, mode: Mode) -> None:
    """A write of one folder leaves the others as they were, and adds to the rows that the dataset got."""
    steps = [copied("a", first, mode=mode, rows=3), copied("b", second, mode=mode, rows=5)]
    lineage = compose([*steps, read(first)])
    assert sources(lineage) == {"a"}
    assert sources(lineage, "d") == {"a", "b"}
    assert inputs_of(lineage) == ["a", "b"]
    assert lineage.outputs[0].statistics.rows == 8
    again = compose([*steps, copied("c", first, rows=1), read(first)])
    assert sources(again) == {"c"}
    assert again.outputs[0].statistics.rows == 6


@pytest.mark.parametrize("replaces_all", [True, False])
def test_an_overwrite_of_all_partitions_is_not_partial(replaces_all: bool) -> None:
    """A first run finds none, and one that replaces all leaves no earlier row: its files are the oldest."""
    (recording, *_) = recordings(RECORDS, "insert_dynamic_partition")
    given = json.loads(recording.lines[0])
    probed = given["facts"][0]["probed"]
    counts = given["metrics"][0]
    del probed["table"]
    probed["oldest_write"] = [counts["files"], counts["size_bytes"]] if replaces_all else [1, 5]
    (execution_,) = executions([Record.from_json(given)])
    (output,) = execution_.lineage.outputs
    assert (output.partial, output.partitions) == ((False, ()) if replaces_all else (True, ("day",)))
    assert output.mode is Mode.OVERWRITE


def test_an_append_to_an_absent_folder_adds_nothing_to_rows_of_other_folders() -> None:
    """Another folder of the same dataset that the task wrote says nothing of this one."""
    added = at(writes("d", edge("b.v", "v"), mode=Mode.APPEND), "p=2")
    created = replace(added, mode=Mode.CREATE, as_added=added)
    lineage = compose([copied("a", "p=1"), execution(reads("b", "v"), created), read("p=2")])
    assert inputs_of(lineage) == ["a", "b"]
    assert edges_of(lineage, "out") == {edge("b.v", "v")}


def alone(write: Output) -> Output:
    """The first folder of a dataset: no other folder held data afterwards."""
    return replace(write, is_alone=True, dataset=at(write, "day=1").dataset)


@pytest.mark.parametrize("mode", [Mode.CREATE, Mode.OVERWRITE, Mode.APPEND])
def test_a_dataset_that_held_one_folder_after_its_first_write_has_no_older_rows(mode: Mode) -> None:
    """A folder that was replaced has all rows of it; one that was added to may have older rows itself."""
    first = execution(reads("a", "v"), alone(writes("d", edge("a.v", "v"), mode=mode)))
    lineage = compose([first, copied("b", "day=2"), read()])
    older = {"d"} if mode is Mode.APPEND else set()
    assert sources(lineage) == {"a", "b"} | older
    assert inputs_of(lineage) == ["a", "b", *older]
    assert modes_of(lineage)["d"] is Mode.OVERWRITE
    dropped = compose([first, execution(changes("d", Mode.DROP))])
    assert modes_of(dropped) == {"d": Mode.DROP}


@pytest.mark.parametrize(("file_format", "name"), [("parquet", "V"), ("csv", "w")])
def test_a_first_folder_gives_its_columns_their_names(file_format: str, name: str) -> None:
    """Readers of all folders match columns of Parquet without regard to case, and of CSV by position."""

    def formatted(output: Output) -> Output:
        identity = replace(output.dataset.identity, file_format=file_format)
        return replace(output, dataset=replace(output.dataset, identity=identity))

    first = execution(reads("a", "v"), formatted(alone(writes("d", edge("a.v", "v")))))
    second = execution(reads("b", "v"), formatted(at(writes("d", edge("b.v", name)), "day=2")))
    assert sources(compose([first, second, read()])) == {"a", "b"}


def test_a_first_folder_does_not_bring_back_what_a_failed_write_removed() -> None:
    """Other folders may have held the rows, so the gap stays until the whole dataset is written."""
    gap = Gap("Write", REMOVED_ROWS(), edge("d.v").source)
    failed = execution(reads("a", "v"), gaps=(gap,), failures=(Failure("Error", "no"),))
    first = execution(reads("a", "v"), alone(writes("d", edge("a.v", "v"))))
    assert compose([failed, first]).gaps == (gap,)
    assert compose([failed, copied("a")]).gaps == ()


def test_a_table_with_one_overwritten_folder_keeps_its_other_rows() -> None:
    """The folder has the new rows alone, the others those of the first write, and the table both."""
    steps = [copied("a"), copied("b", "day=1")]
    inputs = {name: sources(compose([*steps, read(name)])) for name in ("day=1", "day=2", "")}
    assert inputs == {"day=1": {"b"}, "day=2": {"a"}, "": {"a", "b"}}


def test_column_that_only_the_folder_s_name_has_originates_in_the_dataset() -> None:
    """Spark reads `day` from the path: it is not from the source of an earlier write of the table."""
    written = execution(reads("a", "v", "day"), writes("d", edge("a.v", "v"), edge("a.day", "day")))
    steps = [written, copied("b", "day=1")]
    of_day = execution(at(reads("d", "day"), "day=1"), writes("out", edge("d.day", "day")))
    assert sources(compose([*steps, of_day])) == {"d"}
    assert not compose([*steps, of_day]).gaps


def test_a_new_folder_is_not_a_new_dataset() -> None:
    """The dataset may be older, though nothing was in the folder that the mode `error` wrote."""
    query = scan(column("k", 1), column("v", 2))
    into = record(query).facts[-1]
    target = {**into["probed"], "paths": "file:/d/20240101", "mode": "ErrorIfExists"}
    (written,) = executions([replace(record(query), facts=[{**into, "probed": target}])])
    (output,) = written.lineage.outputs
    assert (output.dataset.id.name, output.mode) == ("/d", Mode.OVERWRITE)


def test_folders_that_one_execution_reads_apart_are_traced_apart() -> None:
    """Both sides of a join are one dataset, and each has the rows of its own folder."""
    left, right = edge("d.v", "l"), edge("d.v", "r")
    joined = writes("out", left, right)
    joined = replace(
        joined, origins=frozenset([(left, Snapshot(frozenset({"1"}))), (right, Snapshot(frozenset({"2"})))])
    )
    both = together(at(reads("d", "v"), "1"), at(reads("d", "v"), "2"))
    lineage = compose([copied("a", "1"), copied("b", "2"), execution(both, joined)])
    assert edges_of(lineage, "out") == {edge("a.v", "l"), edge("b.v", "r")}


def test_count_of_a_dataset_is_unknown_where_one_counted_folder_was_replaced() -> None:
    """The share of the total that was in that folder is unknown."""
    assert compose([copied("a", rows=3), copied("b", "1", rows=5)]).outputs[0].statistics.rows is None
    whole = compose([copied("b", "1", rows=5), copied("a", rows=3)])
    assert whole.outputs[0].statistics.rows == 3
    added = compose([copied("a", rows=3), copied("b", "1", rows=5, mode=Mode.APPEND)])
    assert added.outputs[0].statistics.rows == 8


@pytest.mark.parametrize(
    ("folders", "rows"),
    [
        ([("1", 3), ("2", 5)], 8),
        ([("1", 3), ("1", 5), ("1", 4)], 5),
        ([("1", 3), ("", 9), ("2", 5)], 9),
        # A filter left out row groups: the parts were read in full.
        ([("1", 3), ("", 4), ("2", 5)], 8),
        ([("2024/01", 3), ("2024", 5), ("2023", 1)], 6),
        ([("1", 3), ("2", None)], None),
        ([("1", 3), ("", None)], None),
    ],
)
def test_reads_of_different_folders_add(folders: list[tuple[str, int | None]], rows: int | None) -> None:
    """Repeated reads of the same folders, or of some of them, are the largest; unknown makes unknown."""
    assert rows_read(compose([read(name, rows=count) for name, count in folders])) == rows


def test_reads_that_share_some_folders_have_no_common_count() -> None:
    """Rows of the shared folder would count twice; a read of all folders of another counts it too."""
    assert rows_read(compose([read("1", "2", rows=3), read("2", "3", rows=4)])) is None
    assert rows_read(compose([read("1", "2", rows=3), read("2", rows=2), read("3", rows=4)])) == 7


def test_locations_are_not_named_where_all_of_the_dataset_was_read() -> None:
    """The subset of the reads together is the whole."""
    lineage = compose([read("1"), read(""), read("2")])
    assert lineage.inputs[0].dataset.identity.locations == ()
    assert compose([read("1"), read("2")]).inputs[0].dataset.identity.locations == (
        "file:/wh/d/1",
        "file:/wh/d/2",
    )


def by_pattern(pattern: str, *files: str) -> Lineage:
    """An execution that reads files of `d` by a pattern."""
    locations = tuple(f"file:/wh/d/{name}" for name in files)
    part = Part(locations, (f"file:/wh/d/{pattern}",))
    of_files = reads("d", "v", rows=1)
    return execution(replace(of_files, dataset=of_files.dataset.of(part)), writes("out", edge("d.v", "v")))


def test_reads_by_patterns_state_the_patterns_and_are_compared_by_their_files() -> None:
    """Files of two patterns add; beside a plain path, that path is stated; with the whole, nothing is."""
    json, csv = by_pattern("*.json", "a.json", "b.json"), by_pattern("*.csv", "c.csv")
    both = compose([json, csv, json])
    assert both.inputs[0].dataset.identity.part.shown == ("file:/wh/d/*.json", "file:/wh/d/*.csv")
    assert rows_read(both) == 2
    mixed = compose([json, read("1")])
    assert mixed.inputs[0].dataset.identity.part.shown == ("file:/wh/d/*.json", "file:/wh/d/1")
    assert compose([json, read("")]).inputs[0].dataset.identity.part.shown == ()


def both_days(first: int | None = None, second: int | None = None) -> Input:
    """One execution reads two folders of `d` apart."""
    return together(at(reads("d", "v", rows=first), "1"), at(reads("d", "v", rows=second), "2"))


def test_folders_that_a_command_reads_apart_have_the_counts_of_the_write_inside() -> None:
    """A CTAS has no counts of its own, and the write that it runs has those of each folder."""
    write = writes("out", edge("d.v", "v"))
    inside = ExecutionLineage(execution(both_days(3, 5), write), query=(1,))
    outside = ExecutionLineage(execution(both_days(), write), wraps=True, query=(1,))
    lineage = wrapped(inside, outside).lineage
    assert rows_read(compose([lineage])) == 8
    assert rows_read(compose([lineage, read("2", rows=5)])) == 8


def test_folders_that_a_failed_execution_read_are_not_counted() -> None:
    """A failed read is partial; a later read of one folder does not give the count of the other."""
    failed = execution(both_days(3, 5).uncounted())
    assert rows_read(compose([failed])) is None
    assert rows_read(compose([failed, read("1", rows=3)])) is None
    assert rows_read(compose([failed, read("1", rows=3), read("2", rows=5)])) == 8


FOLDERS = ["", "1", "1/x", "2"]
steps_of_folders = st.lists(
    st.tuples(st.sampled_from(FOLDERS), st.sampled_from([Mode.APPEND, Mode.OVERWRITE, Mode.CREATE])),
    max_size=8,
)


@given(steps_of_folders, st.sampled_from(FOLDERS))
@example([("", Mode.OVERWRITE), ("1", Mode.OVERWRITE), ("", Mode.APPEND), ("1", Mode.OVERWRITE)], "1")
def test_every_folder_has_the_rows_that_a_file_system_has(steps: list[tuple[str, Mode]], folder: str) -> None:
    """Appends add to a folder and to those inside it, other writes replace them, in any order."""
    places: dict[str, set[str]] = {place: {"d"} for place in FOLDERS}
    executions = []
    for number, (written, mode) in enumerate(steps):
        executions.append(copied(f"s{number}", written, mode=mode))
        for place in FOLDERS:
            if (place + "/").startswith(written + "/") or not written:
                places[place] = {f"s{number}"} | (places[place] if mode is Mode.APPEND else set())
    inside = (place for place in FOLDERS if (place + "/").startswith(folder + "/") or not folder)
    assert sources(compose([*executions, read(folder)])) == set().union(*(places[name] for name in inside))


@pytest.mark.parametrize("partitions", [[], ["p"], ["P"]])
def test_lines_of_text_have_their_readers_name_in_partitions_too(partitions: list[str]) -> None:
    """Text files have one column; those in the names of folders keep their names."""
    query = project(scan(column("line", 1), column("p", 2)), column("p", 2), column("line", 1))
    if not partitions:
        query = project(scan(column("line", 1)), column("line", 1))
    written = record(query)
    target = {**written.facts[-1]["probed"], "format": "Text", "partition_columns": partitions}
    facts = [*written.facts[:-1], {**written.facts[-1], "probed": target}]
    (execution_,) = executions([replace(written, facts=facts)])
    (output,) = execution_.lineage.outputs
    assert [field.name for field in output.dataset.fields] == [*map(str.lower, partitions), "value"]
    assert {(each.field, each.column) for each in output.edges} >= {("line", "value")}
