"""Checks a policy against the lineage of many runs. A pure function of both.

`tag_paths` follows tagged columns; here are the rules about whole datasets, and the matching of patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.policy.findings import Place, PolicyFinding, PolicyReport
from airflow_provider_spark_lineage.openlineage.policy.gap_kinds import is_forbidden, may_lack_inputs
from airflow_provider_spark_lineage.openlineage.policy.patterns import DatasetPattern, names_of
from airflow_provider_spark_lineage.openlineage.policy.rules import Policy, PolicyRule
from airflow_provider_spark_lineage.openlineage.policy.tag_paths import TaggedColumns, TagPaths, sources_of
from airflow_provider_spark_lineage.openlineage.policy.tags import EventTag, by_tag, tags_in
from airflow_provider_spark_lineage.openlineage.words import counted

_WITHOUT_ROWS = frozenset({"alter", "drop"})
"""Changes of a dataset that write no rows into it. If the task has written before, the output has edges."""

_MOST_NAMES = 5
"""Limit of the names in a warning."""


def check(
    policy: Policy, current: Current, tags: Iterable[EventTag] = (), graph: LineageGraph | None = None
) -> PolicyReport:
    """Return what breaks the rules of a policy, and what cannot be excluded.

    `tags` come from events (`tags.tags_in`), and add to the patterns of the policy. `graph` is made
    from `current` if it is None.
    """
    checked = _Checked(policy, current, tags, graph)
    findings = [pair for rule in policy.rules for pair in checked.findings(rule)]
    return PolicyReport(
        violations=tuple(finding for finding, is_known in findings if is_known),
        unknown=tuple(finding for finding, is_known in findings if not is_known),
        warnings=tuple(checked.warnings()),
        checked=tuple((rule.name, dataset) for rule in policy.rules for dataset in checked.governed(rule)),
    )


def check_events(policy: Policy, events: Events) -> PolicyReport:
    """Return the same for events: the last run of each job counts. BadInputError if there are none."""
    if not events.items:
        raise BadInputError(f"{policy.source}: nothing can be checked without events.")
    current = Current.of(events)
    return check(policy, current, tags_in(events, current.aliases))


def check_documents(policy: Policy, documents: Iterable[Mapping[str, Any]]) -> PolicyReport:
    """Return the same for events as plain JSON objects."""
    return check_events(policy, Events.of(documents))


class _Checked:
    """The rules of one policy against one state of the lineage."""

    def __init__(
        self, policy: Policy, current: Current, tags: Iterable[EventTag], graph: LineageGraph | None
    ) -> None:
        self._policy, self._current, self._graph = policy, current, graph
        self._of_events = by_tag(tags)
        self._matches: dict[str, Sequence[Id]] = {}

    def findings(self, rule: PolicyRule) -> Iterator[tuple[PolicyFinding, bool]]:
        """Yield what breaks a rule, each with True, and what cannot be excluded, with False."""
        governed = self.governed(rule)
        if rule.must_not_contain:
            yield from self._paths.findings(rule, governed, by_rows=False)
        if rule.must_not_depend_on:
            yield from self._paths.findings(rule, governed, by_rows=True)
        if rule.may_read is not None:
            yield from self._read(rule, governed, rule.may_read)
        if rule.writers is not None:
            yield from self._written(rule, governed, rule.writers)
        if rule.forbids_gaps:
            yield from self._gaps(rule, governed)

    def governed(self, rule: PolicyRule) -> Sequence[Id]:
        """Return the datasets of a rule, sorted."""
        return sorted({dataset for pattern in rule.datasets for dataset in self._matching(pattern)})

    def _read(
        self, rule: PolicyRule, governed: Sequence[Id], allowed: Iterable[DatasetPattern]
    ) -> Iterator[tuple[PolicyFinding, bool]]:
        may = {dataset for pattern in allowed for dataset in self._matching(pattern)}
        words = ", ".join(f"`{pattern.text}`" for pattern in allowed)
        for dataset in governed:
            for write in self._current.writers.get(dataset, ()):
                for source in sources_of(write):
                    if source not in may and source != dataset:
                        path = Place(source, None), Place(dataset, None, "READ", write=write)
                        reason = f"it reads {_shown(source)}, and may read only {words}"
                        yield PolicyFinding(rule.name, "may_read", dataset, None, path, reason), True
                gap = next((each for each in write.gaps if may_lack_inputs(each, write)), None)
                if gap is not None:
                    reason = f"it may read more: {gap['reason']}"
                    path_of_gap = (Place(dataset, None, "WRITE", write=write),)
                    finding = PolicyFinding(rule.name, "may_read", dataset, None, path_of_gap, reason)
                    yield replace(finding, fails=rule.fails_on_gap, gap=gap["kind"]), False

    def _written(
        self, rule: PolicyRule, governed: Sequence[Id], most: int
    ) -> Iterator[tuple[PolicyFinding, bool]]:
        for dataset in governed:
            writes = [
                write
                for write in self._current.writers.get(dataset, ())
                if write.mode not in _WITHOUT_ROWS or any(edge.type == "DIRECT" for edge in write.edges)
            ]
            if len(writes) > most:
                names = ", ".join(write.job.name for write in writes)
                reason = f"{counted(len(writes), 'job')} write it, and {most} may: {names}"
                path = tuple(Place(dataset, None, "WRITE", write=write) for write in writes)
                yield PolicyFinding(rule.name, "writers", dataset, None, path, reason), True

    def _gaps(self, rule: PolicyRule, governed: Sequence[Id]) -> Iterator[tuple[PolicyFinding, bool]]:
        for dataset in governed:
            for write in self._current.writers.get(dataset, ()):
                for gap in write.gaps:
                    if is_forbidden(gap, write):
                        path = (Place(dataset, gap["column"], "WRITE", write=write),)
                        reason = f"gap: {gap['reason']}"
                        finding = PolicyFinding(rule.name, "gaps", dataset, gap["column"], path, reason)
                        yield replace(finding, gap=gap["kind"]), True

    def warnings(self) -> Iterator[str]:
        """Yield a sentence for each part of the policy that has no effect, and for ambiguous names."""
        for tag, patterns in self._policy.tags.items():
            for column in patterns:
                if not (datasets := self._matching(column.dataset)):
                    yield f"tag `{tag}`: `{column.text}` matches no dataset of the events"
                elif (fields := [*self._fields(datasets)]) and not any(map(column.matches_field, fields)):
                    names = _listed([_shown(dataset) for dataset in datasets])
                    yield f"tag `{tag}`: `{column.text}` matches no column of {names}"
        for rule in self._policy.rules:
            for pattern in (*rule.datasets, *(rule.may_read or ())):
                if not self._matching(pattern):
                    yield f"rule `{rule.name}`: `{pattern.text}` matches no dataset of the events"
            for tag in dict.fromkeys((*rule.must_not_contain, *rule.must_not_depend_on)):
                if tag not in self._policy.tags and tag not in self._of_events:
                    yield f"rule `{rule.name}`: neither the policy nor an event has a tag `{tag}`"
        if ambiguous := self._current.contradictions:
            shown = _listed([_shown(name) for name in ambiguous])
            yield f"events give these names to several datasets, so they are not followed: {shown}"

    def _fields(self, datasets: Iterable[Id]) -> Iterator[str]:
        for dataset in datasets:
            yield from self._columns.get(dataset, ())

    @cached_property
    def _columns(self) -> dict[Id, set[str]]:
        columns = {dataset: set(dict(fields)) for dataset, fields in self._current.fields.items()}
        for write in self._current.writes:
            for edge in write.edges:
                columns.setdefault(edge.source, set()).add(edge.field)
                if edge.column is not None:
                    columns.setdefault(write.output, set()).add(edge.column)
        return columns

    def _matching(self, pattern: DatasetPattern) -> Sequence[Id]:
        if pattern.text not in self._matches:
            names = self._names.items()
            self._matches[pattern.text] = [dataset for dataset, some in names if pattern.matches(some)]
        return self._matches[pattern.text]

    @cached_property
    def _names(self) -> dict[Id, list[str]]:
        """All texts that a pattern may match, for each dataset: also its other names."""
        names = {dataset: [*names_of(dataset)] for dataset in self._current.datasets}
        for alias, dataset in self._current.aliases.items():
            if dataset in names:
                names[dataset] += names_of(alias)
        return names

    @cached_property
    def _paths(self) -> TagPaths:
        graph = self._graph if self._graph is not None else LineageGraph.of(self._current)
        return TagPaths(self._current, graph, self._tagged)

    def _tagged(self, graph: LineageGraph, tag: str) -> TaggedColumns:
        """Return the columns that have a tag."""
        nodes: set[int] = set()
        bare: set[Id] = set()
        for pattern in self._policy.tags.get(tag, ()):
            for dataset in self._matching(pattern.dataset):
                bare.update(() if graph.fields_of(dataset) else (dataset,))
                columns = enumerate(graph.fields_of(dataset), graph.nodes_of(dataset).start + 1)
                nodes.update(node for node, field in columns if pattern.matches_field(field))
        for dataset, fields in self._of_events.get(tag, {}).items():
            bare.update(() if graph.fields_of(dataset) else (dataset,))
            columns = enumerate(graph.fields_of(dataset), graph.nodes_of(dataset).start + 1)
            nodes.update(node for node, field in columns if "" in fields or field in fields)
        return TaggedColumns(nodes, bare)


def _shown(dataset: Id) -> str:
    return f"`{dataset[1] or dataset[0]}`"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
