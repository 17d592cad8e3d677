"""Reader of the physical operators that give rows: scans, caches, reused exchanges, recursive CTEs.

Also reads the columns and the location of each scan: its facts come from these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import definitions
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.conditions import listed_items
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.text import Formatted, Operator
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.translation import (
    MORE,
    NO_COLUMN,
    OperatorReader,
    Translation,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.physical import (
    PhysicalScan,
    kinds_of,
    listed_paths,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import Drawn, UnreadablePlanError


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
        raise UnreadablePlanError("a database computes a part of the query")
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
        raise UnreadablePlanError("the rows that it repeats are not in the text")
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

_MORE_FOLDERS = re.compile(r"(.*), \.\.\. (\d+) entries", re.DOTALL)
_LOCATION = re.compile(r"(\w+) \[(.*)\]")


def scans_of_operators(
    formatted: Formatted, locations: Sequence[str]
) -> tuple[list[PhysicalScan], dict[int, types.Type]]:
    """Return all scans of a text, and the types of their columns."""
    scans: list[PhysicalScan] = []
    kinds: dict[int, types.Type] = {}
    for operator in formatted.numbered.values():
        if not operator.name.startswith("Scan ") or "Output" not in operator.details:
            continue
        try:
            items = definitions(operator.details["Output"].strip("[]"), ", ")
        except UnreadablePlanError:
            continue
        relation = operator.name.partition(" ")[2]
        match = _LOCATION.fullmatch(operator.details.get("Location", ""))
        paths = _folders(match[1], match[2], locations) if match else ()
        columns = tuple((expr_id, name) for expr_id, name, _, _ in items)
        columns = columns or ((NO_COLUMN + int(operator.number), "rows"),)
        scan = PhysicalScan(columns, relation, relation.partition(" ")[0], match[1] if match else "", paths)
        scans.append(scan)
        kinds.update(kinds_of(operator.details.get("ReadSchema", ""), scan))
    return scans, kinds


def _folders(index: str, text: str, locations: Sequence[str]) -> tuple[str, ...]:
    """Return the folders of a scan; of several folders its text has the first: `[file:/a, ... 2 entries]`."""
    match = _MORE_FOLDERS.fullmatch(text)
    if not match:
        return (text,)
    known = {
        paths
        for location in locations
        if location.startswith(f"{index}(")
        and (paths := listed_paths(location))[:1] == (match[1],)
        and len(paths) == int(match[2]) + 1
    }
    return known.pop() if len(known) == 1 else ()


def loops_of(formatted: Formatted) -> Iterator[list[tuple[int, str]]]:
    """Yield the columns of each loop, which is a recursive CTE."""
    for operator in formatted.numbered.values():
        if operator.name == "UnionLoop":
            with suppress(UnreadablePlanError):
                yield [item[:2] for item in definitions(operator.detail("Output").strip("[]"), ", ")]
