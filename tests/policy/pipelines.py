"""Pipelines in a few lines of text, as events: the subjects of tests of policies.

    load: gold/orders.mail <- crm/customers.email              direct identity
    load: gold/orders.mail <- crm/customers.email aggregation masks
    load: gold/orders <- crm/customers.email filter            decides all rows
    load: gold/orders <- crm/customers                         nothing is said of columns
    load: gap gold/orders unread_plan                          a gap; with `.mail` one of a column
    tag crm/customers.email pii                                a facet `tags` of a catalog
    alias crm.customers crm/customers                          a symlink
    columns gold/orders id mail                                columns of a dataset's schema
    load@2: gold/orders.mail <- crm/customers.id               a second run of the job `load`

Jobs whose names begin with `other` are of another producer. All datasets are below `/lake`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.model import Events

INDIRECT = {"filter", "join", "group_by", "sort", "window", "conditional"}

DEFAULT_COLUMNS = {"crm/customers": "id email phone name city", "raw/people": "id ssn"}


def events_of(pipeline: str) -> Events:
    """Return one COMPLETE event of each job, and one dataset event of each tagged dataset."""
    jobs: dict[str, list[list[str]]] = defaultdict(list)
    tags: dict[str, list[dict[str, str]]] = defaultdict(list)
    described: dict[str, dict[str, Any]] = defaultdict(dict)
    columns = dict(DEFAULT_COLUMNS)
    for line in filter(None, map(str.strip, pipeline.splitlines())):
        words = line.split()
        if words[0].endswith(":"):
            jobs[words[0][:-1]].append(words[1:])
        elif words[0] == "tag":
            dataset, field = place_of(words[1])
            key, _, value = words[2].partition("=")
            tags[dataset].append(
                {"key": key, "value": value or "true", **({"field": field} if field else {})}
            )
        elif words[0] == "alias":
            identifier = {"namespace": "hive", "name": words[1], "type": "TABLE"}
            described[words[2]]["symlinks"] = {"identifiers": [identifier]}
        elif words[0] == "columns":
            columns[words[1]] = " ".join(words[2:])
        else:
            raise ValueError(line)
    for dataset, names in columns.items():
        described[dataset]["schema"] = {
            "fields": [{"name": name, "type": "string"} for name in names.split()]
        }
    documents = [_event(job, lines, described, number) for number, (job, lines) in enumerate(jobs.items())]
    for dataset, some in tags.items():
        facets = {"tags": {"tags": some}}
        documents.append({"eventTime": _time(99), "dataset": {**_id(dataset), "facets": facets}})
    return Events.of(documents)


def place_of(text: str) -> tuple[str, str | None]:
    """Return the dataset and the column of `crm/customers.email`; None for a dataset."""
    dataset, _, field = text.partition(".")
    return dataset, field or None


def _event(job: str, lines: list[list[str]], described: Any, number: int) -> dict[str, Any]:
    inputs: dict[str, None] = {}
    outputs: dict[str, dict[str, Any]] = defaultdict(lambda: {"fields": {}, "dataset": []})
    gaps = []
    mode = {}
    for words in lines:
        if words[0] == "gap":
            dataset, column = place_of(words[1])
            outputs[dataset]
            gap = {"kind": words[2], "reason": f"{words[2]} of {words[1]}", "output": _id(dataset)}
            gaps.append({**gap, **({"column": column} if column else {})})
            continue
        if words[0] == "mode":
            mode[words[1]] = words[2]
            outputs[words[1]]
            continue
        (target, column), (source, field) = place_of(words[0]), place_of(words[2])
        inputs[source] = None
        facet = outputs[target]
        if field is None:
            continue
        kind = next((word for word in words[3:] if word != "masks"), "identity")
        how = {
            "type": "INDIRECT" if kind in INDIRECT else "DIRECT",
            "subtype": kind.upper(),
            "masking": "masks" in words,
        }
        edge = {**_id(source), "field": field, "transformations": [how]}
        if column is None:
            facet["dataset"].append(edge)
        else:
            facet["fields"].setdefault(column, {"inputFields": []})["inputFields"].append(edge)
    is_ours = not job.startswith("other")
    run_facets = {"sparkLineage_gaps": {"gaps": gaps}} if is_ours else {}
    return {
        "eventType": "COMPLETE",
        "eventTime": _time(number),
        "job": {"namespace": "jobs", "name": job.partition("@")[0]},
        "run": {"runId": f"run-of-{job}", "facets": run_facets},
        "inputs": [{**_id(name), "facets": dict(described.get(name, {}))} for name in inputs],
        "outputs": [
            {
                **_id(name),
                "facets": {
                    **described.get(name, {}),
                    **({"columnLineage": facet} if is_ours or facet["fields"] or facet["dataset"] else {}),
                    **(
                        {"lifecycleStateChange": {"lifecycleStateChange": mode[name]}} if name in mode else {}
                    ),
                },
            }
            for name, facet in outputs.items()
        ],
    }


def _id(dataset: str) -> dict[str, str]:
    return {"namespace": "file", "name": f"/lake/{dataset}"}


def _time(number: int) -> str:
    return f"2026-01-01T{number // 60:02}:{number % 60:02}:00Z"
