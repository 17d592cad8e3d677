"""Data sources written in Python (`spark.dataSource.register`), read and written, in batches and streams.

Spark knows only the source's own name and the options of its use.
"""

from __future__ import annotations

import re
from typing import Tuple

from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity
from airflow_provider_spark_lineage.sources.probe import Probe
from airflow_provider_spark_lineage.sources.source import Source

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
"""Options that name the place of data, from the whole to the part; no other option is recorded."""

_LOGIN = re.compile(r"(?<=//)[^/@]*@|[?#].*")
"""Parts of a URL that are removed from a name: login and parameters."""


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


class Python(Source[Facts]):
    """Data sources written in Python."""

    probes = PROBES
    options = frozenset(_PLACES)

    def identify(self) -> Tuple[Identity, ...]:
        """Return the dataset of a Python source, named by the source and the places in its options."""
        if self.facts.get("provider") != _PACKAGE + _TABLE:
            return ()
        namespace = str(self.facts.get("v2_table") or _TABLE)
        options = self.facts.get("options") or {}
        places = [_LOGIN.sub("", str(options[place])).rstrip("/") for place in _PLACES if options.get(place)]
        name = "/".join(place for place in places if place)
        identifier = DatasetId(namespace, name or namespace)
        return (Identity(id=identifier, known=bool(name)),)
