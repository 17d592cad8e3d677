"""Spark's names of physical scans and writes, and of their metrics that become counts of a dataset.

Capture looks for them in a live plan, `event_log` in a logged plan. Also runs on the cluster's driver:
standard library only, Python 3.9 syntax.
"""

from __future__ import annotations

OPERATORS = (
    "Scan ",
    "BatchScan",
    "Execute ",
    "AppendData",
    "Overwrite",
    "ReplaceData",
    "WriteDelta",
    "WriteFiles",
)
"""Beginnings of the names of physical scans and writes."""

NESTED_LOOP = "BroadcastNestedLoopJoin"
JOINS = (NESTED_LOOP, "CartesianProduct")
"""Names of physical joins that compare every row of one side with every row of the other."""

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

COUNTS_OF_SCANS = {"total data file size (bytes)": "size_bytes"}
"""Names used for scans only: in Iceberg's writes, the same name counts the whole table."""
