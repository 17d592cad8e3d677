"""Searches from many columns at a time find what a search from each of them finds."""

from __future__ import annotations

import numpy as np
import pytest
from graph.plain_graph import random_current, written

from airflow_provider_spark_lineage.openlineage.graph import closure
from airflow_provider_spark_lineage.openlineage.graph.closure import Closure
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.model import BY_ROWS, BY_VALUE, LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import ColumnEdge


def columns_of(graph: LineageGraph) -> list[int]:
    return [node for dataset in graph.datasets for node in graph.nodes_of(dataset)[1:]]


def pairs_in(graph: LineageGraph, *, by_rows: bool, depth: int | None) -> dict[int, dict[int, tuple]]:
    """Return for each column what depends on it, and how; all rows of a dataset are written out."""
    starts = np.array([graph.nodes_of(dataset)[0] for dataset in graph.datasets] + [graph.size])
    search = Closure(graph.source, graph.target, graph.is_direct, graph.write, starts, by_rows=by_rows)
    known: dict[int, dict[int, tuple]] = {}
    for found in search.downstream(columns_of(graph), depth=depth):
        known |= {column: {} for column in found.sources.tolist()}
        for pair in zip(*(each.tolist() for each in found[1:6]), strict=True):
            known[int(found.sources[pair[0]])][pair[1]] = pair[2:]
    for column, pairs in known.items():
        for rows in [each for each in pairs if graph.is_all_rows(each)]:
            for node in graph.nodes_of(graph.dataset_of(rows))[1:]:
                if node != column:
                    pairs.setdefault(node, pairs[rows])
            del pairs[rows]
    return known


@pytest.mark.parametrize("most_keys", [1_000_000, 3], ids=["whole", "cut"])
@pytest.mark.parametrize("depth", [None, 1, 2])
@pytest.mark.parametrize("by_rows", [True, False], ids=["rows", "values"])
def test_every_column_depends_on_what_its_own_search_finds(monkeypatch, by_rows, depth, most_keys):
    """How it depends, and how many jobs away; with cycles, also if the search must be cut into many."""
    monkeypatch.setattr(closure, "_MOST_KEYS", most_keys)
    for seed in range(100):
        graph = LineageGraph.of(random_current(seed))
        found = pairs_in(graph, by_rows=by_rows, depth=depth)
        for column in columns_of(graph):
            reach = graph.reach([column], by_rows=by_rows, depth=depth)
            expected = {
                node: (reach.depth(node, BY_VALUE) >= 0, reach.depth(node, BY_ROWS) >= 0, reach.depth(node))
                for node in reach.nodes
                if node != column and not graph.is_all_rows(node)
            }
            assert found.pop(column) == expected, (seed, graph.node(column))
        assert not found


def test_all_rows_of_a_dataset_are_one_pair():
    """A filter decides each of a hundred columns, and of all tables behind: one pair for each table."""
    names = [f"c{number}" for number in range(100)]
    tables = [
        written(
            f"t{number}",
            [ColumnEdge(name, ("ns", f"t{number - 1}"), name, "DIRECT", "", False) for name in names]
            + [ColumnEdge(None, ("ns", "t0"), "c0", "INDIRECT", "FILTER", False)] * (number == 1),
            [("ns", f"t{number - 1}")],
            number,
        )
        for number in (1, 2, 3)
    ]
    graph = LineageGraph.of(Current(tuple(tables), (), {}))
    starts = np.array([graph.nodes_of(dataset)[0] for dataset in graph.datasets] + [graph.size])
    search = Closure(graph.source, graph.target, graph.is_direct, graph.write, starts)
    found = [*search.downstream([graph.node_of(("ns", "t0"), name) for name in names])]
    nodes = [
        graph.node(int(target))[1:]
        for each in found
        for origin, target in zip(each.origin, each.target, strict=True)
        if graph.node(int(each.sources[origin])).field == "c0"
    ]
    assert nodes == [("t1", None), ("t1", "c0"), ("t2", None), ("t2", "c0"), ("t3", None), ("t3", "c0")]
    assert sum(len(each.target) for each in found) == len(nodes) + 99 * 3
