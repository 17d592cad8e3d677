"""Traces one column through the events of many tasks, as a tree for people or as JSON."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Mapping
from typing import Any

from airflow_provider_spark_lineage.cli.page import columns_of
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.runs import runs_of
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.trace import (
    DECISIONS,
    VALUES,
    Column,
    ColumnTraces,
    Origin,
)


def traces_of(events: Events, current: Current, name: str) -> list[Origin]:
    """Return the traces of all output columns of a name, without columns that are part of another's trace.

    `name` is `COLUMN` or `DATASET.COLUMN`, where DATASET may be the last part of a name, also of a symlink.
    Raise `BadInputError` if no output has it.
    """
    columns = _columns(events, current)
    matching = [
        column
        for column, datasets in columns.items()
        if any(_is_asked(column, each, name) for each in datasets)
    ]
    if not matching:
        raise BadInputError(no_such_column(name, {column.field for column in columns}))
    traces = ColumnTraces(current, kinds=(*VALUES, *DECISIONS))
    # If a table is read and written again, two columns may come from each other: keep the later one.
    return [traces.trace(column) for column in traces.ends(matching)]


def tree(origin: Origin, writers: Mapping[tuple[str, str], str], *, names: Mapping[Column, str]) -> str:
    """Return a trace as lines: each column with its dataset, kinds of edges, and the task that wrote it."""
    lines = []
    left = [(origin, "", "")]
    while left:
        above, mark, indent = left.pop()
        lines.append(f"{mark}{_label(above, writers, names)}\n")
        for each in reversed(above.origins):
            branch, below = ("└── ", "    ") if each is above.origins[-1] else ("├── ", "│   ")
            left.append((each, indent + branch, indent + below))
    return "".join(lines)


def writers_of(events: Events, current: Current) -> dict[tuple[str, str], str]:
    """Return the job that wrote each dataset: the task, not one of its executions."""
    return {
        current.aliases.get(id_of(output), id_of(output)): run.last.subject
        for run in runs_of(events)
        for output in run.document()["outputs"]
    }


def short_names_of(traces: list[Origin]) -> tuple[str, dict[Column, str]]:
    """Return the common folder of all datasets in some traces, and their names below it."""
    columns = {above.column for trace in traces for above in _all(trace)}
    folders = {(column.namespace, column.dataset.rpartition("/")[0]) for column in columns}
    namespaces = {namespace for namespace, _ in folders}
    common = ""
    if len(namespaces) == 1 and all(folder for _, folder in folders):
        common = os.path.commonpath([folder for _, folder in folders])
    if common.strip("/"):
        place = f"{next(iter(namespaces))} {common}"
        return place, {column: column.dataset[len(common) :].lstrip("/") for column in columns}
    return "", {column: f"{column.namespace} {column.dataset}" for column in columns}


def trace_document(origin: Origin, writers: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Return a trace as a JSON object."""
    root = _node_document(origin, writers)
    left = [(origin, root)]
    for above, document in left:
        for each in above.origins:
            document["origins"].append(_node_document(each, writers))
            left.append((each, document["origins"][-1]))
    return root


def _node_document(origin: Origin, writers: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    column = origin.column
    return {
        "namespace": column.namespace,
        "name": column.dataset,
        "field": column.field,
        "kinds": list(origin.kinds),
        "by": writers.get((column.namespace, column.dataset)),
        "repeated": origin.repeated,
        "origins": [],
    }


def _columns(events: Events, current: Current) -> dict[Column, set[str]]:
    """Return the columns of all outputs, each with all names of its dataset."""
    aliases: dict[Id, set[str]] = {}
    for alias, dataset in current.aliases.items():
        aliases.setdefault(dataset, {dataset[1]}).add(alias[1])
    columns: dict[Column, set[str]] = {}
    for run in runs_of(events, each=True):
        for output in run.document()["outputs"]:
            dataset = current.aliases.get(id_of(output), id_of(output))
            names = aliases.get(dataset, {dataset[1]})
            columns.update((Column(*dataset, name), names) for name in columns_of(output))
    return columns


def _is_asked(column: Column, name_of_dataset: str, name: str) -> bool:
    if column.field == name:
        return True
    dataset = name.removesuffix(f".{column.field}")
    return dataset != name and f"/{name_of_dataset}".endswith((f"/{dataset}", f".{dataset}"))


def no_such_column(name: str, columns: Collection[str]) -> str:
    """Return a sentence that suggests the nearest column, or lists all of them."""
    names = ", ".join(sorted(columns))
    near = difflib.get_close_matches(name.rpartition(".")[2], sorted(columns), n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"the outputs have {names or 'no columns'}"
    return f"no output has a column `{name}`: {hint}"


def _all(origin: Origin) -> list[Origin]:
    every = [origin]
    for each in every:
        every += each.origins
    return every


def _label(origin: Origin, writers: Mapping[tuple[str, str], str], names: Mapping[Column, str]) -> str:
    column = origin.column
    kinds = ", ".join(kind.rpartition(" ")[2].replace("_", " ") for kind in origin.kinds)
    writer = writers.get((column.namespace, column.dataset), "")
    repeated = "see above" if origin.repeated else ""
    parts = [column.field, names[column], kinds, f"by {writer}" if writer else "", repeated]
    return "  ".join(filter(None, parts))
