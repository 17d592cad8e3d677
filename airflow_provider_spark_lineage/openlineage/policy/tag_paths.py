"""Follows tagged columns through all jobs to the datasets of a rule, and finds where edges may be missing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobWrite
from airflow_provider_spark_lineage.openlineage.graph.model import BY_ROWS, BY_VALUE, LineageGraph, Reach
from airflow_provider_spark_lineage.openlineage.policy.findings import Place, PolicyFinding
from airflow_provider_spark_lineage.openlineage.policy.gap_kinds import may_lack_edges, may_lack_inputs
from airflow_provider_spark_lineage.openlineage.policy.rules import AGGREGATED, MASKED, PolicyRule

_AGGREGATION = "AGGREGATION"
"""Subtype of the direct edge of an aggregate; the grouping that decides its rows is another edge."""


class TaggedColumns(NamedTuple):
    """The columns that have a tag."""

    nodes: set[int]
    bare: set[Id]
    """Datasets that have such a column, but whose columns are not known."""


class _Hidden(NamedTuple):
    """A gap that may hide an edge from a tagged column."""

    write: JobWrite
    gap: Mapping[str, Any]


class TagPaths:
    """The paths of tagged columns in one graph; `tagged` returns the columns that have a tag."""

    def __init__(
        self, current: Current, graph: LineageGraph, tagged: Callable[[LineageGraph, str], TaggedColumns]
    ) -> None:
        self._current, self._graph, self._tagged_in = current, graph, tagged
        self._tagged: dict[str, TaggedColumns] = {}
        self._searches: dict[Any, Reach] = {}
        self._gaps: dict[Any, Mapping[int, _Hidden]] = {}

    def findings(
        self, rule: PolicyRule, governed: Sequence[Id], *, by_rows: bool
    ) -> Iterator[tuple[PolicyFinding, bool]]:
        """Yield what breaks a condition, each with True, and what cannot be excluded, with False."""
        condition = "must_not_depend_on" if by_rows else "must_not_contain"
        tags = rule.must_not_depend_on if by_rows else rule.must_not_contain
        starts = {node for tag in tags for node in self._of_tag(tag).nodes}
        broken: set[int] = set()
        for node, path in self._reached(("tags", tags), starts, rule.unless, governed, by_rows):
            broken.add(node)
            names = " and ".join(f"`{tag}`" for tag in tags if self._start(path) in self._of_tag(tag).nodes)
            reason = f"{_shown(path[0])} is tagged {names}" if len(path) > 1 else f"it is tagged {names}"
            yield _finding(rule, condition, path, reason), True
        hidden = self._hidden(tags, rule.unless, by_rows=by_rows)
        for node, path in self._own_gaps(hidden, governed, broken):
            yield _uncertain(rule, condition, path, hidden[node]), False
        for node, path in self._reached(("gaps", tags), set(hidden), rule.unless, governed, by_rows):
            is_of_whole = len(path) == 1 and self._graph.node_of(path[0].dataset) in hidden
            if node not in broken and not is_of_whole:
                yield _uncertain(rule, condition, path, hidden[self._start(path)]), False

    def _own_gaps(
        self, hidden: Collection[int], governed: Sequence[Id], broken: Collection[int]
    ) -> Iterator[tuple[int, tuple[Place, ...]]]:
        """Yield the datasets with a gap of the whole output, each once for all of its columns."""
        for dataset in governed:
            all_rows, *columns = self._graph.nodes_of(dataset) or [-1]
            is_broken = all_rows in broken or (columns and set(columns) <= set(broken))
            if all_rows in hidden and not is_broken:
                yield all_rows, (Place(dataset, None),)

    def _reached(
        self,
        key: Any,
        starts: set[int],
        unless: frozenset[str],
        datasets: Sequence[Id],
        by_rows: bool,
    ) -> Iterator[tuple[int, tuple[Place, ...]]]:
        """Yield the nodes of some datasets that are reached, each with a shortest path.

        What decides all rows decides every column: it is said once, and at columns only their own part.
        """
        if not starts:
            return
        graph, reach = self._graph, self._search((key, unless, by_rows), starts, unless, by_rows)
        nodes = set(reach.nodes)
        is_through_rows: dict[int, bool] = {}
        for dataset in datasets:
            all_rows = graph.node_of(dataset)
            for number in graph.nodes_of(dataset):
                if number not in nodes:
                    continue
                how = BY_VALUE if reach.depth(number, BY_VALUE) >= 0 else BY_ROWS
                is_of_dataset = how == BY_ROWS and number != all_rows and all_rows in nodes
                if is_of_dataset and self._is_through_rows(reach, number, is_through_rows):
                    continue
                steps = reach.path(number, how)
                first = steps[0].source if steps else graph.node(number)
                yield number, (Place(first.dataset, first.field), *map(Place.after, steps))

    def _is_through_rows(self, reach: Reach, number: int, known: dict[int, bool]) -> bool:
        """Return whether the path to a node, reached by rows, leads through all rows of a dataset."""
        passed = []
        at: tuple[int, int] | None = (number, BY_ROWS)
        is_through = False
        while at is not None and at[1] == BY_ROWS:
            if at[0] in known:
                is_through = known[at[0]]
                break
            passed.append(at[0])
            if self._graph.is_all_rows(at[0]):
                is_through = True
                break
            at = reach.before(*at)
        known.update(dict.fromkeys(passed, is_through))
        return is_through

    def _search(self, key: Any, starts: set[int], unless: frozenset[str], by_rows: bool) -> Reach:
        if key is not None and key in self._searches:
            return self._searches[key]
        keep = None
        if unless:
            subtypes = [_AGGREGATION] if AGGREGATED in unless else []
            keep = ~self._graph.edges_that(masking=MASKED in unless, subtypes=subtypes)
        reach = self._graph.reach(sorted(starts), by_rows=by_rows, keep=keep)
        if key is not None:
            self._searches[key] = reach
        return reach

    def _hidden(
        self, tags: tuple[str, ...], unless: frozenset[str], *, by_rows: bool
    ) -> Mapping[int, _Hidden]:
        """Return the nodes for which an edge from a tagged column may be missing, each with its gap.

        Where all inputs are known, nothing is missing unless one of them has a tagged value, or may have one.
        """
        key = tags, unless, by_rows
        if key in self._gaps:
            return self._gaps[key]
        gaps = [
            _Hidden(write, gap)
            for write in self._current.writes
            for gap in write.gaps
            if may_lack_edges(gap, write)
        ]
        hidden: dict[int, _Hidden] = {}
        following = [each for each in gaps if may_lack_inputs(each.gap, each.write)]
        candidates = [each for each in gaps if not may_lack_inputs(each.gap, each.write)]
        starts = {node for tag in tags for node in self._of_tag(tag).nodes}
        bare = {dataset for tag in tags for dataset in self._of_tag(tag).bare}
        while following or candidates:
            for each in following:
                for node in self._nodes_of(each):
                    hidden.setdefault(node, each)
            reached = set(self._search(None, starts | hidden.keys(), unless, by_rows).nodes)
            following = []
            pending: list[_Hidden] = []
            for each in candidates:
                may_have = any(
                    source in bare or not reached.isdisjoint(self._graph.nodes_of(source))
                    for source in sources_of(each.write)
                )
                (following if may_have else pending).append(each)
            if not following:
                break
            candidates = pending
        self._gaps[key] = hidden
        return hidden

    def _nodes_of(self, hidden: _Hidden) -> Iterable[int]:
        """Return the nodes that a gap is about: of its column if that is known, otherwise of the dataset."""
        column, output = hidden.gap["column"], hidden.write.output
        node = None if column is None else self._graph.node_of(output, column)
        return self._graph.nodes_of(output) if node is None else (node,)

    def _of_tag(self, tag: str) -> TaggedColumns:
        if tag not in self._tagged:
            self._tagged[tag] = self._tagged_in(self._graph, tag)
        return self._tagged[tag]

    def _start(self, path: tuple[Place, ...]) -> int:
        """Return the node at which a path begins."""
        node = self._graph.node_of(path[0].dataset, path[0].field)
        return -1 if node is None else node


def sources_of(write: JobWrite) -> Sequence[Id]:
    """Return the datasets that fed an output, sorted."""
    return sorted({*write.sources, *(edge.source for edge in write.edges)})


def _finding(rule: PolicyRule, condition: str, path: tuple[Place, ...], reason: str) -> PolicyFinding:
    last = path[-1]
    return PolicyFinding(rule.name, condition, last.dataset, last.field, path, reason)


def _uncertain(rule: PolicyRule, condition: str, path: tuple[Place, ...], hidden: _Hidden) -> PolicyFinding:
    begun = path[0]._replace(type="WRITE", write=hidden.write)
    reason = f"cannot be excluded: {hidden.gap['reason']}"
    certain = _finding(rule, condition, (begun, *path[1:]), reason)
    return replace(certain, fails=rule.fails_on_gap, gap=hidden.gap["kind"])


def _shown(place: Place) -> str:
    return f"`{place.dataset[1]}.{place.field}`" if place.field is not None else f"`{place.dataset[1]}`"
