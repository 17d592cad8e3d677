"""Collects the datasets of a view document, each once, with its reads, writes, checks and metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.checks import CheckResult
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of, object_at, objects, text
from airflow_provider_spark_lineage.openlineage.lifecycle import APPEND
from airflow_provider_spark_lineage.openlineage.viewer.checks import check_of


class Datasets:
    """Datasets in the order of their addition; a dataset that is read and written is one."""

    def __init__(self) -> None:
        self._documents: dict[Id, dict[str, Any]] = {}
        self._places: dict[Id, int] = {}
        self._columns: dict[Id, dict[str, str]] = {}

    def find(self, dataset: Id) -> int | None:
        """Return the position of a dataset; None if it was not added."""
        return self._places.get(dataset)

    @property
    def unfinished(self) -> list[Id]:
        """The targets of failed writes."""
        return [each for each, document in self._documents.items() if document["unfinished"]]

    def add_read(self, read: Mapping[str, Any], described: Mapping[str, Any]) -> None:
        """Add a dataset that was read, in the form of `RunEvents.document` and as events describe it."""
        document = self._add(read, described)
        document["read"] = True
        document["reads"] = read["statistics"]

    def add_write(self, write: Mapping[str, Any], described: Mapping[str, Any], *, is_ours: bool) -> None:
        """Add a dataset that was written, in the form of `RunEvents.document` and as events describe it.

        OpenLineage has no state for an append. If `is_ours`, a write of Spark without a state is one.
        """
        document = self._add(write, described)
        document["written"] = True
        document["writes"] = write["statistics"]
        is_of_spark = "outputStatistics" in object_at(described, "outputFacets") or (
            "columnLineage" in object_at(described, "facets")
        )
        document["change"] = write["mode"] or (APPEND if is_ours and is_of_spark else "")
        document["previous"] = write.get("previous")

    def add_unfinished(self, output: Mapping[str, Any]) -> None:
        """Add the target of a write that did not finish, as an event names it."""
        dataset = id_of(output)
        if dataset in self._documents and self._documents[dataset]["written"]:
            return
        fields = objects(object_at(output, "facets", "schema").get("fields"))
        columns = [{"name": text(field.get("name")), "type": text(field.get("type"))} for field in fields]
        named = {"namespace": dataset[0], "name": dataset[1], "fields": columns}
        self._add(named, output)["unfinished"] = True

    def column(self, dataset: Id, column: str | None) -> int:
        """Return the position of the dataset of a column, which no schema may have."""
        self._document(dataset)
        if column is not None:
            self._columns[dataset].setdefault(column, "")
        return self._places[dataset]

    def documents(self) -> list[dict[str, Any]]:
        """Return the datasets, with their columns and labels."""
        labels = labels_of(self._documents)
        return [
            {
                **document,
                "label": labels[dataset],
                "columns": [{"name": name, "type": kind} for name, kind in self._columns[dataset].items()],
            }
            for dataset, document in self._documents.items()
        ]

    def _add(self, dataset: Mapping[str, Any], described: Mapping[str, Any]) -> dict[str, Any]:
        document = self._document(id_of(dataset))
        columns = {field["name"]: field["type"] for field in dataset["fields"] if field["name"]}
        if columns:
            # A write may change the schema: its columns come first, those that were only read stay.
            self._columns[id_of(dataset)] = columns | {
                name: kind for name, kind in self._columns[id_of(dataset)].items() if name not in columns
            }
            document["has_schema"] = True
        for key, lines in (
            ("checks", [check_of(CheckResult(**check)) for check in dataset.get("checks", ())]),
            ("metrics", metric_lines(described)),
        ):
            document[key] += [line for line in lines if line not in document[key]]
        storage, catalog = (object_at(described, "facets", key) for key in ("storage", "catalog"))
        document["format"] = text(storage.get("fileFormat")) or document["format"]
        document["catalog"] = text(catalog.get("name")) or document["catalog"]
        return document

    def _document(self, dataset: Id) -> dict[str, Any]:
        if dataset not in self._documents:
            self._places[dataset] = len(self._places)
            self._columns[dataset] = {}
            self._documents[dataset] = bare_document(dataset)
        return self._documents[dataset]


def bare_document(dataset: Id) -> dict[str, Any]:
    """Return the document of a dataset whose name is all that is known."""
    return {
        "namespace": dataset[0],
        "name": dataset[1],
        "label": "",
        "read": False,
        "written": False,
        "unfinished": False,
        "has_schema": False,
        "columns": [],
        "change": "",
        "previous": None,
        "reads": {},
        "writes": {},
        "checks": [],
        "metrics": [],
        "format": "",
        "catalog": "",
    }


def labels_of(datasets: Iterable[Id]) -> dict[Id, str]:
    """Return the shortest end of each name that no other dataset has; a table's own name comes first.

    >>> labels_of([("file", "/a/orders"), ("file", "/b/orders"), ("file", "/b/items")])
    {('file', '/a/orders'): 'a/orders', ('file', '/b/orders'): 'b/orders', ('file', '/b/items'): 'items'}
    >>> [*labels_of([("postgres://a:1", "shop.eu.orders"), ("postgres://a:1", "shop.us.orders")]).values()]
    ['orders · eu', 'orders · us']
    """
    ends = {dataset: [*dict.fromkeys(_ends(dataset))] for dataset in datasets}
    counts = Counter(end for some in ends.values() for end in some)
    return {
        dataset: next((end for end in some if counts[end] == 1), some[-1]) for dataset, some in ends.items()
    }


def _ends(dataset: Id) -> Iterator[str]:
    namespace, name = dataset
    if namespace.split(":")[0] in _DATABASES and "/" not in name:
        own, *above = reversed(name.split("."))
        for depth in range(len(above[:5]) + 1):
            yield f"{own} · {'.'.join(reversed(above[:depth]))}" if depth else own
        yield f"{own} · {namespace}"
        yield f"{name} · {namespace}"
        return
    parts = name.strip("/").split("/")
    # A name with thousands of parts would have as many ends.
    for start in range(len(parts) - 1, max(len(parts) - 6, -1), -1):
        if end := "/".join(parts[start:]):
            yield end
    yield name or namespace
    yield f"{parts[-1]} · {namespace}"
    yield f"{name} · {namespace}"


_DATABASES = frozenset(
    "bigquery cassandra clickhouse crate db2 databricks hive mariadb mssql mysql oracle postgres redshift"
    " snowflake sqlserver synapse teradata trino unitycatalog".split()
)
"""Schemes of namespaces with names of tables: `database.schema.table`."""


def metric_lines(dataset: Mapping[str, Any]) -> list[str]:
    """Return the metrics of a dataset of an event, each as a line: `amount: min 1, max 7`."""
    lines: dict[str, None] = {}
    for place in ("inputFacets", "outputFacets", "facets"):
        metrics = object_at(dataset, place, "dataQualityMetrics")
        if whole := _numbers(metrics):
            lines[whole] = None
        for column, values in object_at(metrics, "columnMetrics").items():
            if numbers := _numbers(object_at(values)):
                lines[f"{column}: {numbers}"] = None
    return list(lines)


_METRICS = {
    "rowCount": "rows",
    "bytes": "bytes",
    "fileCount": "files",
    "nullCount": "nulls",
    "distinctCount": "distinct",
    "count": "count",
    "sum": "sum",
    "min": "min",
    "max": "max",
}


def _numbers(metrics: Mapping[str, Any]) -> str:
    known = ((word, metrics.get(key)) for key, word in _METRICS.items())
    return ", ".join(f"{word} {value:,}" for word, value in known if type(value) in (int, float))
