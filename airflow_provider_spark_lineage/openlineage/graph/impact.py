"""Impact: the columns, datasets and jobs that depend on some others, downstream through all jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import NO_COLUMNS, Current, JobName, JobWrite
from airflow_provider_spark_lineage.openlineage.graph.model import (
    BY_ROWS,
    BY_VALUE,
    LineageGraph,
    PathStep,
    Reach,
)
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
        outputs = [write.output for each in selection for write in current.writes if write.job == each.job]
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
    def datasets(self) -> dict[Id, Reached]:
        """The datasets that depend on the selection, sorted by depth and name."""
        reached_by: dict[Id, Reached] = {}
        for number in self.reach.nodes:
            dataset = self.graph.node(number).dataset
            if number not in self.starts and dataset not in self.start_datasets:
                reached_by[dataset] = _both(
                    reached_by.get(dataset), self.reach.how(number), self.reach.depth(number)
                )
        for dataset, depth in self._unknown.items():
            if dataset not in reached_by:
                reached_by[dataset] = Reached([UNKNOWN], depth)
        return dict(sorted(reached_by.items(), key=lambda item: (item[1].depth, item[0])))

    @cached_property
    def _unknown(self) -> dict[Id, int]:
        """Datasets whose sources were reached, and whose columns are not known; and all that follows.

        Beyond such a dataset no event tells which columns matter.
        """
        depths = dict.fromkeys(self.start_datasets, 0)
        for number in self.reach.nodes:
            dataset, depth = self.graph.node(number).dataset, self.reach.depth(number)
            depths[dataset] = min(depth, depths.get(dataset, depth))
        reached_by: dict[Id, int] = {}
        queue = list(depths)
        for dataset in queue:
            depth = reached_by.get(dataset, depths.get(dataset, 0)) + 1
            if self._depth is not None and depth > self._depth:
                continue
            for write in self._by_source.get(dataset, ()):
                is_new = write.output not in reached_by and write.output not in self.start_datasets
                if is_new and (dataset in reached_by or self._is_hidden(write)):
                    reached_by[write.output] = depth
                    queue.append(write.output)
        return reached_by

    @staticmethod
    def _is_hidden(write: JobWrite) -> bool:
        return any(gap["kind"] == NO_COLUMNS for gap in write.gaps) or (
            not write.edges and any(gap["column"] is None for gap in write.gaps)
        )

    @cached_property
    def _by_source(self) -> Mapping[Id, list[JobWrite]]:
        outputs: dict[Id, list[JobWrite]] = {}
        for write in self.current.writes:
            for source in write.sources:
                outputs.setdefault(source, []).append(write)
        return outputs

    @cached_property
    def writes(self) -> dict[int, Reached]:
        """The writes whose output depends on the selection, by their position in `current.writes`."""
        reached_by: dict[int, Reached] = {}
        for place, write in enumerate(self.current.writes):
            how: set[str] = set()
            depths: list[int] = []
            for source, field in self._sources(write):
                number = self.graph.node_of(source, field)
                if number is None or (depth := self.reach.depth(number)) < 0:
                    continue
                if self._depth is None or depth < self._depth:
                    depths.append(depth + 1)
                    how |= self._through(write, source, field, number)
            if how:
                reached_by[place] = Reached(sorted(how, reverse=True), min(depths))
            elif write.output in self._unknown and not self.direct_only:
                reached_by[place] = Reached([UNKNOWN], self._unknown[write.output])
        return reached_by

    def _sources(self, write: JobWrite) -> Iterable[tuple[Id, str | None]]:
        yield from dict.fromkeys((edge.source, edge.field) for edge in write.edges)
        for source in write.sources:
            yield source, None

    def _through(self, write: JobWrite, source: Id, field: str | None, number: int) -> set[str]:
        """Return how an output depends on a node that was reached."""
        ways = self.reach.how(number)
        if field is None:
            return set() if self.direct_only else {"rows"}
        kinds = {
            edge.type == "DIRECT" and edge.column is not None
            for edge in write.edges
            if (edge.source, edge.field) == (source, field)
        }
        how = {"value"} if "value" in ways and True in kinds else set()
        if not self.direct_only and ("rows" in ways or False in kinds):
            how.add("rows")
        return how

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
        concerned = self.start_datasets | self.datasets.keys()
        reached_by = []
        for write in self.current.writes:
            if not concerned.isdisjoint(write.sources) or write.output in self._unknown:
                is_upper = write.output in self._unknown
                reached_by += [HiddenLineage(write, gap, UPPER if is_upper else LOWER) for gap in write.gaps]
        return reached_by

    def step_to(self, dataset: Id, field: str | None) -> PathStep | None:
        """Return the last step of the shortest path to a column or all rows; None for the selection."""
        number = self.graph.node_of(dataset, field)
        if number is None or number in self.starts:
            return None
        how = BY_VALUE if self.reach.depth(number, BY_VALUE) >= 0 else BY_ROWS
        path = self.reach.path(number, how)
        # The step from all rows of its own dataset to a column says less than the one before it.
        jobs = [step for step in path if step.write is not None]
        return jobs[-1] if jobs else None


def _both(known: Reached | None, how: Iterable[str], depth: int) -> Reached:
    if known is None:
        return Reached(list(how), depth)
    together = {*known.how, *how}
    return Reached(sorted(together, reverse=True), min(depth, known.depth))


def document_of(impact: Impact) -> dict[str, Any]:
    """Return the answer as a JSON object: `columns`, `datasets`, `jobs` and `gaps`."""
    current = impact.current
    return {
        "selection": [str(each) for each in impact.selection],
        "columns": [
            {"namespace": dataset[0], "name": dataset[1], "field": field, **reached._asdict()}
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
