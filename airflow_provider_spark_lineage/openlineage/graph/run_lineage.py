"""Reads the lineage of one run out of its events, with the names that the events use.

`events.runs` decides which outputs of an event were written. Which dataset a name means is decided later, by
`names`: a symlink may be said of it after the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.flows import executions_of, flows_of
from airflow_provider_spark_lineage.openlineage.events.model import Event, Events
from airflow_provider_spark_lineage.openlineage.events.runs import RunEvents, is_ours
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of, object_at, objects, text

PLANNED = "planned"
"""Kind of the gap that lineage from a text has; it says nothing of an output."""

NO_COLUMNS = "no_column_lineage"
"""Kind of the gap of an output whose event says nothing of columns."""

UNKNOWN_INPUTS = "unknown_inputs"
"""Kind of the gap of an output that any input of its run may have fed, where the pairs are too many."""

_OF_DATASET = frozenset({"FILTER", "JOIN", "GROUP_BY", "SORT"})
"""Subtypes of indirect edges that decide about rows. A producer without edges of a dataset repeats them at
every column."""


class JobName(NamedTuple):
    """A job, as OpenLineage names it; a task of Airflow is `<dag_id>.<task_id>`."""

    namespace: str
    name: str


class ColumnEdge(NamedTuple):
    """A source of a column of an output, or, without a column, of all its rows."""

    column: str | None
    source: Id
    field: str
    type: str
    """`DIRECT` or `INDIRECT`."""
    subtype: str
    masking: bool


@dataclass(frozen=True)
class JobRun:
    """A run of a job; the ids of Airflow are empty if another scheduler ran it."""

    id: str
    state: str
    """Type of the event that ended it, or of the last one: one of `EVENT_TYPES`."""
    time: str
    """`eventTime` of the event that ended it, or of the last one."""
    time_ns: int
    dag_id: str = ""
    task_id: str = ""
    logical_date: str = ""
    owners: tuple[str, ...] = ()


Fields = tuple[tuple[str, str], ...]
"""Names and types of the columns of a dataset, in its order."""


@dataclass(frozen=True)
class RunWrite:
    """An output that a run wrote, with names as in its events."""

    output: Id
    fields: Fields
    """Empty if the events have no schema."""
    edges: tuple[ColumnEdge, ...]
    sources: tuple[Id, ...]
    """The datasets that fed the output, as far as the events say which did."""
    mode: str
    """`create`, `overwrite`, `append` ...: `lifecycleStateChange` in small letters; empty if not said."""
    gaps: tuple[Mapping[str, Any], ...]
    is_planned: bool = False
    """The lineage is read from a text, which has not run."""
    statistics: Mapping[str, int] = field(default_factory=dict)
    """`rows`, `size_bytes` and `files`, as far as the events have them."""
    checks: tuple[Mapping[str, Any], ...] = ()
    """Results of checks, with the keys of `CheckResult`."""


@dataclass(frozen=True)
class RunRead:
    """An input that a run read, with its name as in the events."""

    input: Id
    fields: Fields
    statistics: Mapping[str, int] = field(default_factory=dict)
    checks: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class RunLineage:
    """The lineage of one run."""

    job: JobName
    run: JobRun
    group: str
    """Of an instance of a mapped task the id of the parent, which all instances share; else empty."""
    reads: tuple[RunRead, ...]
    writes: tuple[RunWrite, ...]
    gaps: tuple[Mapping[str, Any], ...] = ()
    failures: tuple[Mapping[str, str], ...] = ()


def lineage_of(events: RunEvents, others: Events) -> RunLineage:
    """Return the lineage of a run; `others` has the events of the runs above."""
    last = events.last
    lineage = events.document()
    nested = _nested_types((*events.inputs, *events.outputs))
    return RunLineage(
        job=JobName(last.text("job", "namespace"), last.subject),
        run=_run_of(events, _task_above(events, others)),
        # The instances of a mapped task are parts of one run.
        group=last.parent_run_id if last.map_index is not None else "",
        reads=tuple(
            RunRead(id_of(each), _fields(each, nested), each["statistics"], tuple(each.get("checks", ())))
            for each in lineage["inputs"]
            if any(id_of(each))
        ),
        writes=tuple(_writes(events, lineage, nested)) if lineage["outputs"] else (),
        gaps=tuple(lineage["gaps"]),
        failures=tuple(lineage["failures"]),
    )


def time_of(run: RunEvents) -> int:
    """Return the time of the event that ended a run, or of its last one; 0 if it cannot be read."""
    return run.last.time_ns or 0


def _writes(
    events: RunEvents, lineage: Mapping[str, Any], nested: Mapping[tuple[Id, str], str]
) -> Iterable[RunWrite]:
    facets = [object_at(event.document, "run", "facets") for event in events.ends]
    executions = [each for some in facets for each in executions_of(some)]
    flows, cut = flows_of(events, lineage["outputs"], executions)
    sources: dict[Id, dict[Id, None]] = defaultdict(dict)
    for source, target in flows:
        if any(source):
            sources[target][source] = None
    # A text has no columns, and the silence of another producer is no proof that there are none.
    is_planned = any(gap["kind"] == PLANNED for gap in lineage["gaps"])
    says_all = is_ours(events.last) and not is_planned
    for output in lineage["outputs"]:
        if not any(id_of(output)):
            continue
        own = id_of(output)
        gaps = [
            gap
            for gap in lineage["gaps"]
            if (gap["output"] is None or id_of(gap["output"]) == own) and gap["kind"] != PLANNED
        ]
        edges = dict.fromkeys(_edges(output, is_own=is_ours(events.last)))
        is_renamed = not edges and "previous" in output
        if is_renamed:
            edges, sources[own] = _renamed(output)
        if not edges and sources[own] and (is_renamed or not says_all):
            gaps.append(_gap("the event says nothing of its columns"))
        if own in cut:
            gaps.append(_gap("the event does not say which of the many inputs fed it", UNKNOWN_INPUTS))
        yield RunWrite(
            output=own,
            fields=_fields(output, nested),
            edges=tuple(edges),
            sources=tuple(sources[own]),
            mode=output["mode"],
            gaps=tuple(gaps),
            is_planned=is_planned,
            statistics=output["statistics"],
            checks=tuple(output.get("checks", ())),
        )


def _task_above(events: RunEvents, others: Events) -> Event:
    """Return the event of the run, or of the nearest run above it, that is of a task of Airflow.

    Another producer's run is its child: to run it again, the task is cleared.
    """
    own = next((each for each in reversed(events.events) if each.task_try), None)
    at, visited = own or events.last, {""}
    while not at.task_try and at.parent_run_id not in visited:
        visited.add(at.parent_run_id)
        at = others.by_run_id.get(at.parent_run_id, at)
    return at if at.task_try else events.last


def _repeated(edges: Iterable[ColumnEdge]) -> set[Any]:
    """Return what decides the rows at every column, and so those of the dataset."""
    columns_of: dict[Any, set[str | None]] = defaultdict(set)
    columns = set()
    for edge in edges:
        columns.add(edge.column)
        if edge.type == "INDIRECT" and edge.subtype in _OF_DATASET:
            columns_of[_decision(edge)].add(edge.column)
    return {decision for decision, some in columns_of.items() if some == columns}


def _decision(edge: ColumnEdge) -> tuple[Id, str, str]:
    """Return the parts of an edge that are equal if it is repeated at other columns."""
    return edge.source, edge.field, edge.subtype


def _edges(output: Mapping[str, Any], *, is_own: bool) -> Iterable[ColumnEdge]:
    edges = [
        ColumnEdge(
            edge["column"],
            id_of(edge["source"]),
            edge["field"],
            edge["type"].upper() or "DIRECT",
            edge["subtype"].upper(),
            edge["masking"],
        )
        for edge in output["edges"]
    ]
    whole = set() if is_own else _repeated(edges)
    # A constant has only what decides the rows: without a schema, nothing else says that there is the column.
    known = {field["name"] for field in output["fields"]}
    # `not whole` first: for most outputs it saves a look-up for each edge.
    known.update(edge.column for edge in edges if not whole or _decision(edge) not in whole)
    for edge in edges:
        if not edge.field or not any(edge.source):
            continue
        if whole and _decision(edge) in whole:
            yield edge._replace(column=None)
            if edge.column in known:
                continue
        yield edge


def _renamed(output: Mapping[str, Any]) -> tuple[dict[ColumnEdge, None], dict[Id, None]]:
    """Return the edges of a dataset that got another name: each column is the former one."""
    former = id_of(output["previous"])
    names = (each["name"] for each in output["fields"] if each["name"])
    return {ColumnEdge(name, former, name, "DIRECT", "IDENTITY", False): None for name in names}, {
        former: None
    }


def _gap(reason: str, kind: str = NO_COLUMNS) -> dict[str, Any]:
    return {"where": "", "kind": kind, "reason": reason, "output": None, "column": None}


def _fields(dataset: Mapping[str, Any], nested: Mapping[tuple[Id, str], str]) -> Fields:
    """Return names and types of the columns; `nested` has the types with members."""
    own = id_of(dataset)
    return tuple(
        (each["name"], nested.get((own, each["name"]), each["type"]))
        for each in dataset["fields"]
        if each["name"]
    )


def _nested_types(datasets: Iterable[Mapping[str, Any]]) -> dict[tuple[Id, str], str]:
    """Return the types of columns that have members, with these: `struct<city: string>`."""
    return {
        (id_of(dataset), text(each.get("name"))): _type_of(each)
        for dataset in datasets
        for each in objects(object_at(dataset, "facets", "schema").get("fields"))
        if objects(each.get("fields"))
    }


_DEEPEST = 20
"""Limit of the members of members that a type tells."""


def _type_of(field_: Mapping[str, Any], depth: int = 0) -> str:
    members = objects(field_.get("fields"))
    if not members or depth == _DEEPEST:
        return text(field_.get("type"))
    listed = ", ".join(f"{text(each.get('name'))}: {_type_of(each, depth + 1)}" for each in members)
    return f"{text(field_.get('type'))}<{listed}>"


def _run_of(events: RunEvents, described: Event) -> JobRun:
    last = events.last
    is_task = described.task_try is not None
    airflow = object_at(described.document, "run", "facets", "airflow")
    return JobRun(
        id=last.run_id,
        state=last.type,
        time=last.text("eventTime"),
        time_ns=time_of(events),
        dag_id=described.facet_dag_id if is_task else "",
        task_id=described.subject.removeprefix(f"{described.facet_dag_id}.") if is_task else "",
        logical_date=text(object_at(airflow, "dagRun").get("logical_date")),
        owners=_owners(last, airflow),
    )


def _owners(event: Event, airflow: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the owners that the job's facet names, or else Airflow's facets."""
    owners = objects(event.at("job", "facets", "ownership", "owners"))
    named = [text(owner.get("name")) for owner in owners]
    own = [text(object_at(airflow, part).get("owner")) for part in ("task", "dag")]
    return tuple(dict.fromkeys(name for name in named or own if name not in ("", _NOBODY)))


_NOBODY = "airflow"
"""Airflow's default owner, of a DAG whose author names none."""
