"""Random lineage of many jobs, and a plain search over it, against which the arrays are compared."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable

from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobWrite
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import ColumnEdge, JobName, JobRun

Place = tuple[str, str | None]
"""A dataset and a column, or None for all rows."""

VALUE, ROWS = "value", "rows"


def random_current(seed: int) -> Current:
    """Return what some jobs wrote: with cycles, doubled edges, and several writers of a dataset."""
    chance = random.Random(seed)  # noqa: S311
    datasets = [f"d{number}" for number in range(chance.randint(1, 9))]
    columns = ["a", "b", "c"][: chance.randint(1, 3)]
    writes = []
    for number in range(chance.randint(0, 14)):
        output = chance.choice(datasets)
        edges = [
            ColumnEdge(
                chance.choice([None, *columns]) if kind == "INDIRECT" else chance.choice(columns),
                ("ns", chance.choice(datasets)),
                chance.choice(columns),
                kind,
                chance.choice(["FILTER", "AGGREGATION", ""]),
                chance.random() < 0.2,
            )
            for kind in chance.choices(["DIRECT", "INDIRECT"], k=chance.randint(0, 5))
        ]
        fed = {edge.source for edge in edges} | {("ns", each) for each in datasets if chance.random() < 0.1}
        writes.append(written(output, edges, fed, number))
    return Current(tuple(writes), (), {write.job: write.run for write in writes})


def written(
    output: str, edges: Iterable[ColumnEdge], fed: Iterable[tuple[str, str]], number: int = 1
) -> JobWrite:
    run = JobRun(f"run{number}", "complete", "2026-01-01T00:00:00Z", number)
    return JobWrite(
        JobName("jobs", f"job{number}"), ("ns", output), run, (), tuple(edges), tuple(sorted(fed)), "", ()
    )


def plain_reach(
    current: Current, start: Place, *, upstream: bool = False, by_rows: bool = True
) -> dict[tuple[Place, str], int]:
    """Return how many jobs away everything is that follows from a place, by a queue and dictionaries."""
    steps: dict[Place, set[tuple[Place, bool, int]]] = {}
    columns: dict[str, set[str]] = {}

    def step(source: Place, target: Place, direct: bool, cost: int) -> None:
        before, after = (target, source) if upstream else (source, target)
        steps.setdefault(before, set()).add((after, direct, cost))

    for write in current.writes:
        output = write.output[1]
        for edge in write.edges:
            columns.setdefault(edge.source[1], set()).add(edge.field)
            if edge.column is not None:
                columns.setdefault(output, set()).add(edge.column)
            is_direct = edge.type == "DIRECT" and edge.column is not None
            step((edge.source[1], edge.field), (output, edge.column), is_direct, 1)
        for read in write.sources:
            step((read[1], None), (output, None), False, 1)
    for dataset, names in columns.items():
        for name in names:
            step((dataset, None), (dataset, name), False, 0)
    begin = (start, ROWS if start[1] is None else VALUE)
    found = {begin: 0}
    queue = deque([begin])
    while queue:
        place, how = queue.popleft()
        for after, is_direct, cost in steps.get(place, ()):
            state = (after, VALUE if how == VALUE and is_direct else ROWS)
            distance = found[place, how] + cost
            if (by_rows or state[1] == VALUE) and distance < found.get(state, distance + 1):
                found[state] = distance
                (queue.append if cost else queue.appendleft)(state)
    return found
