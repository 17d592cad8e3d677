"""Batches of a stream with a source without new data: Spark puts empty rows in its place."""

from __future__ import annotations

from dataclasses import replace

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions
from tests.spark_trees import Tree, alias, column, node, project, record, scan

SINK = "WriteToMicroBatchDataSourceV1"
STATE = project(
    scan(column("id", 11), column("v", 12)),
    alias("id", 1, column("id", 11)),
    alias("v", 2, column("v", 12)),
)
EMPTY = node("LocalRelation", output=[column("id", 1), column("v", 2)], isStreaming=True)


def batch(rows: Tree) -> Record:
    """Return a batch that writes a column that is read from the stream."""
    query = project(rows, alias("out", 9, column("v", 2)))
    source = {"paths": ["file:/in/a.json"], "is_stream": True}
    facts = [
        {"node": "LogicalRelation", "expr_id": 11, "probed": source},
        {"node": "LocalRelation", "expr_id": 1, "probed": {"in_sql": False}},
        {"node": SINK, "expr_id": None, "probed": {"sink": "FileSink[file:/out]", "mode": "Append"}},
    ]
    return record(query, plan=node(SINK, query, queryId="q"), facts=facts, name="microBatch")


def lines(*records: Record) -> list[str]:
    return render(compose(execution.lineage for execution in executions(records))).splitlines()


def test_a_batch_without_new_data_has_the_inputs_of_earlier_batches() -> None:
    """An aggregate is written when its watermark has passed, in a batch of its own."""
    *_, last = executions([batch(STATE), batch(EMPTY)])
    assert render(last.lineage).splitlines() == [
        "reads   file /in   id bigint, v bigint",
        "writes  file /out   append",
        "out <- in.v    direct    identity",
    ]
    assert not [line for line in lines(batch(STATE), batch(EMPTY)) if line.startswith("gap")]


def test_a_batch_whose_state_is_older_than_the_program_is_a_gap() -> None:
    """A stream that goes on from its checkpoint has rows that another run read."""
    (gap,) = (line for line in lines(batch(EMPTY)) if line.startswith("gap"))
    assert "rows come from earlier batches of the stream" in gap


def test_a_source_without_columns_is_still_an_input() -> None:
    """No later batch can find it by a column, and the batch that read it is complete."""
    source = {"paths": ["file:/in/a.json"], "is_stream": True}
    first = batch(STATE)
    facts = [{"node": "LogicalRelation", "expr_id": -1, "probed": source}, first.facts[-1]]
    empty = scan()
    (execution,) = executions([replace(first, plan=node(SINK, empty, queryId="q"), facts=facts)])
    assert render(execution.lineage).splitlines() == ["reads   file /in", "writes  file /out   append"]


def test_a_batch_without_rows_adds_nothing_to_the_counts() -> None:
    """Spark runs a batch without data to move a watermark: it wrote 0 rows, and an empty file or none."""
    counted = {"rows": 5, "size_bytes": 900}
    for empty, size in (({"rows": 0, "size_bytes": 472}, 1372), ({"rows": 0, "size_bytes": 0}, 900)):
        text = lines(replace(batch(STATE), written=counted), replace(batch(EMPTY), written=empty))
        assert f"writes  file /out   append   rows=5 bytes={size}" in text


def test_a_batch_that_was_not_counted_leaves_the_counts_unknown() -> None:
    """A task that failed, for example, is counted with the rows of all attempts."""
    counted = {"rows": 5, "size_bytes": 900}
    text = lines(replace(batch(STATE), written=counted), replace(batch(STATE), written=None))
    assert "writes  file /out   append" in text
