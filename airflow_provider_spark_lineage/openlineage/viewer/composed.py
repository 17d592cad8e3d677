"""Joins the view documents of several runs, as of the tasks of a DAG run, to one view document.

Datasets are joined by their ids: what one task writes and another reads is one dataset. Flows, edges and
executions have the position of their task in `tasks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns
from airflow_provider_spark_lineage.openlineage.events.parts import after_write
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of
from airflow_provider_spark_lineage.openlineage.viewer.datasets import labels_of
from airflow_provider_spark_lineage.openlineage.viewer.document import VERSION, Document, order_of_edge

NO_LINEAGE = "no lineage recorded"
"""Note of a task that is named in a composed document, and has no document of its own."""

NO_DATASET = "no dataset is known"
"""Note of a task that has a document without datasets, as one whose application could not be read."""

_LISTS = ("flows", "edges", "executions", "failures", "gaps", "checks", "bottlenecks", "facts", "links")

_FAILING = ("fail", "abort", "running", "start", "other")
"""States that decide the state of the whole, the strongest first."""


def compose(documents: Sequence[Document], title: str, *, below: str = "") -> Document:
    """Return one view document for several, in the order of their begin.

    `below` is the job that the names of jobs begin with, which is left out of them. A composed document
    cannot be composed again.
    """
    documents = sorted(documents, key=_began)
    merged: dict[Id, dict[str, Any]] = {}
    positions: dict[Id, int] = {}
    tasks: list[dict[str, Any]] = []
    parts: dict[str, list[dict[str, Any]]] = {key: [] for key in _LISTS}
    for number, document in enumerate(documents):
        for dataset in document["datasets"]:
            positions.setdefault(id_of(dataset), len(positions))
            _merge(merged, dataset)
        places = [positions[id_of(dataset)] for dataset in document["datasets"]]
        name = _name_of(document, below)
        tasks.append(
            {
                "title": name,
                "task_id": document["run"]["task_id"],
                "map_index": document["run"]["map_index"],
                "state": document["run"]["state"],
                "reads": [places[i] for i, each in enumerate(document["datasets"]) if each["read"]],
                "writes": [
                    places[i]
                    for i, each in enumerate(document["datasets"])
                    if each["written"] or each["unfinished"]
                ],
                "note": "" if places else _note_of(document),
            }
        )
        for key in ("flows", "edges"):
            for each in document[key]:
                parts[key].append(
                    {**each, "from": places[each["from"]], "to": places[each["to"]], "task": number}
                )
        for each in document["executions"]:
            ends = {key: [places[place] for place in each[key]] for key in ("reads", "writes", "unfinished")}
            parts["executions"].append({**each, **ends, "task": number})
        for each in document["gaps"]:
            place = None if each["dataset"] is None else places[each["dataset"]]
            parts["gaps"].append({**each, "dataset": place, "task": number})
        parts["checks"] += [{**each, "task": number} for each in document["checks"]]
        for each in document["failures"]:
            parts["failures"].append({**each, "execution": _below(name, each["execution"])})
        for each in document["bottlenecks"]:
            parts["bottlenecks"].append({**each, "message": _below(name, each["message"])})
        for each in document["facts"]:
            parts["facts"].append({**each, "text": _below(name, each["text"])})
        parts["links"] += [{**each, "name": f"{each['name']}: {name}"} for each in document["links"]]
    parts["edges"].sort(key=order_of_edge)
    labels = labels_of(merged)
    return {
        "version": VERSION,
        "title": title,
        "job": {"namespace": documents[0]["job"]["namespace"] if documents else "", "name": title},
        "run": _run(documents),
        "datasets": [{**dataset, "label": labels[id_of(dataset)]} for dataset in merged.values()],
        **parts,
        "tasks": tasks,
        "reports_gaps": not any(task["note"] for task in tasks)
        and bool(documents)
        and all(document["reports_gaps"] for document in documents),
        "planned": any(document["planned"] for document in documents),
    }


def _note_of(document: Document) -> str:
    """Return the note of a task whose document has no datasets."""
    is_known = any(document[key] for key in ("gaps", "facts", "checks", "executions"))
    return NO_DATASET if is_known else NO_LINEAGE


def _began(document: Document) -> tuple[int, str]:
    """Return a sort key: the time when a run began, and its title."""
    run = document["run"]
    return _instant(run["began"] or run["ended"]), document["title"]


def _instant(time: str) -> int:
    """Return a time in nanoseconds since 1970: texts of several producers have different forms."""
    try:
        return instant_ns(time.upper())
    except ValueError:
        return 0


def _merge(merged: dict[Id, dict[str, Any]], dataset: Mapping[str, Any]) -> None:
    """Add a dataset of a document to the merged ones."""
    joined = merged.get(id_of(dataset))
    if joined is None:
        merged[id_of(dataset)] = dict(dataset)
        return
    names = {column["name"] for column in joined["columns"]}
    typed = {column["name"]: column for column in dataset["columns"] if column["type"]}
    columns = [typed.get(column["name"], column) for column in joined["columns"]]
    joined["columns"] = columns + [each for each in dataset["columns"] if each["name"] not in names]
    # What a later task wrote is finished; a write that failed after it is not.
    joined["unfinished"] = dataset["unfinished"] or (joined["unfinished"] and not dataset["written"])
    if dataset["read"]:
        # Tasks may have read the same rows, or others: then the number of all is unknown.
        first, second = joined["reads"], dataset["reads"]
        joined["reads"] = second if not joined["read"] or first == second else {}
    if dataset["written"]:
        later = dataset["writes"], dataset["change"]
        written = after_write((joined["writes"], joined["change"]), later) if joined["written"] else later
        joined["writes"], joined["change"] = written
    for flag in ("read", "written", "has_schema"):
        joined[flag] = joined[flag] or dataset[flag]
    joined["previous"] = joined["previous"] or dataset["previous"]
    for key in ("format", "catalog"):
        joined[key] = joined[key] or dataset[key]
    for key in ("checks", "metrics"):
        joined[key] = joined[key] + [line for line in dataset[key] if line not in joined[key]]


def _name_of(document: Document, below: str) -> str:
    """Return the task's id with its map index, or the title of a job that is not a task."""
    run = document["run"]
    index = f" [{run.get('map_label') or run['map_index']}]" if run["map_index"] is not None else ""
    return f"{run['task_id']}{index}" if run["task_id"] else str(document["title"]).removeprefix(f"{below}.")


def _below(name: str, text: str) -> str:
    return f"{name}: {text}" if text else name


def worst_state(states: Iterable[str]) -> str:
    """Return the state of several runs together.

    >>> worst_state(["complete", "fail"]), worst_state([])
    ('fail', 'complete')
    """
    known = set(states)
    return next((state for state in _FAILING if state in known), "complete")


def _run(documents: Sequence[Document]) -> dict[str, Any]:
    """Return the run of a composed document; its state is the worst of its tasks'."""
    runs = [document["run"] for document in documents]
    engines = list(dict.fromkeys(run["engine"] for run in runs if run["engine"]))
    first = runs[0] if runs else {}
    begun, ends = [run["began"] for run in runs if run["began"]], [run["ended"] for run in runs]
    return {
        "id": "",
        "dag_id": first.get("dag_id", ""),
        "task_id": "",
        "dag_run_id": first.get("dag_run_id", ""),
        "map_index": None,
        "try": None,
        "state": worst_state(run["state"] for run in runs),
        "began": min(begun, key=_instant, default=""),
        "ended": max(ends, key=_instant) if ends and all(ends) else "",
        "producer": first.get("producer", ""),
        "engine": ", ".join(engines),
    }
