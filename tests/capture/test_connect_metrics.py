"""Counts of the server, from the metrics in its responses."""

from __future__ import annotations

from types import SimpleNamespace

from airflow_provider_spark_lineage.spark.capture.connect.metrics import counts_of


def node(number, name, parent, **values):
    metrics = [SimpleNamespace(name=key, value=value) for key, value in values.items()]
    return SimpleNamespace(plan_id=number, name=name, parent_plan_id=parent, metrics=metrics)


PLAN = [
    node(1, "Sort", 0, sortTime=1),
    node(2, "Exchange", 1, dataSize=10),
    node(3, "Scan parquet ", 2, numOutputRows=3, numFiles=1, filesSize=500, scanTime=9),
]


def test_only_scans_and_writes_count():
    """A record has rows, files and bytes of physical scans and writes; other metrics are not recorded."""
    assert counts_of(PLAN, "") == [{"node": "Scan parquet", "rows": 3, "files": 1, "size_bytes": 500}]


def test_rows_that_were_sampled_are_not_counted():
    """To sort by ranges Spark reads twice: the rows below are not known."""
    text = "Exchange rangepartitioning(amount#1 ASC NULLS FIRST, 2)"
    assert counts_of(PLAN, text) == [{"node": "Scan parquet", "files": 1, "size_bytes": 500}]
