"""Data sources written in Python (`spark.dataSource.register`), read and written, in batches and streams.

Spark knows only the source's own name and the options of its use.
"""

from __future__ import annotations

import re
from typing import Mapping, Tuple

from airflow_provider_spark_lineage.spark.sources.accessors import BY_CLASS, BY_OUTPUT_MODE, V2_WRITES
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Facts, Identity
from airflow_provider_spark_lineage.spark.sources.probe import read, write
from airflow_provider_spark_lineage.spark.sources.source import Source

_TABLE = "PythonTable"
_PACKAGE = "org.apache.spark.sql.execution.datasources.v2.python."

_PLACES = (
    *"""
    url uri endpoint host account project workspace bucket container database catalog namespace schema dataset
    table dbtable collection index topic sheet path file
    """.split(),
)
"""Options that name the place of data, from the whole to the part; no other option is recorded."""

_LOGIN = re.compile(r"(?<=//)[^/@]*@|[?#].*")
"""Parts of a URL that are removed from a name: login and parameters."""


def _table(table: str, options: str) -> Mapping[str, str]:
    return {
        "v2_table": f"{table}.name",
        "provider": f"{table}.getClass.getName",
        "options": f"$options({options})",
    }


PROBES = (
    *read(
        ("DataSourceV2Relation", "StreamingDataSourceV2Relation"),
        _table("table", "options"),
        of="table",
        relation=_TABLE,
    ),
    *read(
        "StreamingDataSourceV2ScanRelation",
        _table("relation.table", "relation.options"),
        of="relation.table",
        relation=_TABLE,
    ),
    *(
        probe
        # Since Spark 4.3 the sink's table is a relation.
        for table in ("table", "table.table")
        for probe in write(
            "WriteToMicroBatchDataSource",
            {**_table(table, "writeOptions"), **BY_OUTPUT_MODE},
            of=table,
            relation=_TABLE,
        )
    ),
    *write(
        V2_WRITES, {**_table("table.table", "table.options"), **BY_CLASS}, of="table.table", relation=_TABLE
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
        places = (_LOGIN.sub("", str(options.get(place) or "")).rstrip("/") for place in _PLACES)
        name = "/".join(filter(None, places))
        return (Identity(DatasetId(namespace, name or namespace), known=bool(name)),)
