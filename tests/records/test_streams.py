"""Facts about streaming queries: without secrets, bounded, and tolerant of other releases."""

from __future__ import annotations

import json

import pytest

from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.streams import MAX_OFFSET_LENGTH, MOST_RUNS, Streams

SOURCE = {
    "description": "KafkaV2[Subscribe[t]] of jdbc:postgresql://me:hunter2@db/sales",
    "start_offset": '{"t": {"0": 1}}',
    "end_offset": {"t": {"0": 9, "password": "hunter2"}},
    "rows": 8,
    "input_rows_per_second": 2.5,
    "metrics": {"maxOffsetsBehindLatest": "4", "numRows": "7", "lag": "NaN", "behind": "far"},
}
RUN = {
    "id": "query",
    "run_id": "run",
    "name": "copy",
    "outcome": "failure",
    "batches": 2,
    "rows": 8,
    "error": {"class": "E", "message": "password=hunter2"},
    "last": {"batch_id": 1, "at": "2026-01-01T00:00:00.000Z", "sources": [SOURCE]},
}


def run(**changes):
    [run] = Streams.from_json({"count": 1, "runs": [{**RUN, **changes}]}).runs
    return run


def test_no_secret_is_kept():
    """Descriptions have URLs, offsets are any text of a source, messages repeat options."""
    assert "hunter2" not in str(run())


def test_offsets_are_compact_json_and_cut():
    """Offsets of a topic with thousands of partitions fit into an event."""
    [source] = run().last.sources
    assert source.start_offset == '{"t":{"0":1}}'
    long = {**SOURCE, "end_offset": {str(n): n for n in range(5000)}}
    [source] = run(last={"batch_id": 1, "sources": [long]}).last.sources
    assert len(source.end_offset) == MAX_OFFSET_LENGTH


def test_metrics_are_numbers_about_what_is_not_read_yet():
    """Other metrics have no meaning without their source's documentation."""
    [source] = run().last.sources
    assert source.metrics == {"maxOffsetsBehindLatest": 4.0}


def test_a_status_file_repeats_it():
    """What the agent writes is what the task reads."""
    application = Application("app", "load", "4.1.0", streams=Streams(3, (run(),)))
    details = json.loads(json.dumps(application.details))
    assert Application("app", "load", "4.1.0").with_details(details) == application


@pytest.mark.parametrize(
    "value",
    [
        {"runs": 3},
        {"runs": [3, {}, {"run_id": 7}, {"run_id": "a", "outcome": "new"}]},
        {"count": "many", "runs": [None]},
    ],
)
def test_foreign_values_are_left_out(value):
    """A file of another release, or a damaged one, costs only what is wrong in it."""
    assert Streams.from_json(value) == Streams()
    assert (
        run(last={"batch_id": 1, "sources": [3, {"rows": "x"}], "duration_ms": True}).last.duration_ms is None
    )


def test_without_facts_nothing_is_known():
    """A Connect client does not say that there was no stream."""
    assert Streams.from_json(None) is None


def test_the_number_of_runs_is_bounded():
    """A program that starts a query each minute for a year."""
    streams = Streams.from_json({"count": 900, "runs": [{**RUN, "run_id": str(n)} for n in range(900)]})
    assert (streams.count, len(streams.runs), streams.runs[-1].run_id) == (900, MOST_RUNS, "899")
