"""Groups OpenLineage events of any producer by runs, and reads what each run read, wrote and left open.

Events come from outside: a value whose type is not the spec's is treated as absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.events.checks import results_of
from airflow_provider_spark_lineage.events.model import TERMINAL, Event, Events
from airflow_provider_spark_lineage.events.shapes import object_at, objects, text


@dataclass
class RunEvents:
    """The events of one run, in reading order."""

    events: list[Event] = field(default_factory=list)

    @property
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

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The datasets that were read, as in events, each once."""
        return _merged(self._telling, "inputs")

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """The datasets that were written, as in events, each once."""
        return _merged(self._telling, "outputs")

    @property
    def _telling(self) -> list[Event]:
        """The event that ended the run; all events if it has no datasets and is not a FAIL.

        A task that deferred itself ended in another process, which does not know what is in OTHER.
        """
        last = self.last
        if last.type == "fail" or _names_datasets(last):
            return [*(event for event in self.events if event.type == "other" and event is not last), last]
        return self.events

    def document(self) -> dict[str, Any]:
        """Return the lineage of the run: `inputs`, `outputs` with their edges, `gaps` and `failures`."""
        return {
            "inputs": [_dataset(read, "inputFacets", "inputStatistics") for read in self.inputs],
            "outputs": [_output(write) for write in self.outputs],
            "gaps": list(_gaps(self.last)),
            "failures": list(_failures(self.last)),
        }


def runs_of(events: Events, *, each: bool = False) -> list[RunEvents]:
    """Return the runs with datasets, in the order of their ends.

    DAG runs have no datasets, and children of a task repeat the task's datasets; `each` includes both.
    """
    runs: dict[str, RunEvents] = {}
    for event in events:
        if event.run_id:
            runs.setdefault(event.run_id, RunEvents()).events.append(event)
    order = {id(event): number for number, event in enumerate(events)}
    ended = sorted(runs.items(), key=lambda item: order[id(item[1].last)])
    telling = {run_id for run_id, run in runs.items() if any(map(_names_datasets, run.events))}
    parents = {run_id: run.last.parent_run_id for run_id, run in runs.items()}
    tops = {run_id for run_id in runs if not _has_ancestor(run_id, parents, telling)}
    covered = {parents[run_id] for run_id in telling & tops}
    dull = {run_id for run_id, run in ended if run_id in covered or run.last.is_dag_run} - telling
    return [run for run_id, run in ended if each or run_id in tops - dull]


def _has_ancestor(run_id: str, parents: Mapping[str, str], of: set[str]) -> bool:
    visited = {run_id}
    while (run_id := parents.get(run_id, "")) and run_id not in visited:
        if run_id in of:
            return True
        visited.add(run_id)
    return False


def _names_datasets(event: Event) -> bool:
    return any(objects(event.document.get(key)) for key in ("inputs", "outputs"))


def _id(value: Mapping[str, Any]) -> dict[str, str]:
    return {"namespace": text(value.get("namespace")), "name": text(value.get("name"))}


def _merged(events: list[Event], key: str) -> list[dict[str, Any]]:
    """Return the datasets of some events, with merged facets; the facets of later events win."""
    merged: dict[tuple[str, str], dict[str, Any]] = {}
    for event in events:
        for dataset in objects(event.document.get(key)):
            named = _id(dataset)
            known = merged.setdefault((named["namespace"], named["name"]), {**named})
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
    reads: dict[str | None, Any] = {None: lineage.get("dataset")}
    for column, described in object_at(lineage, "fields").items():
        reads[column] = object_at(described).get("inputFields")
    return {
        **_dataset(dataset, "outputFacets", "outputStatistics"),
        "mode": text(change.get("lifecycleStateChange")).lower(),
        **({"previous": _id(previous)} if previous else {}),
        "edges": [
            edge for column in reads for read in objects(reads[column]) for edge in _edges(column, read)
        ],
    }


def _edges(column: str | None, read: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for how in objects(read.get("transformations")) or [{"type": "DIRECT"}]:
        yield {
            "column": column,
            "source": _id(read),
            "field": text(read.get("field")),
            "part": None,
            "type": text(how.get("type")),
            "subtype": text(how.get("subtype")),
            "masking": how.get("masking") is True,
        }


def _gaps(event: Event) -> Iterator[dict[str, Any]]:
    for gap in objects(event.at("run", "facets", "sparkLineage_gaps", "gaps")):
        output = object_at(gap, "output")
        yield {
            "where": text(gap.get("where")),
            "reason": text(gap.get("reason")),
            "output": _id(output) if output else None,
            "column": text(gap.get("column")) or None,
        }


def _failures(event: Event) -> Iterator[dict[str, str]]:
    entries = objects(event.at("run", "facets", "sparkLineage_failures", "failures"))
    message = event.text("run", "facets", "errorMessage", "message")
    for entry in entries or ([{"message": message}] if message else []):
        yield {
            "error_class": text(entry.get("errorClass")),
            "sql_state": text(entry.get("sqlState")),
            "message": text(entry.get("message")),
            "execution": text(entry.get("execution")),
        }
