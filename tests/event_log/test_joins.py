"""Joins without an equality in a logged plan."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.event_log.metrics import joins_of


def node(name, *children, rows=None):
    metrics = [] if rows is None else [{"name": "number of output rows", "accumulatorId": rows}]
    return {"nodeName": name, "metrics": metrics, "children": list(children)}


def test_the_rows_of_a_side_are_those_of_its_first_count():
    """A projection and an exchange do not count rows; the rows of a union are those of several nodes."""
    left = node("Project", node("InputAdapter", node("Filter", node("Scan parquet", rows=3), rows=2)))
    right = node("BroadcastExchange", node("Union", node("Scan", rows=3), node("Scan", rows=3)))
    plan = node("AdaptiveSparkPlan", node("BroadcastNestedLoopJoin", left, right, rows=1))
    assert [*joins_of(plan, {1: 100, 2: 20, 3: 500}, 7)] == [
        {"node": "BroadcastNestedLoopJoin", "execution": 7, "rows": 100, "left_rows": 20}
    ]


def test_a_cartesian_product_counts_its_sides_several_times():
    """Each task of a product reads a partition of each side again, so their counts are too large."""
    sides = [node("Scan parquet", rows=2), node("Scan parquet", rows=2)]
    plan = node("CartesianProduct", *sides, rows=1)
    assert [*joins_of(plan, {1: 16, 2: 12}, 0)] == [{"node": "CartesianProduct", "execution": 0, "rows": 16}]
    assert [*joins_of(plan, {}, 0)] == [{"node": "CartesianProduct", "execution": 0, "rows": 0}]
    assert not [*joins_of(node("SortMergeJoin", *sides, rows=1), {1: 16}, 0)]
