"""`spark-lineage explain` and `events` on captured records, good and bad ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from openlineage_client import needs_newest_client

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.cli.recorded import RUN_FILE
from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.records.record import SUFFIX
from airflow_provider_spark_lineage.spark.records.status import UNFINISHED, DriverNote
from airflow_provider_spark_lineage.spark.runs.captured import Captured
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

BOTH = pytest.mark.parametrize("command", ["explain", "events"])


PAGE = """
writes  file /data/a   create   3 rows, 515 bytes, 1 file
  customer <- orders.customer   direct identity

writes  file /data/b   create   3 rows, 484 bytes, 1 file
  customer <- people.customer   direct identity
"""


def run(command: str, folder: Path, *more: str) -> Result:
    return CliRunner().invoke(main, [command, str(folder), *more])


def documents(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_explain_is_a_page_with_a_headline_for_each_output(recorded):
    """The output's name is printed above its columns; a pipe gets no colour codes."""
    result = run("explain", recorded("two_copies"))
    assert result.exit_code == 0
    reads, page = result.stdout[: -len(PAGE)].splitlines(), result.stdout[-len(PAGE) :]
    assert page == PAGE
    people = "customer string, name string, city string, age int"
    assert reads[1:] == [f"reads   file /data/people   3 rows, 1,235 bytes, 1 file   {people}"]


def test_explain_is_called_text_as_well(recorded):
    """Both words print the same lineage."""
    folder = recorded("two_copies")
    assert run("text", folder).stdout == run("explain", folder).stdout != ""


def test_explain_one_column(recorded):
    """`--column` leaves the sources of that output column, and nothing else."""
    text = run("explain", recorded("alias_chain"), "--column", "customer").stdout
    assert (
        text
        == """\
writes  file /data/out   create   2 rows, 711 bytes, 1 file
  customer <- orders.customer   direct identity
  *        <- orders.customer   indirect group by

*  every column: this decides which rows the output has, or how they are grouped and ordered
"""
    )


@pytest.mark.parametrize(
    ("column", "hint"),
    [("custmer", "did you mean `customer`?"), ("zzz", "the outputs have customer, text")],
)
def test_explain_of_a_column_that_is_not_there(recorded, column, hint):
    """A typing error is answered with the nearest name, not with nothing."""
    result = run("explain", recorded("alias_chain"), "--column", column)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"spark-lineage: no output has a column `{column}`: {hint}\n"


def test_explain_each_execution(recorded):
    """`--each` shows the executions by number before the whole run."""
    text = run("explain", recorded("two_copies"), "--each").stdout
    assert text.index("execution 1   ") < text.index("execution 2   ") < text.index("whole run\n")
    first = text[text.index("execution 1") : text.index("execution 2")]
    assert "/data/a" in first
    assert "/data/b" not in first


def test_explain_as_json(recorded):
    """A program gets the same lineage as one JSON object."""
    document = json.loads(run("explain", recorded("two_copies"), "--json", "--each").stdout)
    assert [dataset["name"] for dataset in document["outputs"]] == ["/data/a", "/data/b"]
    assert [len(execution["outputs"]) for execution in document["executions"]] == [1, 1]


def test_jobs_over_rdds_are_called_so(recorded):
    """Their events have the type that consumers know from OpenLineage's Java agent."""
    events = documents(run("events", recorded("rdd_text"), "--namespace", "ns", "--job", "lines"))
    types = [
        event["job"]["facets"]["jobType"]["jobType"] for event in events if event["job"]["name"] != "lines"
    ]
    assert types == ["RDD_JOB", "RDD_JOB", "RDD_JOB", "RDD_JOB", "SQL_JOB", "SQL_JOB"]


def test_a_job_is_named_after_its_target(recorded):
    """If the plan names its target, a statement has one job name, whether it succeeds or fails."""
    events = documents(run("events", recorded("failure"), "--namespace", "ns", "--job", "etl"))
    assert [
        (event["eventType"], event["job"]["name"]) for event in events if event["eventType"] != "START"
    ] == [
        ("COMPLETE", "etl.done"),
        ("FAIL", "etl.undone"),
        ("FAIL", "etl.never"),
        ("FAIL", "etl"),
    ]


@needs_newest_client
def test_events_are_valid_and_name_the_job(recorded):
    """START and COMPLETE of the run enclose a pair for each execution, under the given names."""
    events = documents(run("events", recorded("two_copies"), "--namespace", "ns", "--job", "copies"))
    assert [(event["eventType"], event["job"]["name"]) for event in events] == [
        ("START", "copies"),
        ("START", "copies.a"),
        ("COMPLETE", "copies.a"),
        ("START", "copies.b"),
        ("COMPLETE", "copies.b"),
        ("COMPLETE", "copies"),
    ]
    assert {event["job"]["namespace"] for event in events} == {"ns"}
    assert [problem for event in events for problem in problems_of(event)] == []


def test_events_are_those_of_the_context_manager(recorded):
    """`captured.events(...)` and `spark-lineage events` print the same."""
    folder = recorded("failure")
    captured = Captured()
    for record in RecordedFolder(folder).records([]):
        captured.write(record)
    captured.stop()
    printed = documents(run("events", folder, "--namespace", "ns", "--job", "j"))
    assert captured.events(namespace="ns", job="j") == printed


@pytest.mark.parametrize(("code", "ending"), [(0, "COMPLETE"), (1, "FAIL")])
def test_the_scripts_exit_code_decides_how_the_run_ended(recorded, code, ending):
    """A script that survived a failed execution completed; the execution itself failed all the same."""
    folder = recorded("failure")
    (folder / RUN_FILE).write_text(json.dumps({"job": "script", "exit_code": code}))
    events = documents(run("events", folder))
    assert (events[-1]["eventType"], events[-1]["job"]["name"]) == (ending, "script")
    assert "FAIL" in [event["eventType"] for event in events[:-1]]


@BOTH
def test_no_folder_and_no_records_are_one_sentence(command, tmp_path):
    """Exit code 2, one sentence that names the folder and the cause, no traceback."""
    for folder, cause in ((tmp_path / "gone", "does not exist"), (tmp_path, "has no records")):
        result = run(command, folder)
        assert (result.exit_code, result.stdout) == (2, "")
        (sentence,) = result.stderr.splitlines()
        assert sentence.startswith(f"spark-lineage: {folder} {cause}")


def _foreign(path: Path) -> None:
    path.write_bytes(gzip.compress(b'{"format": "something else"}'))


def _newer(path: Path) -> None:
    document = json.loads(gzip.decompress(path.read_bytes()))
    path.write_bytes(gzip.compress(json.dumps({**document, "version": 99}).encode()))


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


DAMAGE = {
    "is truncated or damaged": _truncated,
    "is not a spark-lineage record": _foreign,
    "has record version 99": _newer,
}


@BOTH
@pytest.mark.parametrize("cause", DAMAGE)
def test_a_bad_record_is_reported_and_the_others_are_used(command, cause, recorded):
    """Exit code 2 and one sentence with file and cause, after the lineage of the readable records."""
    folder = recorded("two_copies")
    path = sorted(folder.glob("*" + SUFFIX))[0]
    DAMAGE[cause](path)
    result = run(command, folder)
    assert result.exit_code == 2
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith(f"spark-lineage: {path} {cause}")
    assert "/data/b" in result.stdout
    assert "/data/a" not in result.stdout.replace(str(folder), "")


@BOTH
def test_only_bad_records_are_one_sentence(command, recorded):
    """With nothing left to read, nothing is printed but the cause."""
    folder = recorded("distinct")
    for path in folder.glob("*" + SUFFIX):
        _truncated(path)
    result = run(command, folder)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is truncated or damaged" in result.stderr
    assert "Traceback" not in result.stderr


def note(folder: Path, **fields: Any) -> None:
    """Write the note of a driver that had the agent."""
    name, content = DriverNote("app-1", "job", "4.1.4", **fields).encode()
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)


@BOTH
def test_records_that_a_driver_lost_are_reported(recorded, command):
    """Records of a driver that was killed, or could not write all, must not claim to be all."""
    folder = recorded("two_copies")
    note(folder, problems=["a record could not be written: disk full"])
    result = run(command, folder)
    warnings = ["a record could not be written: disk full", UNFINISHED]
    assert (result.exit_code, result.stderr) == (2, "".join(f"spark-lineage: {each}\n" for each in warnings))
    assert all(f"{each}" in result.stdout for each in warnings)


@BOTH
def test_a_driver_that_left_no_record_says_why(tmp_path, command):
    """Without the driver's own words, its user would look for a mistake in the command."""
    note(tmp_path, is_complete=True, problems=["nothing is captured: out of memory"])
    result = run(command, tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"spark-lineage: {tmp_path} has no records: no Spark execution was captured there; "
        "nothing is captured: out of memory\n"
    )
