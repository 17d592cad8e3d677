"""Reads the current lineage out of events of many runs: for each job and output, its last write.

`events.runs` decides which outputs of an event were written: those of a START were not, those of another
producer's FAIL were not. The children of a task repeat it. A job that was renamed or deleted stays, until
`since` leaves it out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.flows import executions_of, flows_of
from airflow_provider_spark_lineage.openlineage.events.model import Event, Events
from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused
from airflow_provider_spark_lineage.openlineage.events.runs import RunEvents, is_ours, runs_of
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of, object_at, objects, text
from airflow_provider_spark_lineage.openlineage.graph.names import DatasetNames

PLANNED = "planned"
"""Kind of the gap that lineage from a text has; it says nothing of an output."""

NO_COLUMNS = "no_column_lineage"
"""Kind of the gap of an output whose event says nothing of columns."""

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


@dataclass(frozen=True)
class JobWrite:
    """The last write of a dataset by a job; mapped instances of a task are one run."""

    job: JobName
    output: Id
    run: JobRun
    fields: tuple[tuple[str, str], ...]
    """Names and types of the columns; empty if the events have no schema."""
    edges: tuple[ColumnEdge, ...]
    sources: tuple[Id, ...]
    """The datasets that fed the output, as far as the events say which did."""
    mode: str
    """`create`, `overwrite`, `append` ...: `lifecycleStateChange` in small letters; empty if not said."""
    gaps: tuple[Mapping[str, Any], ...]
    """Gaps of the lineage: `kind`, `reason`, and `column`, which is None for the whole output."""
    first_seen: Mapping[ColumnEdge, int] = field(default_factory=dict, compare=False, repr=False)
    """For each edge the time of the first run that had it, in nanoseconds since 1970."""
    is_planned: bool = False
    """The lineage is read from a text, which has not run."""


@dataclass(frozen=True)
class JobRead:
    """A dataset that the last run of a job read."""

    job: JobName
    input: Id
    run: JobRun
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Current:
    """The current lineage of many jobs."""

    writes: tuple[JobWrite, ...]
    reads: tuple[JobRead, ...]
    runs: Mapping[JobName, JobRun]
    """The last run of each job, also if it failed."""
    aliases: Mapping[Id, Id] = field(default_factory=dict)
    """Other names of datasets, each with the dataset that it means now."""
    contradictions: tuple[Id, ...] = ()
    """Names that producers use for several datasets at a time, so that none is followed."""

    @classmethod
    @collector_paused()
    def of(cls, events: Events, *, since: int | None = None, as_of: int | None = None) -> Current:
        """Return the lineage that was current at `as_of`, of runs that ended at `since` or later.

        Both are nanoseconds since 1970. An event without a readable time counts as the oldest.
        """
        items = [event for event in events if as_of is None or (event.time_ns or 0) <= as_of]
        names = DatasetNames.of(items)
        collected = _Collected(names, events)
        runs = runs_of(events if len(items) == len(events) else Events(tuple(items)))
        for run in sorted(runs, key=_time):
            if since is None or _time(run) >= since:
                collected.add(run)
        return cls(
            writes=tuple(collected.writes()),
            reads=tuple(collected.reads()),
            runs=collected.last,
            aliases=dict(names.aliases()),
            contradictions=names.contradictions,
        )

    @cached_property
    def fields(self) -> Mapping[Id, Mapping[str, str]]:
        """Names and types of the columns of each dataset: as it was written last, or else read last."""
        known: dict[Id, Mapping[str, str]] = {}
        for each in sorted(self.reads, key=lambda read: read.run.time_ns):
            if each.fields:
                known[each.input] = dict(each.fields)
        for write in sorted(self.writes, key=lambda write: write.run.time_ns):
            if write.fields:
                known[write.output] = dict(write.fields)
        return known

    @cached_property
    def datasets(self) -> tuple[Id, ...]:
        """All datasets, sorted."""
        names = {write.output for write in self.writes} | {read.input for read in self.reads}
        for write in self.writes:
            names.update(write.sources)
            names.update(edge.source for edge in write.edges)
        return tuple(sorted(names))

    @cached_property
    def has_gaps(self) -> bool:
        """True if something is not known of any output."""
        return any(write.gaps for write in self.writes)

    @cached_property
    def fed(self) -> Mapping[Id, Sequence[JobWrite]]:
        """The writes that each dataset fed."""
        fed: dict[Id, list[JobWrite]] = defaultdict(list)
        with collector_paused():
            for write in self.writes:
                for source in write.sources:
                    fed[source].append(write)
        return fed

    @cached_property
    def positions(self) -> Mapping[Id, Sequence[int]]:
        """The positions in `writes` of the writes of each dataset."""
        positions: dict[Id, list[int]] = defaultdict(list)
        for number, write in enumerate(self.writes):
            positions[write.output].append(number)
        return positions

    @cached_property
    def readers(self) -> Mapping[Id, Sequence[JobRead]]:
        """The jobs that read each dataset."""
        readers: dict[Id, list[JobRead]] = defaultdict(list)
        for read in self.reads:
            readers[read.input].append(read)
        return readers

    @cached_property
    def writers(self) -> Mapping[Id, Sequence[JobWrite]]:
        """The jobs that write each dataset."""
        writers: dict[Id, list[JobWrite]] = defaultdict(list)
        for write in self.writes:
            writers[write.output].append(write)
        return writers


class _Collected:
    """Runs in the order of their times; a later run takes the place of an earlier one of its job."""

    def __init__(self, names: DatasetNames, events: Events) -> None:
        self._names, self._events = names, events
        self._parts: dict[tuple[JobName, Id, str], JobWrite] = {}
        """What the instances of a mapped task wrote, by their DAG run: several may run at a time."""
        self._reads_of_parts: dict[tuple[JobName, str], dict[Id, JobRead]] = {}
        self._writes: dict[tuple[JobName, Id], JobWrite] = {}
        self._reads: dict[JobName, dict[Id, JobRead]] = {}
        self._first: dict[tuple[JobName, Id], dict[ColumnEdge, int]] = defaultdict(dict)
        self.last: dict[JobName, JobRun] = {}

    def writes(self) -> Iterable[JobWrite]:
        return self._writes.values()

    def reads(self) -> Iterable[JobRead]:
        return (read for reads in self._reads.values() for read in reads.values())

    def add(self, events: RunEvents) -> None:
        last = events.last
        job = JobName(last.text("job", "namespace"), last.subject)
        run = _run_of(events, self._task_above(events))
        # The instances of a mapped task are parts of one run.
        group = last.parent_run_id if last.map_index is not None else ""
        self.last[job] = run
        lineage = events.document()
        reads = {
            (dataset := self._resolve(id_of(each), run)): JobRead(job, dataset, run, _fields(each))
            for each in lineage["inputs"]
            if any(id_of(each))
        }
        if last.type in ("start", "fail", "abort"):
            # It may have stopped before it read the rest.
            reads = self._reads.get(job, {}) | reads
        if group:
            reads = self._reads_of_parts[job, group] = self._reads_of_parts.get((job, group), {}) | reads
        if reads or lineage["outputs"]:
            self._reads[job] = reads
        if lineage["outputs"]:
            self._add_writes(events, lineage, job, run, group)

    def _add_writes(
        self, events: RunEvents, lineage: Mapping[str, Any], job: JobName, run: JobRun, group: str
    ) -> None:
        outputs = [output for output in lineage["outputs"] if any(id_of(output))]
        facets = [object_at(event.document, "run", "facets") for event in events.ends]
        executions = [each for some in facets for each in executions_of(some)]
        flows, is_whole = flows_of(events, lineage["outputs"], executions)
        sources: dict[Id, dict[Id, None]] = defaultdict(dict)
        for source, target in flows:
            if any(source):
                sources[target][self._resolve(source, run)] = None
        # A text has no columns, and the silence of another producer is no proof that there are none.
        is_planned = any(gap["kind"] == PLANNED for gap in lineage["gaps"])
        says_all = is_ours(events.last) and not is_planned
        for output in outputs:
            own = id_of(output)
            dataset = self._resolve(own, run)
            gaps = [
                gap
                for gap in lineage["gaps"]
                if (gap["output"] is None or id_of(gap["output"]) == own) and gap["kind"] != PLANNED
            ]
            edges = dict.fromkeys(self._edges(output, run, is_own=is_ours(events.last)))
            is_renamed = not edges and "previous" in output
            if is_renamed:
                edges, sources[own] = self._renamed(output, run)
            if not edges and sources[own] and (is_renamed or not says_all):
                gaps.append(_gap("the event says nothing of its columns"))
            elif not is_whole and not sources[own]:
                gaps.append(_gap("the event does not say which inputs fed it"))
            first = self._first[job, dataset]
            for edge in edges:
                first.setdefault(edge, run.time_ns)
            write = JobWrite(
                job=job,
                output=dataset,
                run=run,
                fields=_fields(output),
                edges=tuple(edges),
                sources=tuple(sources[own]),
                mode=output["mode"],
                gaps=tuple(gaps),
                first_seen=first,
                is_planned=is_planned,
            )
            if group:
                part = self._parts.get((job, dataset, group))
                write = self._parts[job, dataset, group] = _joined(part, write) if part else write
            self._writes[job, dataset] = write

    def _task_above(self, events: RunEvents) -> Event:
        """Return the event of the run, or of the nearest run above it, that is of a task of Airflow.

        Another producer's run is its child: to run it again, the task is cleared.
        """
        own = next((each for each in reversed(events.events) if each.task_try), None)
        at, visited = own or events.last, {""}
        while not at.task_try and at.parent_run_id not in visited:
            visited.add(at.parent_run_id)
            at = self._events.by_run_id.get(at.parent_run_id, at)
        return at if at.task_try else events.last

    def _resolve(self, name: Id, run: JobRun) -> Id:
        return self._names.resolve(name, run.time_ns)

    def _edges(self, output: Mapping[str, Any], run: JobRun, *, is_own: bool) -> Iterable[ColumnEdge]:
        edges = output["edges"]
        whole = set() if is_own else _repeated(edges)
        for edge in edges:
            source = id_of(edge["source"])
            if edge["field"] and any(source):
                yield ColumnEdge(
                    None if _decision(edge) in whole else edge["column"],
                    self._resolve(source, run),
                    edge["field"],
                    edge["type"].upper() or "DIRECT",
                    edge["subtype"].upper(),
                    edge["masking"],
                )

    def _renamed(
        self, output: Mapping[str, Any], run: JobRun
    ) -> tuple[dict[ColumnEdge, None], dict[Id, None]]:
        """Return the edges of a dataset that got another name: each column is the former one."""
        former = self._resolve(id_of(output["previous"]), run)
        names = (name for name, _ in _fields(output))
        return {ColumnEdge(name, former, name, "DIRECT", "IDENTITY", False): None for name in names}, {
            former: None
        }


def _joined(before: JobWrite, later: JobWrite) -> JobWrite:
    """Return what two instances of a mapped task wrote to one dataset."""
    return JobWrite(
        job=later.job,
        output=later.output,
        run=later.run,
        fields=tuple({**dict(before.fields), **dict(later.fields)}.items()),
        edges=tuple(dict.fromkeys(before.edges + later.edges)),
        sources=tuple(dict.fromkeys(before.sources + later.sources)),
        mode=later.mode,
        gaps=before.gaps + tuple(gap for gap in later.gaps if gap not in before.gaps),
        first_seen=later.first_seen,
        is_planned=before.is_planned or later.is_planned,
    )


def _repeated(edges: Iterable[Mapping[str, Any]]) -> set[Any]:
    """Return what decides the rows at every column, and so those of the dataset."""
    columns_of: dict[Any, set[str | None]] = defaultdict(set)
    columns = set()
    for edge in edges:
        columns.add(edge["column"])
        if edge["type"].upper() == "INDIRECT" and edge["subtype"].upper() in _OF_DATASET:
            columns_of[_decision(edge)].add(edge["column"])
    return {decision for decision, some in columns_of.items() if some == columns}


def _decision(edge: Mapping[str, Any]) -> tuple[Id, str, str]:
    """Return the parts of an edge that are equal if it is repeated at other columns."""
    return id_of(edge["source"]), edge["field"], edge["subtype"].upper()


def _gap(reason: str) -> dict[str, Any]:
    return {"where": "", "kind": NO_COLUMNS, "reason": reason, "output": None, "column": None}


def _time(run: RunEvents) -> int:
    return run.last.time_ns or 0


def _fields(dataset: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((each["name"], each["type"]) for each in dataset["fields"] if each["name"])


def _run_of(events: RunEvents, described: Event) -> JobRun:
    last = events.last
    is_task = described.task_try is not None
    airflow = object_at(described.document, "run", "facets", "airflow")
    return JobRun(
        id=last.run_id,
        state=last.type,
        time=last.text("eventTime"),
        time_ns=_time(events),
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
