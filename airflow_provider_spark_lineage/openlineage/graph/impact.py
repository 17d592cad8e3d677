"""Impact: the columns, datasets and jobs that depend on some others, downstream through all jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobWrite
from airflow_provider_spark_lineage.openlineage.graph.model import (
    BY_ROWS,
    BY_VALUE,
    LineageGraph,
    PathStep,
    Reach,
)
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import NO_COLUMNS, UNKNOWN_INPUTS, JobName
from airflow_provider_spark_lineage.openlineage.graph.selection import Selected

UNKNOWN = "unknown"
"""How a dataset is reached if the events name its sources, and say nothing of its columns."""

LOWER, UPPER = "lower", "upper"
"""What a gap makes of the answer: there may be more than is listed, or less."""


class Reached(NamedTuple):
    """Ways from the selection to a column, dataset or job, and their length."""

    how: list[str]
    """`value`, `rows` or both; `unknown` alone; for a job that only reads a dataset, nothing."""
    depth: int
    """Number of jobs between."""


@dataclass(frozen=True)
class HiddenLineage:
    """A gap in the lineage of an output that follows from the selection."""

    write: JobWrite
    gap: Mapping[str, Any]
    bound: str
    """`lower`: more may depend on it than is listed; `upper`: less may."""


class Impact:
    """Impact of some datasets, columns and jobs, together.

    `direct_only` follows values alone; `depth` limits the number of jobs on a path.
    """

    def __init__(
        self,
        current: Current,
        graph: LineageGraph,
        selection: Sequence[Selected],
        *,
        direct_only: bool = False,
        depth: int | None = None,
    ) -> None:
        self.current, self.graph, self.selection = current, graph, selection
        self.direct_only = direct_only
        self._depth = depth
        jobs = {each.job for each in selection} - {None}
        outputs = [write.output for write in current.writes if write.job in jobs] if jobs else []
        named = [(each.dataset, each.field) for each in selection if each.dataset]
        starts = [(dataset, None) for dataset in outputs] + named
        self.starts = {
            node
            for dataset, field in starts
            for node in (
                graph.nodes_of(dataset) if field is None else filter(None, [graph.node_of(dataset, field)])
            )
        }
        self.start_datasets = {dataset for dataset, _ in starts}
        self.reach: Reach = graph.reach(self.starts, by_rows=not direct_only, depth=depth)

    @cached_property
    def columns(self) -> dict[tuple[Id, str], Reached]:
        """The columns that depend on the selection, sorted by depth and name."""
        reached_by = {
            (node.dataset, node.field): Reached(self.reach.how(number), self.reach.depth(number))
            for number in self.reach.nodes
            if number not in self.starts and (node := self.graph.node(number)).field is not None
        }
        return dict(sorted(reached_by.items(), key=lambda item: (item[1].depth, item[0])))

    @cached_property
    def passed_through(self) -> frozenset[tuple[Id, str]]:
        """The columns that get a value as it is: all edges on a path to them are IDENTITY, and none masks."""
        identity = self.graph.edges_that(subtypes=["IDENTITY"]) & ~self.graph.edges_that(masking=True)
        reach = self.graph.reach(self.starts, by_rows=False, depth=self._depth, keep=identity)
        nodes = (self.graph.node(number) for number in reach.nodes)
        return frozenset((node.dataset, node.field) for node in nodes if node.field is not None)

    @cached_property
    def datasets(self) -> dict[Id, Reached]:
        """The datasets that depend on the selection, sorted by depth and name."""
        by_name = {name: each for name, each in self._by_columns.items() if name not in self.start_datasets}
        for dataset, depth in self._unknown.items():
            by_name.setdefault(dataset, Reached([UNKNOWN], depth))
        return dict(sorted(by_name.items(), key=lambda item: (item[1].depth, item[0])))

    @cached_property
    def _by_columns(self) -> dict[Id, Reached]:
        """The datasets with a node that was reached."""
        by_name: dict[Id, Reached] = {}
        for number in self.reach.nodes:
            dataset = self.graph.dataset_of(number)
            by_name[dataset] = _both(by_name.get(dataset), self.reach.how(number), self.reach.depth(number))
        return by_name

    @cached_property
    def _unknown(self) -> dict[Id, int]:
        """Datasets whose sources were reached, and whose columns are not known; and all that follows.

        Beyond such a dataset no event tells which columns matter.
        """
        if not self.current.has_gaps:
            return {}
        depths = dict.fromkeys(self.start_datasets, 0)
        for dataset, reached in self._by_columns.items():
            depths[dataset] = min(reached.depth, depths.get(dataset, reached.depth))
        reached_by: dict[Id, int] = {}
        queue = list(depths)
        for dataset in queue:
            depth = reached_by.get(dataset, depths.get(dataset, 0)) + 1
            if self._depth is not None and depth > self._depth:
                continue
            for write in self.current.fed.get(dataset, ()):
                is_new = write.output not in reached_by and write.output not in self.start_datasets
                if is_new and (dataset in reached_by or self._is_hidden(write)):
                    reached_by[write.output] = depth
                    queue.append(write.output)
        return reached_by

    @staticmethod
    def _is_hidden(write: JobWrite) -> bool:
        return any(gap["kind"] in (NO_COLUMNS, UNKNOWN_INPUTS) for gap in write.gaps) or (
            not write.edges and any(gap["column"] is None for gap in write.gaps)
        )

    @cached_property
    def writes(self) -> dict[int, Reached]:
        """The writes whose output depends on the selection, by their position in `current.writes`."""
        graph, reach = self.graph, self.reach
        edges = reach.edges()
        if self.direct_only:
            edges = edges[graph.is_direct[edges]]
        sources, is_direct = graph.source[edges], graph.is_direct[edges]
        ways: dict[int, dict[str, int]] = {}
        for how, word in ((BY_VALUE, "value"), (BY_VALUE, "rows"), (BY_ROWS, "rows")):
            depths = reach.depths(sources, how)
            follows = depths >= 0
            if how == BY_VALUE:
                follows &= is_direct if word == "value" else ~is_direct
            if self._depth is not None:
                follows &= depths < self._depth
            for write, depth in zip(
                graph.write[edges[follows]].tolist(), depths[follows].tolist(), strict=True
            ):
                known = ways.setdefault(write, {})
                known[word] = min(depth + 1, known.get(word, depth + 1))
        by_write = {
            write: Reached(sorted(known, reverse=True), min(known.values())) for write, known in ways.items()
        }
        if not self.direct_only:
            for dataset, depth in self._unknown.items():
                for write in self.current.positions.get(dataset, ()):
                    by_write.setdefault(write, Reached([UNKNOWN], depth))
        return dict(sorted(by_write.items()))

    @cached_property
    def jobs(self) -> dict[JobName, Reached]:
        """The jobs that use the selection, and, with an empty `how`, those that only read a dataset of it."""
        reached_by: dict[JobName, Reached] = {}
        for place, reached in self.writes.items():
            job = self.current.writes[place].job
            reached_by[job] = _both(reached_by.get(job), reached.how, reached.depth)
        concerned = dict.fromkeys(self.start_datasets, 0) | {
            dataset: reached.depth for dataset, reached in self.datasets.items()
        }
        for dataset, depth in concerned.items():
            for read in self.current.readers.get(dataset, ()):
                if self._depth is None or depth < self._depth:
                    reached_by.setdefault(read.job, Reached([], depth + 1))
        return dict(sorted(reached_by.items(), key=lambda item: (item[1].depth, item[0])))

    @cached_property
    def hidden(self) -> list[HiddenLineage]:
        """The gaps in the lineage of outputs that follow from the selection."""
        if not self.current.has_gaps:
            return []
        concerned = sorted(self.start_datasets | self.datasets.keys())
        fed = {id(write): write for each in concerned for write in self.current.fed.get(each, ())}
        return [
            HiddenLineage(write, gap, UPPER if write.output in self._unknown else LOWER)
            for write in fed.values()
            # Events and a warehouse have them in different orders.
            for gap in sorted(write.gaps, key=_order_of_gap)
        ]

    def step_to(self, dataset: Id, field: str | None) -> PathStep | None:
        """Return the last step of the shortest path to a column or all rows; None for the selection."""
        number = self.graph.node_of(dataset, field)
        if number is None or number in self.starts:
            return None
        how = BY_VALUE if self.reach.depth(number, BY_VALUE) >= 0 else BY_ROWS
        # The step from all rows of its own dataset to a column says less than the one before it.
        return self.reach.last_job(number, how)


def _order_of_gap(gap: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(gap[key] or "" for key in ("column", "kind", "reason", "where"))


def _both(known: Reached | None, how: Iterable[str], depth: int) -> Reached:
    if known is None:
        return Reached(list(how), depth)
    together = {*known.how, *how}
    return Reached(sorted(together, reverse=True), min(depth, known.depth))


@collector_paused()
def document_of(impact: Impact) -> dict[str, Any]:
    """Return the answer as a JSON object: `columns`, `datasets`, `jobs` and `gaps`."""
    current = impact.current
    return {
        "selection": [str(each) for each in impact.selection],
        "columns": [
            {
                "namespace": dataset[0],
                "name": dataset[1],
                "field": field,
                **reached._asdict(),
                "pass_through": (dataset, field) in impact.passed_through,
            }
            for (dataset, field), reached in impact.columns.items()
        ],
        "datasets": [
            {
                "namespace": dataset[0],
                "name": dataset[1],
                **reached._asdict(),
                "read_by": ["/".join(read.job) for read in current.readers.get(dataset, ())],
            }
            for dataset, reached in impact.datasets.items()
        ],
        "jobs": [
            {**job._asdict(), **reached._asdict(), **_last_run(current, job)}
            for job, reached in impact.jobs.items()
        ],
        "gaps": [
            {
                "namespace": hidden.write.output[0],
                "name": hidden.write.output[1],
                "field": hidden.gap["column"],
                "job": "/".join(hidden.write.job),
                "kind": hidden.gap["kind"],
                "reason": hidden.gap["reason"],
                "bound": hidden.bound,
            }
            for hidden in impact.hidden
        ]
        + [
            {
                "namespace": namespace,
                "name": name,
                "field": None,
                "job": None,
                "kind": "contradiction",
                "reason": CONTRADICTION,
                "bound": LOWER,
            }
            for namespace, name in current.contradictions
        ],
    }


CONTRADICTION = "the events use this name for several datasets in turn, so it is followed to none of them"


def _last_run(current: Current, job: JobName) -> dict[str, Any]:
    run = current.runs[job]
    return {
        "dag_id": run.dag_id or None,
        "task_id": run.task_id or None,
        "owners": list(run.owners),
        "last_run": {"id": run.id, "state": run.state, "time": run.time},
    }
