"""The work of a DAG run's tries, by their own marks, compared with the events about them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Event = Mapping[str, Any]
Tells = Literal["all", "part", "nothing"]
"""Share of a try's outputs that an event has to name: a part of them comes with a gap."""

TOLD_TO_STOP = "task_stopped"
"""Kind of the gap of an event that was sent because the task was to be killed."""


@dataclass(frozen=True)
class Ending:
    """The ending of a task, and the events expected of each of its tries."""

    state: str
    tries: tuple[Mapping[str, Tells], ...]
    """For each try, the completeness of its own events other than START, by their type."""


DONE: Mapping[str, Tells] = {"COMPLETE": "all"}
FAILED: Mapping[str, Tells] = {"FAIL": "all"}
STOPPED: Mapping[str, Tells] = {"OTHER": "part"}
# Airflow's API server sends this FAIL without knowledge of the task's work.
MARKED: Mapping[str, Tells] = {"OTHER": "part", "FAIL": "nothing"}
# Nothing is sent after SIGKILL; events sent before, of each execution, stay true.
SILENT: Mapping[str, Tells] = {}

ENDINGS = {
    "operator": Ending("success", (DONE,)),
    "decorated": Ending("success", (DONE,)),
    "plain": Ending("success", (DONE,)),
    "mapped": Ending("success", (DONE,)),
    "streamed": Ending("success", (DONE,)),
    "skewed": Ending("success", (DONE,)),
    "skipped": Ending("skipped", (DONE,)),
    "fails": Ending("failed", (FAILED,)),
    "timed_out": Ending("failed", (FAILED,)),
    "second_try": Ending("success", (FAILED, DONE)),
    "told_to_stop": Ending("success", (STOPPED | DONE,)),
    "plain_told_to_stop": Ending("success", (STOPPED | DONE,)),
    "function_told_to_stop": Ending("success", (STOPPED | DONE,)),
    "killed": Ending("failed", (SILENT,)),
    "plain_killed": Ending("failed", (SILENT,)),
    "function_killed": Ending("failed", (SILENT,)),
    "marked_failed": Ending("failed", (MARKED,)),
    "plain_marked_failed": Ending("failed", (MARKED,)),
    "cleared": Ending("success", (STOPPED, DONE)),
}


@dataclass(frozen=True)
class Try:
    """One try of a task instance, as its function reports it."""

    task: str
    map_index: int
    number: int
    run_id: str
    """Of the OpenLineage run."""

    wrote: Mapping[str, int]
    """Paths of its outputs, and the rows."""

    writes: Collection[str]
    """Paths that it began to write."""

    first_mark: float
    last_mark: float
    """Seconds since the epoch."""

    @property
    def tells(self) -> Mapping[str, Tells]:
        return ENDINGS[self.task].tries[self.number - 1]

    def __str__(self) -> str:
        return f"{self.task}[{self.map_index}] try {self.number}"


def marks_of(home: Path, dag_run: str) -> list[dict[str, Any]]:
    """The marks of a DAG run so far, oldest first."""
    files = (home / "marks" / dag_run).glob("*.json")
    return sorted((json.loads(file.read_text()) for file in files), key=lambda mark: mark["at"])


def tries_of(marks: Iterable[Mapping[str, Any]]) -> list[Try]:
    """The tries that have made a mark."""
    by_try = defaultdict(list)
    for mark in marks:
        by_try[mark["task"], mark["map_index"], mark["try"], mark["run"]].append(mark)
    return [
        Try(
            *key,
            wrote={mark["path"]: mark["rows"] for mark in own if mark["what"] == "wrote"},
            writes={mark["path"] for mark in own if mark["what"] == "writes"},
            first_mark=own[0]["at"],
            last_mark=own[-1]["at"],
        )
        for key, own in by_try.items()
    ]


def missing(attempt: Try, events: Iterable[Event]) -> Iterator[str]:
    """Return the work of a try that events do not report, a sentence each; empty if all is reported."""
    events = list(events)
    own = [event["eventType"] for event in events if event["run"]["runId"] == attempt.run_id]
    wanted = ["START", *attempt.tells]
    if sorted(own) != sorted(wanted):
        yield f"{attempt}: has events {own}, not {wanted}"
    named: set[str] = set()
    states = defaultdict(list)
    for event in events:
        if parent_of(event) == attempt.run_id:
            states[event["run"]["runId"]].append(event["eventType"])
            if event["eventType"] != "START":
                named |= set(outputs_of(event))
    for run_id, all_states in states.items():
        if len(all_states) != 2 or all_states[0] != "START":
            yield f"{attempt}: its execution {run_id} has events {all_states}, not a START and an end"
    if named != set(attempt.wrote):
        yield f"{attempt}: its executions wrote {sorted(named)}, not {sorted(attempt.wrote)}"


def wrong(attempt: Try, events: Iterable[Event], orders: str) -> Iterator[str]:
    """Return the false statements of events about a try, a sentence each, whatever else they leave out."""
    for event in events:
        kind, name = event["eventType"], event["job"]["name"]
        is_own = event["run"]["runId"] == attempt.run_id
        if not is_own and parent_of(event) != attempt.run_id:
            continue
        label = f"{attempt}, {kind} of {name}"
        outputs = outputs_of(event)
        # START of an execution names what it will write.
        true = attempt.writes if kind == "START" else attempt.wrote.keys()
        for path in outputs.keys() - true:
            yield f"{label}: says that {path} was written"
        for path in outputs.keys() & attempt.wrote.keys():
            if kind != "START" and outputs[path] != attempt.wrote[path]:
                yield f"{label}: says that {path} has {outputs[path]} rows"
        for path in {dataset["name"] for dataset in event["inputs"]} - {orders}:
            yield f"{label}: says that {path} was read"
        if is_own and kind != "START":
            yield from _wrong_end(attempt, event, label, outputs)


def _wrong_end(attempt: Try, event: Event, label: str, outputs: Mapping[str, int | None]) -> Iterator[str]:
    """Return the errors of an event that ends a try, or is its last one before it may be killed."""
    tells = attempt.tells.get(event["eventType"])
    gaps = gaps_of(event)
    if tells is None:
        yield f"{label}: ends what ended otherwise"
    elif tells == "nothing" and (outputs or gaps):
        yield f"{label}: comes from where nothing is known, and names {sorted(outputs)}, {gaps}"
    elif tells == "all" and (set(outputs) != set(attempt.wrote) or gaps_of(event, of=attempt.wrote)):
        yield f"{label}: names {sorted(outputs)} of {sorted(attempt.wrote)}, gaps {gaps}"
    elif tells == "part" and not (outputs and TOLD_TO_STOP in gaps):
        yield f"{label}: names {sorted(outputs)}, gaps {gaps}"


def story_of(attempt: Try, events: Iterable[Event]) -> list[tuple[str, ...]]:
    """Return the content of the events of a try and of its executions, without the task's name, sorted."""

    def plain(text: str) -> str:
        return text.replace(attempt.task, "TASK")

    return sorted(
        (
            "task" if event["run"]["runId"] == attempt.run_id else plain(event["job"]["name"]),
            event["eventType"],
            *sorted(plain(dataset["name"].rpartition("/")[2]) for dataset in event["inputs"]),
            "->",
            *sorted(plain(f"{name.rpartition('/')[2]} {rows}") for name, rows in outputs_of(event).items()),
            # An event that is sent while Spark writes may have more of them.
            *(gap for gap in gaps_of(event) if event["eventType"] != "OTHER" or TOLD_TO_STOP in gap),
        )
        for event in events
        if attempt.run_id in (event["run"]["runId"], parent_of(event))
    )


def parent_of(event: Event) -> str | None:
    """Run id of the parent of a run."""
    parent = event["run"].get("facets", {}).get("parent", {})
    return parent.get("run", {}).get("runId")  # type: ignore[no-any-return]


def outputs_of(event: Event) -> dict[str, int | None]:
    """Return the names of the outputs of an event, and the rows."""
    return {
        dataset["name"]: dataset.get("outputFacets", {}).get("outputStatistics", {}).get("rowCount")
        for dataset in event["outputs"]
    }


def gaps_of(event: Event, of: Collection[str] = ()) -> list[str]:
    """The kinds of an event's gaps; with `of`, without those about other outputs."""
    facet = event["run"].get("facets", {}).get("sparkLineage_gaps", {})
    return [
        gap["kind"]
        for gap in facet.get("gaps", [])
        if not of or not gap.get("output") or gap["output"]["name"] in of
    ]
