"""Groups OpenLineage events of any producer by runs, and reads what each run read, wrote and left open.

Events come from outside: a value whose type is not the spec's is treated as absent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.checks import has_failed_check, results_of
from airflow_provider_spark_lineage.openlineage.events.model import TERMINAL, Event, Events
from airflow_provider_spark_lineage.openlineage.events.parts import each_once, join_read, join_write
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of, object_at, objects, text
from airflow_provider_spark_lineage.openlineage.lineage_document import edge, failure, gap
from airflow_provider_spark_lineage.openlineage.words import counted

_PRODUCER = "airflow-provider-spark-lineage"

_OF_CHECKS = re.compile(r"([\w.]+: )?Test failed\.")
"""Beginning of the message of operators that check data, in a stored event after the class of the error."""

STOPPED = "task_stopped"
"""Kind of the gap in an event that was sent because the task might be killed."""


class RunEvents:
    """The events of one run, ordered by time.

    Events of other producers add to each other, as the spec has it. An event of this package has everything
    that its process did, and START may have had only the plan. A task that deferred itself went on in another
    process: its OTHER event has a part of the work that its end event does not have.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.events = list(events)
        times = [event.time_ns for event in self.events]
        if None not in times:
            self.events.sort(key=lambda event: event.time_ns or 0)

    @cached_property
    def last(self) -> Event:
        """The event that ended the run, or the last one."""
        ends = [event for event in self.events if event.type in TERMINAL]
        return (ends or self.events)[-1]

    @property
    def is_ended(self) -> bool:
        """True if an event ended the run."""
        return self.last.type in TERMINAL

    @property
    def title(self) -> str:
        """The job, the map index, the try, and the event type that ended it."""
        event = self.last
        index = f"[{event.map_index}]" if event.map_index is not None else ""
        attempt = f"   try {event.try_number}" if (event.try_number or 1) > 1 else ""
        ended = event.type if self.is_ended else "has no end event"
        return f"{event.subject}{index}{attempt}   {ended}"

    @property
    def facets(self) -> Mapping[str, Any]:
        """The run facets of the event that ended the run."""
        return object_at(self.last.document, "run", "facets")

    @cached_property
    def ends(self) -> list[Event]:
        """The last event of each process that did a part of the work, oldest first."""
        others = (event for event in self.events if event.type == "other" and event is not self.last)
        # A task that was only asked to stop went on, so that its end event has all.
        parts = (event for event in others if not (is_ours(self.last) and _is_stop(event)))
        return [*filter(is_ours, parts), self.last]

    @cached_property
    def _parts(self) -> list[list[Event]]:
        """The events of each process that did a part of the work."""
        *earlier, last = self.ends
        is_whole = is_ours(last) and (last.type == "complete" or _names_datasets(last))
        own = set(map(id, earlier))
        rest = [last] if is_whole else [event for event in self.events if id(event) not in own]
        return [*([event] for event in earlier), rest]

    @cached_property
    def inputs(self) -> list[dict[str, Any]]:
        """The datasets that were read, as in events, each once."""
        return _merged([event for part in self._parts for event in part], "inputs")

    @cached_property
    def outputs(self) -> list[dict[str, Any]]:
        """The datasets that were written, as in events, each once."""
        return _merged(
            [event for part in self._parts for event in part if self._has_written(event)], "outputs"
        )

    @property
    def unfinished(self) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
        """The outputs that no event names as written, each with the inputs of its event."""
        if self.last.type == "complete":
            return
        written = {id_of(output) for output in self.outputs}
        for event in self.events:
            for output in objects(event.document.get("outputs")):
                if id_of(output) not in written:
                    yield output, objects(event.document.get("inputs"))

    def _has_written(self, event: Event) -> bool:
        """Return whether the outputs of an event were written.

        A run that failed may have written none of them; events of this package name finished writes only,
        but for START.
        """
        if self.last.type in ("fail", "abort"):
            return is_ours(event) and event.type != "start"
        return self.is_ended or event.type != "start"

    def document(self) -> dict[str, Any]:
        """Return the lineage of the run: `inputs`, `outputs` with their edges, `gaps` and `failures`."""
        inputs: dict[Id, dict[str, Any]] = {}
        outputs: dict[Id, dict[str, Any]] = {}
        is_one = len(self._parts) == 1
        for part in self._parts:
            for read in self.inputs if is_one else _merged(part, "inputs"):
                join_read(inputs, _dataset(read, "inputFacets", "inputStatistics"))
            written = [event for event in part if self._has_written(event)]
            for write in self.outputs if is_one else _merged(written, "outputs"):
                join_write(outputs, _output(write))
        return {
            "inputs": [inputs[each] for each in sorted(inputs)],
            "outputs": [outputs[each] for each in sorted(outputs)],
            "gaps": each_once(gap for event in self.ends for gap in _gaps(event)),
            "failures": each_once(failure for event in self.ends for failure in failures_of(event)),
        }


def is_ours(event: Event) -> bool:
    """Return whether this package has made an event, or has added to it."""
    facets = object_at(event.document, "run", "facets")
    return any(key.startswith("sparkLineage_") for key in facets) or _PRODUCER in event.text("producer")


def runs_of(events: Events, *, each: bool = False) -> list[RunEvents]:
    """Return the runs with datasets, in the order of their ends.

    DAG runs have no datasets, and children of a task repeat the task's datasets; `each` includes both.
    """
    return [run for run, is_counted in counted_runs(events) if each or is_counted]


def counted_runs(events: Events) -> list[tuple[RunEvents, bool]]:
    """Return all runs in the order of their ends; False for those that `runs_of` leaves out."""
    by_run: dict[str, list[Event]] = {}
    for event in events:
        if event.run_id:
            by_run.setdefault(event.run_id, []).append(event)
    runs = {run_id: RunEvents(some) for run_id, some in by_run.items()}
    order = {id(event): number for number, event in enumerate(events)}
    ended = sorted(runs.items(), key=lambda item: order[id(item[1].last)])
    named = {run_id: names for run_id, run in runs.items() if (names := _names_of(run))}
    parents = {run_id: run.last.parent_run_id for run_id, run in runs.items()}
    repeating = {run_id for run_id, run in runs.items() if _is_repeated(run, _above(run_id, parents), named)}
    covered = {parents[run_id] for run_id in named.keys() - repeating}
    empty = {run_id for run_id, run in ended if run_id in covered or run.last.is_dag_run} - named.keys()
    left_out = repeating | empty
    return [(run, run_id not in left_out) for run_id, run in ended]


def without_run(events: Events) -> str:
    """Return a sentence about the events that are of no run, as job and dataset events; empty without any.

    >>> without_run(Events.of([{"job": {"name": "etl"}}, {"dataset": {"name": "orders"}}]))
    'Not shown, because they belong to no run: 1 job event, 1 dataset event.'
    """
    types = Counter(event.type for event in events if not event.run_id)
    nouns = {"job": "job event", "dataset": "dataset event"}
    words = [counted(types.pop(kind), noun) for kind, noun in nouns.items() if types[kind]]
    if types.total():
        words.append(f"{counted(types.total(), 'event')} without a run id")
    return f"Not shown, because they belong to no run: {', '.join(words)}." if words else ""


def _is_repeated(run: RunEvents, above: Iterable[str], named: Mapping[str, set[Id]]) -> bool:
    """Return whether a run above has the datasets of a run: those of our executions are in their task."""
    names = named.get(run.last.run_id, set())
    return any(is_ours(run.last) or names <= named[run_id] for run_id in above if run_id in named)


_MOST_ABOVE = 50
"""Limit of the runs above a run that are looked at; real ones are a few."""


def _above(run_id: str, parents: Mapping[str, str]) -> Iterator[str]:
    visited = {run_id}
    while (run_id := parents.get(run_id, "")) and run_id not in visited and len(visited) < _MOST_ABOVE:
        visited.add(run_id)
        yield run_id


def _names_of(run: RunEvents) -> set[Id]:
    """Return the datasets of a run, also those that it did not finish."""
    return {id_of(each) for each in (*run.inputs, *run.outputs, *(output for output, _ in run.unfinished))}


def _names_datasets(event: Event) -> bool:
    return any(objects(event.document.get(key)) for key in ("inputs", "outputs"))


def _is_stop(event: Event) -> bool:
    return any(gap["kind"] == STOPPED for gap in _gaps(event))


def _id(value: Mapping[str, Any]) -> dict[str, str]:
    return {"namespace": text(value.get("namespace")), "name": text(value.get("name"))}


def _merged(events: Sequence[Event], key: str) -> list[dict[str, Any]]:
    """Return the datasets of some events, with merged facets; the facets of later events win."""
    merged: dict[Id, dict[str, Any]] = {}
    for event in events:
        for dataset in objects(event.document.get(key)):
            known = merged.setdefault(id_of(dataset), _id(dataset))
            for facets in ("facets", "inputFacets", "outputFacets"):
                known[facets] = {**known.get(facets, {}), **object_at(dataset, facets)}
    return [merged[name] for name in sorted(merged)]


def _dataset(dataset: Mapping[str, Any], facets: str, statistics: str) -> dict[str, Any]:
    counts = object_at(dataset, facets, statistics)
    names = {"rows": "rowCount", "size_bytes": "size", "files": "fileCount"}
    fields = objects(object_at(dataset, "facets", "schema").get("fields"))
    checks = [result._asdict() for result in results_of(dataset)]
    return {
        **_id(dataset),
        **({"checks": checks} if checks else {}),
        "fields": [{"name": text(each.get("name")), "type": text(each.get("type"))} for each in fields],
        "statistics": {name: counts[key] for name, key in names.items() if type(counts.get(key)) is int},
    }


def _output(dataset: Mapping[str, Any]) -> dict[str, Any]:
    change = object_at(dataset, "facets", "lifecycleStateChange")
    previous = object_at(change, "previousIdentifier")
    lineage = object_at(dataset, "facets", "columnLineage")
    reads: dict[str | None, tuple[Any, str]] = {None: (lineage.get("dataset"), "")}
    for column, described in object_at(lineage, "fields").items():
        entry = object_at(described)
        reads[column] = entry.get("inputFields"), text(entry.get("transformationType")).upper()
    return {
        **_dataset(dataset, "outputFacets", "outputStatistics"),
        "mode": text(change.get("lifecycleStateChange")).lower(),
        **({"previous": _id(previous)} if previous else {}),
        "edges": [
            edge
            for column, (sources, kind) in reads.items()
            for read in objects(sources)
            for edge in _edges(column, read, kind)
        ],
    }


_FORMER_KINDS: Mapping[str, Mapping[str, Any]] = {
    "IDENTITY": {"type": "DIRECT", "subtype": "IDENTITY"},
    "MASKED": {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True},
}
"""`transformationType` of a field in facets before 1.1 -> the edge from each of its sources."""


def _edges(column: str | None, read: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    for how in objects(read.get("transformations")) or [_FORMER_KINDS.get(kind, {"type": "DIRECT"})]:
        yield edge(
            column,
            _id(read),
            text(read.get("field")),
            type=text(how.get("type")),
            subtype=text(how.get("subtype")),
            masking=how.get("masking") is True,
        )


def _gaps(event: Event) -> Iterator[dict[str, Any]]:
    for each in objects(event.at("run", "facets", "sparkLineage_gaps", "gaps")):
        output = object_at(each, "output")
        where, kind, reason, column = (text(each.get(key)) for key in ("where", "kind", "reason", "column"))
        yield gap(where, kind, reason, _id(output) if output else None, column)


def failures_of(event: Event) -> Iterator[dict[str, str]]:
    """Yield the failures of an event; if it lists none, its error message as one.

    The message of a check operator has nothing that the results of its checks do not say.
    """
    entries = objects(event.at("run", "facets", "sparkLineage_failures", "failures"))
    message = event.text("run", "facets", "errorMessage", "message")
    if _OF_CHECKS.match(message) and has_failed_check(event.document):
        message = ""
    for entry in entries or ([{"message": message}] if message else []):
        yield failure(*(text(entry.get(key)) for key in ("errorClass", "sqlState", "message", "execution")))
