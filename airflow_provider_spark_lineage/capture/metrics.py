"""Reads what Spark counted: rows, bytes and files of each physical scan and write of one execution."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Set

COUNTS = {
    "number of output rows": "rows",
    "size of files read": "size_bytes",
    "number of files read": "files",
    "written output": "size_bytes",
    "number of written files": "files",
}
"""Spark's name of an SQL metric -> field of `lineage.model.Statistics`."""

_OPERATORS = ("Scan ", "BatchScan", "Execute ", "AppendData", "Overwrite", "WriteFiles", "InMemoryTableScan")


class MetricsReader:
    """Reads the metrics of physical plans; one for each application.

    Remembers which counters it has read, because a cached relation shows the counters of its first
    run again in every later execution.
    """

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        # Spark's own JSON library turns a whole plan description into text in one call.
        self._mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        self._mapper.registerModule(jvm.com.fasterxml.jackson.module.scala.DefaultScalaModule())
        self._seen: Set[int] = set()

    def read(self, executed_plan: Any) -> List[Dict[str, Any]]:
        """Return one entry for each scan and write: `node`, `location` and its counts.

        Adaptive plans are read as they were finally executed.
        """
        info = self._jvm.org.apache.spark.sql.execution.SparkPlanInfo.fromSparkPlan(executed_plan)
        entries = []
        for node in _operators(json.loads(self._mapper.writeValueAsString(info))):
            entry: Dict[str, Any] = {"node": node["nodeName"].strip()}
            location = (node.get("metadata") or {}).get("Location", "")
            if location:
                entry["location"] = location
            for metric in node["metrics"]:
                count = COUNTS.get(metric["name"])
                if count is None or metric["accumulatorId"] in self._seen:
                    continue
                accumulator = self._jvm.org.apache.spark.util.AccumulatorContext.get(metric["accumulatorId"])
                if accumulator.isDefined():
                    entry[count] = int(accumulator.get().value())
                    self._seen.add(metric["accumulatorId"])
            if len(entry) > 1 + bool(location):
                entries.append(entry)
        return entries


def _operators(root: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """Yield the nodes of a plan description that scan or write, without recursion."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node["nodeName"].startswith(_OPERATORS):
            yield node
        stack.extend(reversed(node["children"]))
