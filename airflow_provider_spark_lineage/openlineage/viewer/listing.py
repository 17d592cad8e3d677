"""Lists the runs of some events with their view documents, for a page.

The runs below one parent, as the tasks of a DAG run, also have a composed document, which comes first. So
have the newest runs of all jobs, if there is more than one DAG run or job.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.model import Event, Events
from airflow_provider_spark_lineage.openlineage.events.runs import RunEvents, runs_of, without_run
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName, time_of
from airflow_provider_spark_lineage.openlineage.viewer.all_jobs import ALL_JOBS, JobDocument, document_of_all
from airflow_provider_spark_lineage.openlineage.viewer.composed import compose
from airflow_provider_spark_lineage.openlineage.viewer.document import Document, document_of
from airflow_provider_spark_lineage.openlineage.words import counted

MAX_BYTES = 20_000_000
"""Size of all documents beyond which only the newest run of each job stays."""

NEWEST = "newest of all jobs"
"""Key of the newest runs of all jobs together."""

NO_DATASET = "The events of this run name no dataset."


def listing(
    events: Events,
    *,
    title: str,
    is_shown: Callable[[str], bool] = lambda job: True,
    notes: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the content of a page: `title`, `notes`, and `runs`, newest first.

    `is_shown` chooses jobs by their names. `start` is the key of the run to open: the newest DAG run, or else
    the newest runs of all jobs together. Each run has a `key`, the `group` and `label` of its line, `time`,
    `state`, the keys of `previous` runs of the same job, newest first, and the `answer` to draw.
    """
    runs = [entry for entry in _entries(events) if is_shown(entry["job"])]
    notes = [*notes, *filter(None, [without_run(events)]), *events.problems]
    if _size_of(runs) > MAX_BYTES:
        newest = {entry["of"]: entry["key"] for entry in reversed(runs)}
        newest_runs = [entry for entry in runs if newest[entry["of"]] == entry["key"]]
        left_out = counted(len(runs) - len(newest_runs), "older run")
        notes.append(f"Only the newest run of each job is here: {left_out} would make this page too large.")
        runs = newest_runs
    earlier: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in reversed(runs):
        older = earlier.setdefault(entry["of"], [])
        # An earlier try of the same task instance is not an earlier run.
        others = [each for each in older if each["instance"] != entry["instance"]]
        entry["previous"] = [each["key"] for each in reversed(others)]
        older.append(entry)
    start = runs[0] if runs else None
    whole = _newest_of_all(runs, events)
    if start is not None and whole is not None and _size_of([whole, *runs]) <= MAX_BYTES:
        start, runs = whole if start["is_alone"] else start, [whole, *runs]
    labels = {entry["key"]: entry["time"] or entry["label"] for entry in runs}
    return {
        "version": 1,
        "title": title,
        "notes": notes,
        "start": start["key"] if start is not None else "",
        "runs": [_with_answer(entry, labels) for entry in runs],
    }


def answer_of(document: Document, kind: str = "run") -> dict[str, Any]:
    """Return the document for the browser, or the reason why there is nothing to draw."""
    is_empty = not any(document[key] for key in ("datasets", "gaps", "failures", "checks", "facts"))
    return {
        "version": 1,
        "kind": kind,
        "document": None if is_empty else document,
        "reason": {"sentence": NO_DATASET, "command": ""} if is_empty else None,
        "about": "",
        "notes": [],
        "tries": [],
        "try": document["run"]["try"],
        "previous": [],
        "history": [],
    }


def _entries(events: Events) -> list[dict[str, Any]]:
    """Return the runs, newest first; a composed one stands before its parts."""
    every = {run.last.run_id: run for run in runs_of(events, each=True)}
    below: dict[str, list[RunEvents]] = {}
    for run in every.values():
        below.setdefault(run.last.parent_run_id, []).append(run)
    tops: dict[str, list[RunEvents]] = {}
    for run in runs_of(events):
        # A run without a parent stands alone.
        tops.setdefault(run.last.parent_run_id or run.last.run_id, []).append(run)
    blocks: list[tuple[int, list[dict[str, Any]]]] = []
    for parent_id, siblings in tops.items():
        parts = [(run, document_of(run.events, below.get(run.last.run_id, ()))) for run in siblings]
        group, parent_job = _group_of(siblings), _parent_job(siblings[0].last)
        is_alone = not (siblings[0].last.dag_run or parent_job)
        block = [
            {
                **_entry(document, group, run.last.run_id, _label_of(run)),
                "is_alone": is_alone,
                "instance": _instance_of(run, document, group),
                "time_ns": time_of(run),
            }
            for run, document in reversed(parts)
        ]
        if len(parts) > 1:
            # Of a task that was retried, the last try.
            last = {_instance_of(run, document, group): document for run, document in parts}
            whole = compose(list(last.values()), group, below=parent_job)
            if (parent := every.get(parent_id)) is not None:
                ended = document_of(parent.events)["run"]
                whole["run"] |= {key: ended[key] for key in ("id", "state", "ended")}
            entry = _entry(whole, group, parent_id, "all together")
            of = (whole["job"]["namespace"], parent_job)
            block.insert(0, {**entry, "job": parent_job, "of": of, "kind": "dag_run"})
        blocks.append((max(run.last.time_ns or 0 for run in siblings), block))
    # Times of several producers can have different forms.
    blocks.sort(key=lambda ended: ended[0], reverse=True)
    return [entry for _, block in blocks for entry in block]


def _newest_of_all(runs: Sequence[dict[str, Any]], events: Events) -> dict[str, Any] | None:
    """Return the newest run of each job as one composed entry; None if one job or DAG run is all there is."""
    single = [entry for entry in reversed(runs) if entry["kind"] == "run"]
    # An earlier run of a mapped task may have had more instances.
    last_group = {JobName(**entry["document"]["job"]): entry["group"] for entry in single}
    newest = {
        entry["of"]: entry
        for entry in single
        if entry["group"] == last_group[JobName(**entry["document"]["job"])]
    }
    groups = {entry["group"] for entry in newest.values()}
    if len(newest) < 2 or (len(groups) == 1 and not runs[0]["is_alone"]):
        return None
    documents = [
        JobDocument(JobName(**entry["document"]["job"]), entry["time_ns"], entry["document"])
        for entry in newest.values()
    ]
    entry = _entry(document_of_all(documents, events), ALL_JOBS, NEWEST, "newest run of each")
    return {**entry, "kind": "dag_run", "previous": []}


def _instance_of(run: RunEvents, document: Document, group: str) -> tuple[str, str]:
    """Return what has one document in a composed one: a task instance, or a run of another job."""
    return document["title"], group if document["run"]["task_id"] else run.last.run_id


def _entry(document: Document, group: str, key: str, label: str) -> dict[str, Any]:
    run = document["run"]
    return {
        "key": key,
        "group": group,
        "label": label,
        "time": run["began"] or run["ended"],
        "state": run["state"],
        "job": document["title"],
        "of": (document["job"]["namespace"], document["title"]),
        "kind": "run",
        "instance": key,
        "is_alone": False,
        "time_ns": 0,
        "document": document,
    }


def _with_answer(entry: dict[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    answer = answer_of(entry["document"], entry["kind"])
    answer["previous"] = [{"id": key, "label": labels[key]} for key in entry["previous"]]
    of_line = ("key", "group", "label", "time", "state", "previous")
    return {**{name: entry[name] for name in of_line}, "answer": answer}


def _group_of(siblings: Sequence[RunEvents]) -> str:
    """Return the name of the parent and its run; for a run alone, its namespace."""
    last = siblings[0].last
    if last.dag_run is not None:
        return " · ".join(last.dag_run)
    if last.parent_run_id:
        return _parent_job(last) or last.parent_run_id
    return last.text("job", "namespace")


def _parent_job(event: Event) -> str:
    return event.dag_run[0] if event.dag_run else event.text("run", "facets", "parent", "job", "name")


def _label_of(run: RunEvents) -> str:
    last = run.last
    name = last.subject.removeprefix(f"{_parent_job(last)}.")
    index = f"[{last.map_index}]" if last.map_index is not None else ""
    return f"{name}{index}" + (f"   try {last.try_number}" if (last.try_number or 1) > 1 else "")


def _size_of(runs: Iterable[Mapping[str, Any]]) -> int:
    return sum(len(json.dumps(run["document"])) for run in runs)


def jobs_of(events: Events) -> Iterator[str]:
    """Yield the names that `is_shown` of `listing` gets."""
    yield from dict.fromkeys(entry["job"] for entry in _entries(events))
