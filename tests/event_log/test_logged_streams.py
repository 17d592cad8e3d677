"""Streaming queries of a log: sums over batches, how a query ended, and a bounded number of them."""

from __future__ import annotations

import json

from airflow_provider_spark_lineage.spark.event_log.streams import LoggedStreams
from airflow_provider_spark_lineage.spark.records.streams import MOST_RUNS


def started(run, name="copy"):
    return json.dumps(
        {"id": "query", "runId": run, "name": name, "timestamp": "2026-01-01T00:00:00.000Z"}
    ).encode()


def progressed(run, batch, rows, as_text=False, sink=None):
    sources = [{"description": "s", "startOffset": None, "endOffset": batch, "numInputRows": rows}]
    progress = {"id": "query", "runId": run, "batchId": batch, "sources": sources, "durationMs": {}}
    progress["sink"] = {"description": sink}
    return json.dumps({"progress": json.dumps(progress) if as_text else progress}).encode()


def ended(run, exception=None):
    event = {"id": "query", "runId": run, "exception": exception, "errorClassOnException": None}
    return json.dumps(event).encode()


def test_each_run_has_its_own_sums():
    """A restart from a checkpoint counts only its own batches; a repeated batch number is one batch."""
    streams = LoggedStreams()
    for run, batches in (("1", (0, 1)), ("2", (2, 2, 3))):
        streams.started(started(run))
        for batch in batches:
            streams.progressed(progressed(run, batch, 10, as_text=batch == 3))
        streams.ended(ended(run))
    known = [(run.run_id, run.batches, run.rows, run.outcome) for run in streams.streams().runs]
    assert known == [("1", 2, 20, "success"), ("2", 2, 30, "success")]


def test_a_query_that_failed_has_its_reason_and_its_name():
    """The event of the end has neither name nor a condition, if Spark has none."""
    for with_messages, message in ((True, "disk full"), (False, None)):
        streams = LoggedStreams(with_messages=with_messages)
        streams.started(started("1"))
        streams.ended(ended("1", "java.io.IOException: disk full\n\tat a.b"))
        [run] = streams.streams().runs
        assert (run.name, run.outcome, run.error["class"]) == ("copy", "failure", "java.io.IOException")
        assert run.error.get("message") == message


def test_the_runs_that_ended_are_forgotten_first():
    """A query that runs for months stays, beside thousands of short ones."""
    streams = LoggedStreams()
    streams.started(started("long"))
    for number in range(MOST_RUNS + 50):
        streams.started(started(str(number)))
        streams.ended(ended(str(number)))
    kept = streams.streams()
    assert (kept.count, len(kept.runs), kept.runs[0].run_id) == (MOST_RUNS + 51, MOST_RUNS, "long")


def test_values_of_partitions_are_masked_where_values_are_not_reported():
    """The folder of a partition has a value, as a live session masks it."""
    for with_messages, sink in ((True, "FileSink[/out/ssn=1]"), (False, "FileSink[/out/ssn=_]")):
        streams = LoggedStreams(with_messages=with_messages)
        streams.progressed(progressed("1", 1, 2, sink="FileSink[/out/ssn=1]"))
        [run] = streams.streams().runs
        assert run.last.sink == sink
