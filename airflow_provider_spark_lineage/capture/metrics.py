"""Reads what Spark counted: rows, bytes and files of each physical scan and write of one execution."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Set, Tuple

from airflow_provider_spark_lineage.capture.sql_literals import without_sql_literals
from airflow_provider_spark_lineage.record import without_secrets

COUNTS = {
    "number of output rows": "rows",
    "size of files read": "size_bytes",
    "number of files read": "files",
    "written output": "size_bytes",
    "number of written files": "files",
    # Iceberg
    "number of added records": "rows",
    "total size of added files (bytes)": "size_bytes",
    "number of added data files": "files",
    "number of result data files": "files",
}
"""Spark's name of an SQL metric -> field of `lineage.model.Statistics`."""

_COUNTS_OF_SCANS = {"total data file size (bytes)": "size_bytes"}
"""What Iceberg calls the size of the files that a scan read, and the size of a table that was written."""

_OPERATORS = (
    "Scan ",
    "BatchScan",
    "Execute ",
    "AppendData",
    "Overwrite",
    "ReplaceData",
    "WriteDelta",
    "WriteFiles",
    "InMemoryTableScan",
)
_CACHED = "InMemoryTableScan"


class MetricsReader:
    """Reads the metrics of physical plans; one for each application.

    Remembers which counters of cached relations it has read, because these show the counters of their
    first run again in every later execution.
    """

    def __init__(self, jvm: Any) -> None:
        # Spark's own JSON library turns a whole plan description into text in one call.
        mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        mapper.registerModule(jvm.com.fasterxml.jackson.module.scala.DefaultScalaModule())
        self._to_json = mapper.writeValueAsString
        # To spell a class out makes py4j search for classes `org`, `org.apache` and so on, each time.
        self._describe = jvm.org.apache.spark.sql.execution.SparkPlanInfo.fromSparkPlan
        self._counter = jvm.org.apache.spark.util.AccumulatorContext.get
        self._seen: Set[int] = set()

    def read(self, executed_plan: Any) -> List[Dict[str, Any]]:
        """Return one entry for each scan and write: `node`, `location` and its counts.

        Adaptive plans are read as they were finally executed.
        """
        entries = []
        for node, in_cache in _operators(json.loads(self._to_json(self._describe(executed_plan)))):
            # A scan of a database is called by its query.
            name = node["nodeName"].strip()
            name = without_secrets(without_sql_literals(name) if "(" in name else name)
            entry: Dict[str, Any] = {"node": name}
            location = without_secrets((node.get("metadata") or {}).get("Location", ""))
            if location:
                entry["location"] = location
            for metric in node["metrics"]:
                count = COUNTS.get(metric["name"])
                if node["nodeName"].startswith("BatchScan"):
                    count = count or _COUNTS_OF_SCANS.get(metric["name"])
                if count is None or metric["accumulatorId"] in self._seen:
                    continue
                accumulator = self._counter(metric["accumulatorId"])
                if accumulator.isDefined():
                    entry[count] = int(accumulator.get().value())
                    if in_cache:
                        self._seen.add(metric["accumulatorId"])
            if entry.get("rows") and entry.get("files") == 0:
                # A plan that runs again counts its rows anew, and its files only the first time.
                entry = {key: value for key, value in entry.items() if key not in ("files", "size_bytes")}
            if len(entry) > 1 + bool(location):
                entries.append(entry)
        return entries


def _operators(root: Dict[str, Any]) -> Iterator[Tuple[Dict[str, Any], bool]]:
    """Yield the nodes of a plan description that scan or write, and whether their result is cached."""
    stack = [(root, False)]
    while stack:
        node, in_cache = stack.pop()
        if node["nodeName"].startswith(_OPERATORS):
            yield node, in_cache
        below = in_cache or node["nodeName"].startswith(_CACHED)
        stack.extend((child, below) for child in reversed(node["children"]))
