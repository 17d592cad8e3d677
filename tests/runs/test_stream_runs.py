"""Child runs of streaming queries: one for each run of a query, with one end, whatever its batches did."""

from __future__ import annotations

from dataclasses import replace

import pytest
from spark_trees import column, node, record, scan

from airflow_provider_spark_lineage.spark.facets.events import RunIdentity, execution_events
from airflow_provider_spark_lineage.spark.lineage.job_names import JobNames
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.records.streams import StreamRun, Streams
from airflow_provider_spark_lineage.spark.runs.event_executions import StreamRuns, execution_events_of
from airflow_provider_spark_lineage.spark.runs.executions import Executions, executions
from airflow_provider_spark_lineage.spark.runs.sender import Sender

RUN_ID = "0190a0a0-0000-7000-8000-000000000000"
PARENT = RunIdentity(RUN_ID, "tests", "dag.task")
ROWS = scan(column("a", 1))
ENDED = StreamRun("query", "r1", ended_at="2026-01-01T01:00:00.000Z", outcome="success")
FAILED = replace(ENDED, outcome="failure", error={"class": "E", "message": "no"})


def batch(number, *, run="r1", **more):
    """A write of a function of `foreachBatch`, of as many rows as the batch's number."""
    at = f"2026-01-01T00:00:{number:02}"
    times = {"started_at": f"{at}.000+00:00", "ended_at": f"{at}.500+00:00"}
    written = record(ROWS, stream_run=run, written={"rows": number}, **{**times, **more})
    written.facts[-1]["probed"]["mode"] = "Append"
    return written


def query(number, **more):
    """A query of such a function, or of a program, that only reads."""
    return replace(batch(number, **more), plan=ROWS, name="count")


class Sent:
    """A sender, and what it has sent."""

    def __init__(self, **options):
        self.events = []
        self.sender = Sender(PARENT, self.events.append, **options)
        self._executions = Executions()

    def put(self, *records):
        for each in records:
            self.sender.put(self._executions.of(each))
        return self

    def stop(self):
        self.sender.stop(60)
        return [(event.eventType.value, event.job.name) for event in self.events]

    @property
    def rows(self):
        return [
            output.outputFacets["outputStatistics"].rowCount
            for event in self.events
            for output in event.outputs
            if event.eventType.value != "START"
        ]


def test_all_batches_are_one_run():
    """A stream of a thousand batches is one child in the backend, with the sum of its rows."""
    sent = Sent().put(*(batch(number) for number in range(1, 5)))
    sent.sender.end_streams([ENDED])
    assert sent.stop() == [("START", "dag.task.out"), ("COMPLETE", "dag.task.out")]
    start, end = sent.events
    assert start.run.runId == end.run.runId
    assert (start.eventTime, end.eventTime) == (
        "2026-01-01T00:00:01.000+00:00",
        "2026-01-01T01:00:00.000+00:00",
    )
    assert sent.rows == [1 + 2 + 3 + 4]
    assert [event.job.facets["jobType"].processingType for event in sent.events] == ["STREAMING"] * 2


def test_an_execution_that_began_earlier_and_ended_later_is_of_the_same_run():
    """Threads of a function write at the same time; START is sent when the first of them has ended."""
    sent = Sent().put(batch(2), batch(1))
    assert [state for state, _ in sent.stop()] == ["START", "COMPLETE"]
    assert len({event.run.runId for event in sent.events}) == 1


def test_a_query_that_runs_has_its_start():
    """Somebody who looks at a stream that runs for days finds it in the backend."""
    sent = Sent().put(batch(1))
    sent.sender._waiting.put(None)
    sent.sender._thread.join(60)
    assert [event.eventType.value for event in sent.events] == ["START"]


def test_a_restart_is_another_run_with_its_own_sums():
    """From a checkpoint on, the rows of earlier runs are not counted again."""
    sent = Sent().put(batch(1), batch(2))
    sent.sender.end_streams([ENDED])
    sent.put(batch(3, run="r2"))
    assert [job for _, job in sent.stop()] == ["dag.task.out"] * 2 + ["dag.task.out.2"] * 2
    assert sent.rows == [3, 3]
    assert len({event.run.runId for event in sent.events}) == 2


def test_a_query_that_still_runs_gets_one_end():
    """A backend shows a run without an end as running for ever."""
    assert [state for state, _ in Sent().put(batch(1)).stop()] == ["START", "COMPLETE"]


def test_a_query_that_fails_is_a_failure_with_its_reason():
    """Also where no batch failed on Spark: the function of the user raised. What was written stays."""
    sent = Sent().put(batch(1))
    sent.sender.end_streams([FAILED, ENDED])
    assert [state for state, _ in sent.stop()] == ["START", "FAIL"]
    assert sent.events[-1].run.facets["errorMessage"].message == "E: no"
    assert sent.rows == [1]


def test_a_failure_that_the_function_handled_is_no_failure_of_the_query():
    """The query decides, not the last execution."""
    bad = batch(2, outcome="failure", error={"class": "E", "message": "no"})
    sent = Sent().put(batch(1), bad)
    sent.sender.end_streams([ENDED])
    assert [state for state, _ in sent.stop()] == ["START", "COMPLETE"]
    assert [state for state, _ in Sent().put(batch(1), bad).stop()] == ["START", "COMPLETE"]


def test_a_query_is_named_after_what_it_writes():
    """A function may look at a batch before it writes it; a stream into nothing is named after its source."""
    assert Sent().put(query(1), batch(2)).stop()[0] == ("START", "dag.task.out")
    assert Sent().put(query(1)).stop() == [("START", "dag.task.in"), ("COMPLETE", "dag.task.in")]
    into_memory = replace(batch(1), plan=node("WriteToMicroBatchDataSource", ROWS, queryId="query"))
    sent = Sent()
    sent.put(into_memory)
    assert sent.sender._streams._open["r1"].job == "dag.task.in"


@pytest.mark.parametrize(("interval", "states"), [(0, []), (1e-9, ["RUNNING"] * 2), (3600, [])])
def test_a_running_query_reports_at_the_interval(interval, states):
    """Off by default; never more often than the option says."""
    sent = Sent(progress_interval_seconds=interval).put(batch(1), batch(2), batch(3))
    assert [state for state, _ in sent.stop()] == ["START", *states, "COMPLETE"]
    assert sent.rows == ([3, 6, 6] if states else [6])


@pytest.mark.parametrize(
    ("which", "states"), [("all", ["START", "COMPLETE"]), ("writes", []), ("failed", [])]
)
def test_only_wanted_queries_are_sent(which, states):
    """As for executions: here is a query that writes nothing."""
    assert [state for state, _ in Sent(which=which).put(query(1)).stop()] == states


def test_a_failed_query_is_wanted_where_failures_are():
    """It is known at its end only."""
    sent = Sent(which="failed").put(batch(1))
    sent.sender.end_streams([FAILED])
    assert [state for state, _ in sent.stop()] == ["START", "FAIL"]


def test_the_java_agent_sends_streams_itself():
    """Two runs of one query would be worse than none."""
    sent = Sent()
    sent.sender.silenced = lambda: True
    assert sent.put(batch(1)).stop() == []


def test_an_execution_after_the_end_of_its_query_is_its_own():
    """A pool of threads keeps the description of the query that created it."""
    sent = Sent().put(batch(1))
    sent.sender.end_streams([ENDED])
    assert [job for _, job in sent.put(batch(2)).stop()] == ["dag.task.out"] * 2 + ["dag.task.out.2"] * 2


def test_records_of_a_folder_have_the_same_runs():
    """What a task sends while it runs, `spark-lineage events` prints from the records."""
    sent = Sent().put(batch(1), query(2, run=""), batch(3))
    sent.sender.end_streams([FAILED])
    sent.stop()
    records = executions([batch(1), query(2, run=""), batch(3)])
    printed = execution_events(
        execution_events_of(records, JobNames("dag.task"), [FAILED]), PARENT, application_id="app"
    )

    def facts(events):
        names = [(event.eventType.value, event.job.name, event.eventTime) for event in events]
        return sorted(names, key=lambda name: name[1:])

    assert facts(printed) == facts(sent.events)


def test_records_of_an_earlier_release_are_executions():
    """A record without the field is read, and its execution has a run of its own."""
    value = batch(1).to_json()
    del value["stream_run"]
    assert Record.from_json(value).stream_run == ""
    assert not StreamRuns(JobNames("j"), "all").has(Executions().of(Record.from_json(value)))


@pytest.mark.parametrize("at", ["yesterday", "2026-01-01T00:00:09"])
def test_a_time_that_cannot_be_read_costs_only_the_time(at):
    """A status file may hold any text: every run has its end."""
    [run] = Streams.from_json({"count": 1, "runs": [{**vars(ENDED), "ended_at": at, "last": None}]}).runs
    sent = Sent().put(batch(1))
    sent.sender.end_streams([run])
    assert [state for state, _ in sent.stop()] == ["START", "COMPLETE"]


def test_what_is_reported_after_the_end_has_no_events():
    """The thread of the capture may be late: a run has one end, and a task has no second run of its query."""
    sent = Sent().put(batch(1))
    before = sent.stop()
    sent.put(batch(2), query(3))
    sent.sender.begin(sent._executions.begun(replace(query(4), stream_run="")))
    assert sent.stop() == before
