"""Reads the current lineage out of events of many runs: for each job and output, its last write.

`events.runs` decides which outputs of an event were written: those of a START were not, those of another
producer's FAIL were not. The children of a task repeat it. A job that was renamed or deleted stays, until
`since` leaves it out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused
from airflow_provider_spark_lineage.openlineage.events.runs import runs_of
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.names import DatasetNames
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import (
    NO_COLUMNS,
    UNKNOWN_INPUTS,
    ColumnEdge,
    Fields,
    JobName,
    JobRun,
    RunLineage,
    RunWrite,
    lineage_of,
    time_of,
)


@dataclass(frozen=True)
class JobWrite:
    """The last write of a dataset by a job; mapped instances of a task are one run."""

    job: JobName
    output: Id
    run: JobRun
    fields: Fields
    """Empty if the events have no schema."""
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
    fields: Fields


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
        collected = _Collected(names)
        # A later event may name the task above a run: it is not known yet.
        known = events if len(items) == len(events) else Events(tuple(items))
        for run in sorted(runs_of(known), key=time_of):
            if since is None or time_of(run) >= since:
                collected.add(lineage_of(run, known))
        return cls._of(collected, names)

    @classmethod
    @collector_paused()
    def of_runs(
        cls, runs: Iterable[RunLineage], names: DatasetNames, last: Mapping[JobName, JobRun]
    ) -> Current:
        """Return the lineage that is current after some runs, given in the order of their times.

        `last` has the last run of each job, which may be none of these.
        """
        collected = _Collected(names)
        for run in runs:
            collected.add(run)
        return replace(cls._of(collected, names), runs=last)

    @classmethod
    def _of(cls, collected: _Collected, names: DatasetNames) -> Current:
        return cls(
            writes=tuple(collected.writes()),
            reads=tuple(collected.reads()),
            runs=collected.last,
            aliases=dict(names.aliases()),
            contradictions=names.contradictions,
        )

    @cached_property
    def fields(self) -> Mapping[Id, Fields]:
        """Names and types of the columns of each dataset: as it was written last, or else read last."""
        known: dict[Id, Fields] = {}
        for each in sorted(self.reads, key=lambda read: (read.run.time_ns, read.run.id)):
            if each.fields:
                known[each.input] = each.fields
        for write in sorted(self.writes, key=lambda write: (write.run.time_ns, write.run.id)):
            if write.fields:
                known[write.output] = write.fields
        return known

    @cached_property
    def datasets(self) -> tuple[Id, ...]:
        """All datasets, sorted."""
        names = {write.output for write in self.writes} | {read.input for read in self.reads}
        for write in self.writes:
            names.update(write.sources)
            names.update(map(_SOURCE, write.edges))
        return tuple(sorted(names))

    @cached_property
    def has_gaps(self) -> bool:
        """True if something is not known of any output."""
        return any(write.gaps for write in self.writes)

    @cached_property
    def fed(self) -> Mapping[Id, Sequence[JobWrite]]:
        """The writes that each dataset fed, or may have fed."""
        fed: dict[Id, list[JobWrite]] = defaultdict(list)
        with collector_paused():
            for write in self.writes:
                for source in self.sources_of(write):
                    fed[source].append(write)
        return fed

    def sources_of(self, write: JobWrite) -> Iterable[Id]:
        """Return the datasets that fed a write, or may have fed it."""
        if not any(gap["kind"] == UNKNOWN_INPUTS for gap in write.gaps):
            return write.sources
        return dict.fromkeys((*write.sources, *self._inputs.get(write.job, ())))

    @cached_property
    def _inputs(self) -> Mapping[JobName, Sequence[Id]]:
        inputs: dict[JobName, list[Id]] = defaultdict(list)
        for read in self.reads:
            inputs[read.job].append(read.input)
        return inputs

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


_SOURCE = itemgetter(ColumnEdge._fields.index("source"))
"""Source of an edge, for loops over millions."""

UNFINISHED = ("start", "fail", "abort")
"""States of runs that may have stopped before they read everything."""


class _Once(dict[Any, Any]):
    """Equal names and ids as one object: else millions of edges would each have copies of their own."""

    def __missing__(self, key: Any) -> Any:
        self[key] = key
        return key


class _Collected:
    """Runs in the order of their times; a later run takes the place of an earlier one of its job."""

    def __init__(self, names: DatasetNames) -> None:
        self._names = names
        self._parts: dict[tuple[JobName, Id, str], JobWrite] = {}
        """What the instances of a mapped task wrote, by their DAG run: several may run at a time."""
        self._reads_of_parts: dict[tuple[JobName, str], dict[Id, JobRead]] = {}
        self._writes: dict[tuple[JobName, Id], JobWrite] = {}
        self._reads: dict[JobName, dict[Id, JobRead]] = {}
        self._first: dict[tuple[JobName, Id], dict[ColumnEdge, int]] = defaultdict(dict)
        self.last: dict[JobName, JobRun] = {}
        self._once = _Once()

    def writes(self) -> Iterable[JobWrite]:
        # Not in the order of the first runs: a warehouse reads the last ones alone.
        return (write for _, write in sorted(self._writes.items(), key=itemgetter(0)))

    def reads(self) -> Iterable[JobRead]:
        return (
            reads[each]
            for _, reads in sorted(self._reads.items(), key=itemgetter(0))
            for each in sorted(reads)
        )

    def add(self, lineage: RunLineage) -> None:
        job, run, group = lineage.job, lineage.run, lineage.group
        self.last[job] = run
        # If it may have stopped before it read the rest, the reads of the run before stay.
        reads = dict(self._reads.get(job, {})) if run.state in UNFINISHED else {}
        if group:
            reads = self._reads_of_parts.get((job, group), {}) | reads
            self._reads_of_parts[job, group] = reads
        for each in lineage.reads:
            dataset = self._resolve(each.input, run)
            # A run may name it twice, and only once with its columns.
            known = reads[dataset].fields if dataset in reads else ()
            reads[dataset] = JobRead(job, dataset, run, self._shared_fields(each.fields) or known)
        if reads or lineage.writes:
            self._reads[job] = reads
        for output in lineage.writes:
            self._add_write(lineage, output)

    def _add_write(self, lineage: RunLineage, output: RunWrite) -> None:
        job, run = lineage.job, lineage.run
        dataset = self._resolve(output.output, run)
        known = self._writes.get((job, dataset))
        edges = self._edges(output, run)
        first = self._first[job, dataset]
        if known is not None and known.edges == edges:
            # Most runs of a job say the same.
            edges = known.edges
        else:
            for edge in edges:
                first.setdefault(edge, run.time_ns)
        write = JobWrite(
            job=job,
            output=dataset,
            run=run,
            fields=self._shared_fields(output.fields),
            edges=edges,
            sources=tuple(dict.fromkeys(self._resolve(source, run) for source in output.sources)),
            mode=output.mode,
            gaps=output.gaps,
            first_seen=first,
            is_planned=output.is_planned,
        )
        if group := lineage.group:
            part = self._parts.get((job, dataset, group))
            write = self._parts[job, dataset, group] = _joined(part, write) if part else write
        elif known is not None and known.run == run:
            write = _joined(*_without_silence(known, write))
        self._writes[job, dataset] = write

    def _edges(self, output: RunWrite, run: JobRun) -> tuple[ColumnEdge, ...]:
        """Return the edges of an output, each once, at the datasets that their sources mean."""
        return tuple(dict.fromkeys(self._resolved(edge, run) for edge in output.edges))

    def _resolved(self, edge: ColumnEdge, run: JobRun) -> ColumnEdge:
        source, once = self._resolve(edge.source, run), self._once
        if source is edge.source:
            # Edges from tables: their names are one object each.
            return edge
        return ColumnEdge(
            once[edge.column], source, once[edge.field], once[edge.type], once[edge.subtype], edge.masking
        )

    def _shared_fields(self, fields: Fields) -> Fields:
        shared: Fields = self._once[tuple([self._once[field] for field in fields])]
        return shared

    def _resolve(self, name: Id, run: JobRun) -> Id:
        dataset: Id = self._once[self._names.resolve(name, run.time_ns)]
        return dataset


def _without_silence(*named: JobWrite) -> tuple[JobWrite, ...]:
    """Return outputs that are one dataset by two names, without the gap of one that has no columns."""
    if not any(each.edges for each in named):
        return named
    return tuple(
        replace(each, gaps=tuple(gap for gap in each.gaps if gap["kind"] != NO_COLUMNS)) for each in named
    )


def _joined(before: JobWrite, later: JobWrite) -> JobWrite:
    """Return what two instances of a mapped task, or a run under two names, wrote to one dataset."""
    return JobWrite(
        job=later.job,
        output=later.output,
        run=later.run,
        fields=tuple({**dict(before.fields), **dict(later.fields)}.items()),
        edges=tuple(dict.fromkeys(before.edges + later.edges)),
        sources=tuple(dict.fromkeys(before.sources + later.sources)),
        mode=later.mode or before.mode,
        gaps=before.gaps + tuple(gap for gap in later.gaps if gap not in before.gaps),
        first_seen=later.first_seen,
        is_planned=before.is_planned or later.is_planned,
    )
