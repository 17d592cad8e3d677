"""Reader of the physical operators that give rows: scans, caches, reused exchanges, recursive CTEs."""

from __future__ import annotations

import re

from airflow_provider_spark_lineage.plan.spark.explain.formatted.conditions import listed_items
from airflow_provider_spark_lineage.plan.spark.explain.formatted.text import Operator
from airflow_provider_spark_lineage.plan.spark.explain.formatted.translation import (
    MORE,
    NO_COLUMN,
    OperatorReader,
    Translation,
)
from airflow_provider_spark_lineage.plan.spark.explain.sections import Drawn, UnreadableError


def _file_scan(operator: Operator, plan: Translation) -> Drawn:
    rows = plan.node(f"FileRows {_columns(operator)} {operator.name.partition(' ')[2]}")
    partitions = listed_items(operator.details.get("PartitionFilters", "[]"))
    conditions = [item for item in partitions if not item.startswith("dynamicpruning")]
    return plan.filtered(conditions, rows)


_ABOUT_FILE = re.compile(
    r"(?:file_path|file_name|file_size|file_block_start|file_block_length|file_modification_time"
    r"|_tmp_metadata_row_index|row_index)#\d+L?"
)


def _columns(operator: Operator) -> str:
    """Return the columns of a scan, and the hidden ones that are in no dataset, such as the file name."""
    columns = listed_items(operator.detail("Output").partition("\n")[0])
    if not columns:
        return f"[rows#{NO_COLUMN + int(operator.number)}], [rows#{NO_COLUMN + int(operator.number)}]"
    schema = operator.details.get("ReadSchema", "struct<")
    hidden = [
        column
        for column in columns
        if _ABOUT_FILE.fullmatch(column) and not re.search(rf"[<,]{column.partition('#')[0]}:", schema)
    ]
    return f"[{', '.join(columns)}], [{', '.join(hidden)}]"


_FROM_DATABASE = "Scan JDBC v1 Relation from v2 scan "
_PLAIN_QUERY = re.compile(r"SELECT [^()]* FROM \S+ *")


def _source_scan(operator: Operator, plan: Translation) -> Drawn:
    """A table of a catalog. Computations inside the source are not traced."""
    query = operator.details.get("External engine query", "").strip()
    if query and not _PLAIN_QUERY.fullmatch(query):
        raise UnreadableError("a database computes a part of the query")
    relation = operator.name.removeprefix(_FROM_DATABASE).removeprefix("BatchScan ")
    return plan.node(f"SourceRows {_columns(operator)} {relation}")


def _rows(node: str, behind: str = "") -> OperatorReader:
    """Return a reader of rows with the columns of the output, as the text of a logical node."""
    return lambda operator, plan: plan.node(f"{node} {operator.detail('Output')}{behind}")


_constant = _rows("ConstantRows")


def _cached(operator: Operator, plan: Translation) -> Drawn:
    """`InMemoryRelation [id#1L], StorageLevel(...)`: other queries may use its rows with other ids."""
    columns = operator.detail("Arguments").partition("], ")[0].removeprefix("[").removesuffix("]")
    listed, *rest = MORE.split(columns)
    name = "RenamedAtLeast" if rest else "Renamed"
    return plan.node(f"{name} [{listed}]", plan.of((operator.inner or operator.children)[0]))


def _cached_scan(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(
        f"Project {operator.detail('Output')}", plan.of((operator.inner or operator.children)[0])
    )


def _reused(operator: Operator, plan: Translation) -> Drawn:
    repeated = plan.formatted.numbered.get(operator.reuses)
    if repeated is None:
        raise UnreadableError("the rows that it repeats are not in the text")
    return plan.node(f"Renamed {operator.detail('Output')}", plan.translated(repeated))


def _loop(operator: Operator, plan: Translation) -> Drawn:
    """A recursive CTE, whose plans are logical plans."""
    plans = [plan.of(below) for below in (*operator.children, *operator.inner)]
    return plan.node(f"UnionLoop {operator.detail('Loop id')}", *plans)


def _loop_reference(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(f"UnionLoopRef {operator.detail('Loop id')}, {operator.detail('Output')}, false")


READS: dict[str, OperatorReader] = {
    "CommandResult": _constant,
    "InMemoryRelation": _cached,
    "InMemoryTableScan": _cached_scan,
    "LocalTableScan": _rows("LocalRelation"),
    "Range": _constant,
    "ReusedExchange": _reused,
    "UnionLoop": _loop,
    "UnionLoopRef": _loop_reference,
}
"""Name that Spark prints -> row."""

SCANS: dict[str, OperatorReader] = {
    "Scan ExistingRDD": _rows("LogicalRDD", ", false"),
    "Scan In-memory table": _cached_scan,
    "Scan OneRowRelation": _constant,
    _FROM_DATABASE: _source_scan,
    "Scan ": _file_scan,
    "BatchScan ": _source_scan,
}
"""Beginning of the name that Spark prints -> row; the first match is used."""
