"""Turns the events of one run into a view document: the JSON object that the browser draws.

A view document has each dataset once; flows, edges, executions and gaps refer to it by its position. All keys
are always present. `composed` joins the documents of several runs. Events come from outside: a value whose
type is not the spec's is treated as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from airflow_provider_spark_lineage.openlineage.events.facts import (
    bottlenecks_of,
    engine_of,
    facts_of,
    links_of,
)
from airflow_provider_spark_lineage.openlineage.events.flows import TOO_MANY, Pair, executions_of, flows_of
from airflow_provider_spark_lineage.openlineage.events.model import Event
from airflow_provider_spark_lineage.openlineage.events.runs import RunEvents, failures_of, is_ours
from airflow_provider_spark_lineage.openlineage.events.shapes import id_of, object_at, objects, text
from airflow_provider_spark_lineage.openlineage.viewer.checks import checks_of
from airflow_provider_spark_lineage.openlineage.viewer.datasets import Datasets

VERSION = 1
"""Version of the view document; a browser of another version says so instead of drawing it."""

Document = dict[str, Any]

_Value = TypeVar("_Value")

STATES = frozenset({"complete", "fail", "abort", "running", "start"})
"""States of a run that have a word of their own; all else is `other`."""

PLANNED = "planned"
"""Kind of the gap that lineage from a text has."""

MANY_FLOWS = "limit_reached"
"""Kind of the viewer's own gap about flows that it leaves out."""


def document_of(events: Iterable[Event], children: Sequence[RunEvents] = ()) -> Document:
    """Return the view document of the events of one run, at least one.

    `children` are the runs below it, as a task's executions are: they name the targets of failed writes, and
    are the list of executions if the run's own facets have none.

    >>> from airflow_provider_spark_lineage.openlineage.events.model import Event
    >>> event = {"eventType": "COMPLETE", "job": {"namespace": "etl", "name": "copy"}, "run": {"runId": "1"},
    ...          "inputs": [{"namespace": "file", "name": "/in"}],
    ...          "outputs": [{"namespace": "file", "name": "/out"}]}
    >>> document = document_of([Event(event)])
    >>> [dataset["label"] for dataset in document["datasets"]], document["flows"]
    (['in', 'out'], [{'from': 0, 'to': 1, 'task': None}])
    """
    run = RunEvents(events)
    lineage, last = run.document(), run.last
    facets = [object_at(event.document, "run", "facets") for event in run.ends]
    datasets = Datasets()
    for read, described in zip(lineage["inputs"], run.inputs, strict=True):
        datasets.add_read(read, described)
    for write, described in zip(lineage["outputs"], run.outputs, strict=True):
        datasets.add_write(write, described, is_ours=is_ours(last))
    executions = list(chain.from_iterable(map(executions_of, facets))) or list(_executions_of(children))
    unfinished = [pair for each in (run, *children) for pair in each.unfinished]
    for output, _ in unfinished:
        datasets.add_unfinished(output)
    for execution in executions:
        for namespace, name in execution["unfinished"]:
            datasets.add_unfinished({"namespace": namespace, "name": name})
    edges = [
        {
            "from": datasets.column(id_of(edge["source"]), edge["field"]),
            "field": edge["field"],
            "to": datasets.column(id_of(output), edge["column"]),
            "column": edge["column"],
            "type": edge["type"],
            "subtype": edge["subtype"],
            "masking": edge["masking"],
            "task": None,
        }
        for output in lineage["outputs"]
        for edge in output["edges"]
        if edge["field"]
    ]
    targets = datasets.unfinished
    flows, cut = flows_of(run, lineage["outputs"], executions, unfinished, targets)
    gaps = [_gap(datasets, gap) for gap in lineage["gaps"]]
    if cut:
        gaps.append(
            {
                "where": "",
                "kind": MANY_FLOWS,
                "reason": TOO_MANY,
                "dataset": None,
                "column": None,
                "task": None,
            }
        )
    began, ended = _times(run, executions)
    dag_id, task_id, dag_run_id = _airflow_ids(last)
    facts = [facts_of(some, has_ended=run.is_ended) for some in facets]
    links = [links_of(some, has_ended=run.is_ended) for some in facets]
    return {
        "version": VERSION,
        "title": last.subject + (f"[{last.map_index}]" if last.map_index is not None else ""),
        "job": {"namespace": last.text("job", "namespace"), "name": last.subject},
        "run": {
            "id": last.run_id,
            "dag_id": dag_id,
            "task_id": task_id,
            "dag_run_id": dag_run_id,
            "map_index": last.map_index,
            "try": last.try_number,
            "state": last.type if last.type in STATES else "other",
            "began": began,
            "ended": ended,
            "producer": last.text("producer"),
            "engine": next(filter(None, map(engine_of, reversed(facets))), ""),
        },
        "datasets": datasets.documents(),
        "flows": list(_placed(datasets, flows)),
        "edges": sorted(edges, key=order_of_edge),
        "tasks": [],
        "executions": [_execution(datasets, each) for each in executions],
        "failures": list(_failures(run)),
        "gaps": gaps,
        "bottlenecks": [each for some in facets for each in bottlenecks_of(some)],
        "checks": checks_of(facets),
        "facts": [{"name": name, "text": " · ".join(parts)} for name, parts in _each_once(facts)],
        "links": [{"name": "Spark", "href": link} for link in _each_once(links)],
        # Only an end event without gaps says that nothing is missing.
        "reports_gaps": last.type == "complete" and is_ours(last),
        "planned": any(gap["kind"] == PLANNED for gap in lineage["gaps"]),
    }


def order_of_edge(edge: Mapping[str, Any]) -> tuple[Any, ...]:
    """Sort key of edges: by output and column; edges of the whole output come first."""
    return edge["to"], edge["column"] or "", edge["type"], edge["from"], edge["field"], edge["subtype"]


def _executions_of(children: Sequence[RunEvents]) -> Iterator[dict[str, Any]]:
    """Yield the runs below a run as its executions, in the order of their beginnings."""
    begun = sorted(children, key=lambda child: _times(child, ())[0])
    for number, child in enumerate(begun, 1):
        lineage = child.document()
        began, ended = _times(child, ())
        rows = [output["statistics"].get("rows") for output in lineage["outputs"]]
        yield {
            "number": number,
            "name": child.last.subject,
            "began": began,
            "ended": ended,
            "state": child.last.type if child.last.type in STATES else "other",
            "reads": [id_of(read) for read in lineage["inputs"]],
            "writes": [id_of(write) for write in lineage["outputs"]],
            "unfinished": list(dict.fromkeys(id_of(output) for output, _ in child.unfinished)),
            "rows": sum(rows) if rows and None not in rows else None,
            "statement": child.last.text("job", "facets", "sql", "query")[:_MAX_STATEMENT_LENGTH],
        }


def _placed(datasets: Datasets, pairs: Iterable[Pair]) -> Iterator[dict[str, Any]]:
    """Yield pairs of an input and an output as flows between positions of datasets."""
    positions = ((datasets.find(source), datasets.find(target)) for source, target in pairs)
    ends = ((source, target) for source, target in positions if source is not None and target is not None)
    for source, target in sorted(ends):
        yield {"from": source, "to": target, "task": None}


_MAX_STATEMENT_LENGTH = 300


def _execution(datasets: Datasets, execution: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("reads", "writes", "unfinished")
    places = {key: [datasets.find(each) for each in execution[key]] for key in keys}
    known = {key: [place for place in some if place is not None] for key, some in places.items()}
    return {**execution, **known, "task": None}


def _failures(run: RunEvents) -> Iterable[dict[str, Any]]:
    """Return the failures, each with the part of the statement, or the line of the program, that failed."""
    failures: dict[str, dict[str, Any]] = {}
    for event in run.ends:
        entries = objects(event.at("run", "facets", "sparkLineage_failures", "failures"))
        for number, failure in enumerate(failures_of(event)):
            entry = entries[number] if number < len(entries) else {}
            fragment = text(entry.get("fragment")) or text(entry.get("codeLine"))
            failures.setdefault(repr((failure, fragment)), {**failure, "fragment": fragment})
    return failures.values()


def _each_once(values: Iterable[Iterable[_Value]]) -> dict[_Value, None]:
    return dict.fromkeys(chain.from_iterable(values))


def _gap(datasets: Datasets, gap: Mapping[str, Any]) -> dict[str, Any]:
    output = datasets.find(id_of(gap["output"])) if gap["output"] else None
    where = gap["where"]
    if gap["output"] and output is None:
        # An output that the event names nowhere else, as one that was dropped later.
        where = " ".join(filter(None, (" ".join(id_of(gap["output"])), where)))
    return {
        "where": where,
        "kind": gap["kind"],
        "reason": gap["reason"],
        "dataset": output,
        "column": gap["column"],
        "task": None,
    }


def _times(run: RunEvents, executions: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return begin and end of a run; of a run with a single event, the begin of its first execution."""
    times = [(event.time_ns, event.text("eventTime")) for event in run.events]
    known = sorted((nanoseconds, time) for nanoseconds, time in times if nanoseconds is not None)
    began = known[0][1] if len(known) > 1 or run.last.type == "start" else ""
    began = began or min((each["began"] for each in executions if each["began"]), default="")
    return began, run.last.text("eventTime") if run.is_ended else ""


def _airflow_ids(event: Event) -> tuple[str, str, str]:
    """Return DAG id, task id and Airflow's id of the DAG run; empty where the event lacks it."""
    facet = ("run", "facets", "airflow")
    task_id = event.text(*facet, "task", "task_id") or event.text(*facet, "taskInstance", "task_id")
    dag_run = event.dag_run or (event.facet_dag_id, "")
    return dag_run[0], task_id, dag_run[1]
