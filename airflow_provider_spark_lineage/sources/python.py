"""Data sources written in Python (`spark.dataSource.register`), read and written, in batches and streams.

Spark knows only the name that a source gives itself, and the options of its use.
"""

from __future__ import annotations

import re
from typing import Tuple

from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Probe, Source

_TABLE = "PythonTable"
_PACKAGE = "org.apache.spark.sql.execution.datasources.v2.python."

_PLACES = (
    "url",
    "uri",
    "endpoint",
    "host",
    "account",
    "project",
    "workspace",
    "bucket",
    "container",
    "database",
    "catalog",
    "namespace",
    "schema",
    "dataset",
    "table",
    "dbtable",
    "collection",
    "index",
    "topic",
    "sheet",
    "path",
    "file",
)
"""Options that say where data lie, from the whole to the part; no other is recorded."""

_LOGIN = re.compile(r"(?<=//)[^/@]*@|[?#].*")
"""Parts of a URL that are left out of a name: who logs in, and parameters."""


def _probe(node: str, table: str, options: str, *, target: bool = False) -> Probe:
    mode = "outputMode" if node.startswith("WriteTo") else "getClass.getSimpleName"
    written = {"schema": "query.schema.json", "mode": mode} if target else {}
    return Probe(
        node=node,
        of=table,
        relation=_TABLE,
        target=target,
        accessors={
            "v2_table": f"{table}.name",
            "provider": f"{table}.getClass.getName",
            "options": f"$options({options})",
            **written,
        },
    )


PROBES = (
    _probe("DataSourceV2Relation", "table", "options"),
    _probe("StreamingDataSourceV2Relation", "table", "options"),
    _probe("StreamingDataSourceV2ScanRelation", "relation.table", "relation.options"),
    _probe("WriteToMicroBatchDataSource", "table", "writeOptions", target=True),
    # Since Spark 4.3 the sink's table is a relation.
    _probe("WriteToMicroBatchDataSource", "table.table", "writeOptions", target=True),
    *(
        _probe(node, "table.table", "table.options", target=True)
        for node in ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic")
    ),
)


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Return what a Python source reads or writes: by its own name, and by the places among its options."""
    if facts.get("provider") != _PACKAGE + _TABLE:
        return ()
    namespace = str(facts.get("v2_table") or _TABLE)
    options = facts.get("options") or {}
    places = [_LOGIN.sub("", str(options[place])).rstrip("/") for place in _PLACES if options.get(place)]
    name = "/".join(place for place in places if place)
    identifier = DatasetId(namespace, name or namespace)
    return (Identity(id=identifier, known=bool(name)),)


SOURCE = Source(name="python", probes=PROBES, identify=identify, options=frozenset(_PLACES))
