"""Telling Spark's own reads in an event log: those that infer the schema of files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from recordings import Recording

from airflow_provider_spark_lineage.spark.event_log.inference import infers, job_infers, only_defines


def texts(case: str, log: str) -> Iterator[str]:
    for line in Recording(case, kind=log).lines:
        event = json.loads(line)
        if event["Event"].endswith("SQLExecutionStart"):
            yield event["physicalPlanDescription"]


@pytest.mark.parametrize("log", ["events", "formatted"])
def test_a_reader_infers_and_a_writer_of_the_same_name_does_not(log: str) -> None:
    """`spark.read.csv` runs two queries over the text of the file, `df.write.csv` a command."""
    of_names, of_types, write = texts("csv", log)
    for name in ("csv", "load"):
        assert [infers(name, text) for text in (of_names, of_types, write)] == [True, True, False]


@pytest.mark.parametrize("log", ["events", "formatted"])
def test_other_actions_over_text_are_the_users(log: str) -> None:
    """A user may run the same query as Spark, by another method."""
    of_names, _, _ = texts("csv", log)
    assert not infers("collect", of_names)
    assert not infers("command", of_names)


@pytest.mark.parametrize("log", ["events", "formatted"])
def test_a_definition_over_files_runs_no_other_query(log: str) -> None:
    """CREATE VIEW USING reads files to define the view; CREATE TABLE AS SELECT reads them for its rows."""
    view, of_names, of_types, table, _ = texts("csv_view", log)
    assert "CreateTempViewUsing" in view
    assert only_defines(view)
    assert not any(map(only_defines, (of_names, of_types, table)))


@pytest.mark.parametrize(
    "plan",
    [
        "AdaptiveSparkPlan isFinalPlan=false\n+- Execute InsertIntoHadoopFsRelationCommand file:/out, CSV\n"
        "   +- FileScan text [value#0]",
        "AdaptiveSparkPlan (3)\n+- Execute InsertIntoHadoopFsRelationCommand (2)\n   +- Scan text  (1)\n\n\n"
        "(1) Scan text \nOutput [1]: [value#0]",
    ],
)
def test_a_write_below_another_operator_is_a_write(plan: str) -> None:
    """Spark plans a write over an aggregate adaptively: the command is not the first line of its plan."""
    assert not infers("csv", f"== Physical Plan ==\n{plan}")


def job(action: str, *rdds: str) -> dict[str, Any]:
    """Return a job that an action ran over RDDs that other calls made."""
    at = "NativeMethodAccessorImpl.java:0"
    calls = [{"Callsite": f"{call} at {at}"} for call in rdds]
    return {"Stage Infos": [{"Stage Name": f"{action} at {at}", "RDD Info": calls}]}


@pytest.mark.parametrize("method", ["csv", "json", "load", "orc", "parquet", "sql"])
def test_a_job_of_a_reader_infers(method: str) -> None:
    """Spark reads the footers of Parquet files by a job over an RDD of its own, outside of executions."""
    assert job_infers(job(method, method, method))


def test_a_job_over_an_rdd_of_the_program_is_the_programs() -> None:
    """`spark.read.json(rdd)` reads the RDD's sources; an action over RDDs is not a reader's method."""
    assert not job_infers(job("json", "json", "map"))
    assert not job_infers(job("collect", "collect"))


def test_a_job_that_loads_a_model_is_the_programs():
    """Spark 3.5 reads the parameters of a model by an RDD over its files, in a method called `load`."""
    loaded = job("load", "load")
    loaded["Stage Infos"][0]["RDD Info"][0] |= {
        "Name": "/model/metadata",
        "Scope": '{"id":"0","name":"textFile"}',
    }
    assert not job_infers(loaded)
