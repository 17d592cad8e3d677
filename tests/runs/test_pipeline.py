"""The execution made of a record's parts, on records made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from gap_kinds import gap_kinds
from spark_trees import WRITE, Tree, alias, call, column, node, project, record, scan

from airflow_provider_spark_lineage.spark.lineage.job_names import JobNames
from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.event_executions import execution_events_of
from airflow_provider_spark_lineage.spark.runs.executions import (
    Executions,
    execution_lineage,
    executions,
    plans_of,
)
from airflow_provider_spark_lineage.spark.runs.facets import facets_as_json
from airflow_provider_spark_lineage.spark.runs.recorded import RunBuilder

ONE = project(node("OneRowRelation"), alias("one", 1, call("Literal")))
CTAS = "CreateDataSourceTableAsSelectCommand"
TABLE = {
    "location": "file:/wh/t",
    "table": ["default", "t"],
    "warehouse": "file:/wh",
    "format": "parquet",
}


def target(name: str, probed: dict[str, Any]) -> dict[str, Any]:
    return {"node": name, "expr_id": None, "probed": probed}


def part(
    plan: list[dict[str, Any]], *facts: dict[str, Any], name: str = "command", **more: Any
) -> dict[str, Any]:
    return {"name": name, "plan": plan, "facts": list(facts), "metrics": [], **more}


def test_a_command_has_the_names_and_the_write_inside_the_rows() -> None:
    """CREATE TABLE AS SELECT of literals: the write inside knows no place, but the command does."""
    inside = part(node("AppendData", ONE))
    around = record(
        [], plan=node(CTAS, ONE), facts=[target(CTAS, TABLE)], parts=[inside], written={"rows": 1}
    )
    (execution,) = executions([around])
    (output,) = execution.lineage.outputs
    assert output.dataset.id.name == "/wh/t"
    assert output.statistics.rows == 1
    assert execution.lineage.gaps == ()


def test_commands_may_run_commands() -> None:
    """Each takes the datasets of the command inside of it; the innermost write has the inputs."""
    rows = scan(column("a", 1))
    read = {"node": "LogicalRelation", "expr_id": 1, "probed": {"paths": ["file:/in"], "format": "Parquet"}}
    insert = part(
        node(WRITE, rows), read, target(WRITE, {"paths": "file:/wh/t", "format": "Parquet", "mode": "Append"})
    )
    middle = part(node(CTAS, query=rows), target(CTAS, TABLE))
    outer = "SaveAsV1TableCommand"
    around = record(
        [],
        plan=node(outer, query=rows),
        facts=[target(outer, {**TABLE, "mode": "Overwrite"})],
        parts=[insert, middle],
    )
    (execution,) = executions([around])
    assert [source.dataset.id.name for source in execution.lineage.inputs] == ["/in"]
    (output,) = execution.lineage.outputs
    assert (output.dataset.id.name, output.mode.value) == ("/wh/t", "overwrite")
    assert [(edge.column, edge.field) for edge in output.edges] == [("a", "a")]


def test_the_output_of_an_unknown_command_is_known() -> None:
    """A class of another release: its name is a gap, and the write that it ran is an output."""
    rows = scan(column("a", 1))
    read = {"node": "LogicalRelation", "expr_id": 1, "probed": {"paths": ["file:/in"], "format": "Parquet"}}
    insert = part(node(WRITE, rows), read, target(WRITE, {"paths": "file:/out", "format": "Parquet"}))
    (execution,) = executions([record([], plan=node("CompactCommand"), facts=[], parts=[insert])])
    assert [output.dataset.id.name for output in execution.lineage.outputs] == ["/out"]
    assert gap_kinds(execution.lineage)[0] == "unknown_node"


def test_counts_of_parts_are_those_of_the_execution() -> None:
    """Rows that a part read for the command are the command's input."""
    counted = [{"node": "Scan parquet", "location": "InMemoryFileIndex(1 paths)[file:/in]", "rows": 7}]
    reading = {"name": "foreachPartition", "metrics": counted}
    insert = record(scan(column("a", 1)))
    execution = execution_lineage(replace(insert, parts=[reading], written={"rows": 7, "size_bytes": 0}))
    assert [read.statistics.rows for read in execution.lineage.inputs] == [7]
    (output,) = execution.lineage.outputs
    assert (output.statistics.rows, output.statistics.size_bytes) == (7, None)


def test_spark_s_own_reads_are_nobody_s() -> None:
    """An execution that infers a schema is left out, and takes no number."""
    inferring = {"paths": ["file:/in.csv"], "format": "Text", "option_names": ["path", "__globpaths__"]}
    facts = [{"node": "LogicalRelation", "expr_id": 1, "probed": inferring}]
    records = [
        record([], plan=scan(column("value", 1)), facts=facts, name="head"),
        record(scan(column("a", 1))),
    ]
    assert [(execution.number, execution.record.name) for execution in executions(records)] == [
        (1, "command")
    ]


READ = {"node": "LogicalRelation", "expr_id": 1, "probed": {"paths": ["file:/in"], "format": "Parquet"}}


def write_of_files(**more: Any) -> Lineage:
    """Return the lineage of a failed write of `/in` into `/out`; `more` replaces fields of the record."""
    probed = {"paths": "file:/out", "format": "Parquet", "mode": more.pop("mode", "Append")}
    metrics = [
        {"node": "Scan parquet", "rows": 2, "files": 1},
        {"node": "Execute", **more.pop("counted", {})},
    ]
    error = {"outcome": "failure", "error": {"class": "E", "message": "m"}}
    given = {"facts": [READ, target(WRITE, probed)], "metrics": metrics, **error, **more}
    (execution,) = executions([record([], plan=node(WRITE, scan(column("a", 1))), **given)])
    return execution.lineage


def test_a_read_of_a_failed_write_is_an_input_without_counts() -> None:
    """Tasks that failed read more than Spark counted; without a job nothing was read."""
    (source,) = write_of_files(jobs=1).inputs
    assert (source.dataset.id.name, bool(source.statistics)) == ("/in", False)
    assert write_of_files(jobs=0).inputs == ()
    assert len(write_of_files(jobs=None).inputs) == 1


def test_a_failed_overwrite_is_a_gap() -> None:
    """Spark removes files before it writes others; an append, and a write without a job, remove none."""
    (gap,) = write_of_files(jobs=1, mode="Overwrite").gaps
    assert gap.output is not None
    assert gap.output.name == "/out"
    assert write_of_files(jobs=1).gaps == write_of_files(jobs=0, mode="Overwrite").gaps == ()


def test_a_write_that_found_something_read_nothing() -> None:
    """The mode `ignore` of a place that is there."""
    done = {"outcome": "success", "error": None}
    assert write_of_files(mode="Ignore", counted={"files": 0, "rows": 0}, **done) == Lineage()
    assert write_of_files(mode="Ignore", metrics=[], jobs=1, **done) == Lineage()
    assert len(write_of_files(mode="Ignore", metrics=[], jobs=1, written={"rows": 0}, **done).outputs) == 1
    assert len(write_of_files(mode="Ignore", counted={"files": 1, "rows": 2}, **done).outputs) == 1


def jobs_of(*records: Record) -> list[str]:
    """The names of the jobs of executions."""
    return [execution.job for execution in execution_events_of(executions(records), JobNames("etl"))]


def test_an_execution_that_touched_no_dataset_has_no_events() -> None:
    """It takes no name either."""
    nothing = record([], plan=ONE, facts=[])
    assert jobs_of(nothing, record(scan(column("a", 1)))) == ["etl.out"]


@pytest.mark.parametrize("rows", [scan(column("a", 1)), node("Range", output=[column("id", 1)])])
def test_a_write_that_failed_has_events_whatever_it_read(rows: Tree) -> None:
    """Its child run says that it failed, also if it read no dataset, and takes the name of its target.

    A write that was rejected before it started a job did nothing.
    """
    error = {"outcome": "failure", "error": {"class": "E", "message": "m"}}
    assert jobs_of(record(rows, jobs=1, **error)) == ["etl.out"]
    assert jobs_of(record(rows, jobs=0, **error)) == []
    collected = record([], plan=rows, facts=[], jobs=1, **error)
    assert jobs_of(collected) == []


def test_a_table_that_is_created_has_the_job_of_later_writes() -> None:
    """Its write inside knows only the place, whose name may differ from the table's, also where it failed."""
    rows, place = scan(column("a", 1)), "file:/wh/0e7d1c"
    insert = part(node(WRITE, rows), READ, target(WRITE, {"paths": place, "format": "Parquet"}))
    error = {"outcome": "failure", "error": {"class": "E", "message": "m"}}
    facts = [READ, target(CTAS, {**TABLE, "location": place})]
    for outcome in ({}, error):
        created = record([], plan=node(CTAS, query=rows), facts=facts, parts=[insert], **outcome)
        assert jobs_of(created) == ["etl.t"]


def test_a_command_has_the_job_of_the_table_that_it_changes() -> None:
    """A command without a query has no other target than its output."""
    dropped = "DropTableCommand"
    probed = {**TABLE, "table_type": "MANAGED", "existed": True}
    assert jobs_of(record([], plan=node(dropped), facts=[target(dropped, probed)])) == ["etl.t"]


def test_a_plan_that_cannot_be_read_is_an_extraction_error() -> None:
    """An execution that the lineage does not contain is named by the standard facet, others are not."""
    builder = RunBuilder()
    damaged = replace(record(scan(column("id", 1))), plan=[{"class": "a.Project", "num-children": 9}])
    for execution in executions([record(scan(column("id", 1))), damaged]):
        builder.add(execution)
    facet = facets_as_json(builder.run())["extractionError"]
    assert (facet["totalTasks"], facet["failedTasks"]) == (2, 1)
    [error] = facet["errors"]
    assert error["taskNumber"] == 1
    assert error["errorMessage"].startswith("the plan could not be read: ")


def test_a_repeated_join_is_reported_once() -> None:
    """The plan of a command repeats the plan of the write inside, whose stages have its number."""
    joins = [{"node": "CartesianProduct", "execution": number, "rows": 9} for number in (1, 2)]
    small = {"node": "CartesianProduct", "execution": 3, "rows": 2}
    builder = RunBuilder()
    for execution in executions([replace(record(scan(column("id", 1))), joins=[*joins, small])]):
        builder.add(execution)
    [summary] = builder.run().executions
    assert [(join.execution, join.rows) for join in summary.joins] == [(2, 9)]


def test_checks_need_the_plans_as_the_program_wrote_them() -> None:
    """The innermost last. In an optimized plan, the filter of a check may be one with others."""
    first, second = part(node(WRITE, ONE)), part(node("AppendData", ONE))
    around = record([], plan=node(CTAS, ONE), parts=[first, second])
    assert plans_of(around) == [around.plan, second["plan"], first["plan"]]
    assert plans_of(replace(around, plan_kind="optimized")) == []


def analysis(number: int) -> Record:
    """Return the record of a query that Spark 4.2 could not analyze."""
    error = {"class": "AnalysisException", "message": f"[TABLE_OR_VIEW_NOT_FOUND] t{number}"}
    return replace(record([]), name="analyze", plan_kind="none", plan=[], outcome="failure", error=error)


@pytest.mark.parametrize(
    ("records", "names", "failures"),
    [
        ([analysis(1), analysis(2), record(scan(column("id", 1)))], ["command"], []),
        ([record(scan(column("id", 1))), analysis(1), analysis(2)], ["command", "analyze"], ["t2"]),
        ([analysis(1)], ["analyze"], ["t1"]),
    ],
)
def test_an_analysis_that_failed_is_a_failure_only_if_nothing_follows(
    records: list[Record], names: list[str], failures: list[str]
) -> None:
    """Spark 4.2 reports it as an execution. A program that goes on, or that ends well, has caught it."""
    listed = list(executions(records))
    builder, reader = RunBuilder(), Executions()
    for each in records:
        if (execution := reader.of(each)) is not None:
            builder.add(execution)
    run = builder.run()
    assert [each.number for each in run.executions] == [each.number for each in listed]
    assert [each.name for each in run.executions] == names
    assert [failure.message.split()[-1] for failure in run.lineage.failures] == failures
    ended = run.succeeded()
    assert ended.lineage.failures == ()
    assert not any(each.failed for each in ended.executions)
