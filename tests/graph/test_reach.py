"""The arrays find what a plain search over the same edges finds."""

from __future__ import annotations

import pytest
from graph.plain_graph import plain_reach, random_current, written

from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.impact import Impact
from airflow_provider_spark_lineage.openlineage.graph.model import BY_ROWS, BY_VALUE, HOW, LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import ColumnEdge
from airflow_provider_spark_lineage.openlineage.graph.selection import Selected

SEEDS = range(300)


@pytest.mark.parametrize("by_rows", [True, False], ids=["rows", "values"])
@pytest.mark.parametrize("upstream", [False, True], ids=["down", "up"])
def test_a_search_finds_what_a_plain_search_finds(upstream, by_rows):
    """Every node, how it is reached, and how many jobs away it is; with cycles, from every node."""
    for seed in SEEDS:
        current = random_current(seed)
        graph = LineageGraph.of(current)
        for dataset in graph.datasets:
            for number in graph.nodes_of(dataset):
                node = graph.node(number)
                if node.field is None and not by_rows:
                    continue
                reach = graph.reach([number], upstream=upstream, by_rows=by_rows)
                found = {
                    ((graph.node(each).name, graph.node(each).field), HOW[how]): reach.depth(each, how)
                    for each in reach.nodes
                    for how in (BY_VALUE, BY_ROWS)
                    if reach.depth(each, how) >= 0
                }
                expected = plain_reach(current, (node.name, node.field), upstream=upstream, by_rows=by_rows)
                assert found == expected, (seed, node)


@pytest.mark.parametrize("upstream", [False, True], ids=["down", "up"])
def test_a_path_leads_from_the_start_to_the_node(upstream):
    """Each step begins where the one before it ended, by edges of the writes, as the data flows."""
    for seed in SEEDS[::3]:
        current = random_current(seed)
        graph = LineageGraph.of(current)
        edges = {
            ((edge.source[1], edge.field), (write.output[1], edge.column), edge.subtype)
            for write in current.writes
            for edge in write.edges
        }
        flows = {(read[1], write.output[1]) for write in current.writes for read in write.sources}
        for start in range(sum(len(graph.nodes_of(dataset)) for dataset in graph.datasets)):
            reach = graph.reach([start], upstream=upstream)
            for node in reach.nodes:
                for how in (BY_VALUE, BY_ROWS):
                    if reach.depth(node, how) < 0:
                        continue
                    steps = reach.path(node, how)
                    ends = (node, start) if upstream else (start, node)
                    places = [graph.node(ends[0]), *(step.target for step in steps)]
                    assert places[-1] == graph.node(ends[1])
                    assert [step.source for step in steps] == places[:-1]
                    assert sum(step.write is not None for step in steps) == reach.depth(node, how)
                    jobs = [step for step in steps if step.write is not None]
                    assert reach.last_job(node, how) == (jobs[0 if upstream else -1] if jobs else None)
                    for step in steps:
                        pair = (step.source.name, step.source.field), (step.target.name, step.target.field)
                        if step.write is None:
                            assert step.source.dataset == step.target.dataset
                            assert step.source.field is None
                        elif step.type == "ROWS":
                            assert (step.source.name, step.target.name) in flows
                        else:
                            assert (*pair, step.subtype) in edges
                            assert how == BY_ROWS or step.type == "DIRECT"


class CountedGraph(LineageGraph):
    """A graph that counts how often one of its edges is read."""

    steps = 0

    def step(self, edge):
        self.steps += 1
        return super().step(edge)


def test_the_last_step_of_a_long_path_costs_as_much_as_that_of_a_short_one():
    """A chain of jobs is listed with the last step to each: whole paths would make it quadratic."""
    chain = [
        written(
            f"d{number + 1}",
            [ColumnEdge("x", ("ns", f"d{number}"), "x", "DIRECT", "IDENTITY", False)],
            [("ns", f"d{number}")],
            number,
        )
        for number in range(50)
    ]
    current = Current(tuple(chain), (), {write.job: write.run for write in chain})
    graph = CountedGraph.of(current)
    impact = Impact(current, graph, [Selected(("ns", "d0"))])
    steps = [impact.step_to(*column) for column in impact.columns]
    assert {(step.write.job, step.target.name) for step in steps} == {
        (each.job, each.output[1]) for each in chain
    }
    assert graph.steps == len(chain)


def test_a_depth_ends_the_search_after_so_many_jobs():
    """The columns of an output are as far as its rows: the same job made them."""
    chain = [
        written("b", [ColumnEdge(None, ("ns", "a"), "x", "INDIRECT", "FILTER", False)], [("ns", "a")], 1),
        written("c", [ColumnEdge("x", ("ns", "b"), "x", "DIRECT", "IDENTITY", False)], [("ns", "b")], 2),
    ]
    graph = LineageGraph.of(Current(tuple(chain), (), {}))
    start = graph.node_of(("ns", "a"), "x")
    reached = [graph.node(each)[1:] for each in graph.reach([start], depth=1).nodes]
    assert reached == [("a", "x"), ("b", None), ("b", "x")]


def test_edges_that_are_not_kept_are_not_followed():
    """A search that stops at masked edges finds what other edges lead to."""
    edges = [
        ColumnEdge("x", ("ns", "a"), "x", "DIRECT", "TRANSFORMATION", True),
        ColumnEdge("y", ("ns", "a"), "x", "DIRECT", "IDENTITY", False),
    ]
    graph = LineageGraph.of(Current((written("b", edges, [("ns", "a")]),), (), {}))
    start = graph.node_of(("ns", "a"), "x")
    reach = graph.reach([start], keep=~graph.edges_that(masking=True))
    assert [graph.node(each)[1:] for each in reach.nodes] == [("a", "x"), ("b", "y")]
