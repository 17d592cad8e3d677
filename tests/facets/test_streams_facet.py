"""`sparkLineage_streams`: bounded, failures first, and nothing that is unknown."""

from __future__ import annotations

from dataclasses import replace

from airflow_provider_spark_lineage.spark.facets.streams import MAX_QUERIES, MAX_SOURCES, streams_facets
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.streams import Progress, StreamRun, Streams, StreamSource

RUN = StreamRun("query", "run", outcome="running")


def facet(*runs, count=0):
    application = Application("app", "load", "4.1.0", streams=Streams(count or len(runs), runs))
    return streams_facets([application])["sparkLineage_streams"]


def test_a_query_without_a_batch_has_only_what_is_known():
    """A reader does not take an unknown speed for zero."""
    known = {"applicationId": "app", "id": "query", "runId": "run"}
    assert facet(RUN).queries == [{**known, "outcome": "running", "batches": 0, "rows": 0}]


def test_rates_of_all_sources_are_added():
    """A query is as fast as its sources together; a source without a rate does not hide the others."""
    sources = (
        StreamSource("a", input_rows_per_second=1.5, processed_rows_per_second=2.5),
        StreamSource("b", processed_rows_per_second=1.0, metrics={"lag": 3.0}),
    )
    [query] = facet(replace(RUN, last=Progress(7, "2026-01-01T00:00:00Z", sources=sources))).queries
    assert (query["inputRowsPerSecond"], query["processedRowsPerSecond"]) == (1.5, 3.5)
    assert [source.get("lag") for source in query["sources"]] == [None, {"lag": 3.0}]


def test_an_event_lists_failures_and_the_last_queries_and_counts_all():
    """A program that starts a query each minute does not fill the event, and an early failure stays in it."""
    runs = [replace(RUN, run_id=str(n), outcome="failure" if n == 3 else "success") for n in range(60)]
    listed = facet(*runs, count=900)
    assert listed.count == 900
    assert [query["runId"] for query in listed.queries] == ["3", *map(str, range(61 - MAX_QUERIES, 60))]


def test_an_event_lists_some_sources():
    """A query over hundreds of topics does not fill the event."""
    last = Progress(0, sources=tuple(StreamSource(str(n)) for n in range(50)))
    assert len(facet(replace(RUN, last=last)).queries[0]["sources"]) == MAX_SOURCES
