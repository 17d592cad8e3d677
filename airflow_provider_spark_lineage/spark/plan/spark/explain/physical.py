"""Reader of the scans in a physical plan's text: the columns and the location of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import MARK, listed
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import Drawn, UnreadablePlanError, draw

_SCAN = re.compile(r"(?:File|Batch)?Scan (?=\S)")
_PATHS = re.compile(r"(\w+) ?\((\d+) paths\)\[(.*?)\](?=, \w+: | RuntimeFilters: |$)", re.DOTALL)
_LOCATION = re.compile(rf"\bLocation: {_PATHS.pattern}", re.DOTALL)
_NEXT_PATH = re.compile(r", ?(?=[A-Za-z][A-Za-z0-9+.-]*:/)")
"""The text between two paths; a single comma may be part of a folder's name."""

_CUT = re.compile(r"\bLocation: [^\[\]]*\[[^\]]*\.\.\.")
_SCHEMA = re.compile(r"\bReadSchema: (?=struct<)")
_FORMAT = re.compile(r"\bFormat: (\w+)")
_PLAN_ID = re.compile(r"\[(?:plan_)?id=#?(\d+)\]")
_PASSES = tuple("BroadcastExchange ColumnarToRow Exchange Filter InputAdapter Sort WholeStageCodegen".split())


@dataclass(frozen=True)
class PhysicalScan:
    """One physical scan."""

    columns: tuple[tuple[int, str], ...]
    relation: str
    """The rest of the scan's name after its kind: a format, a table, a relation."""

    format: str = ""
    index: str = ""
    """Class of the file index, which shows that a table is Delta's."""

    paths: tuple[str, ...] = ()
    """Empty if the text does not have all of them."""

    is_cut: bool = False
    """The text has only a part of its location."""


def scans_of(text: str) -> tuple[list[PhysicalScan], dict[int, types.Type], dict[int, int]]:
    """Return the scans, their types by column id, and reused columns with the columns that they repeat."""
    scans: list[PhysicalScan] = []
    kinds: dict[int, types.Type] = {}
    try:
        root = draw(text)
    except UnreadablePlanError:
        return [], {}, {}
    nodes = list(root.below())
    for node in nodes:
        name = re.sub(r"^\*\(\d+\) ", "", node.text)
        match = _SCAN.match(name)
        if match:
            scan = _scan(name, match.end())
            if scan is not None:
                scans.append(scan)
                schema = _SCHEMA.search(name)
                kinds.update(kinds_of(name[schema.end() :] if schema else "", scan))
    return scans, kinds, dict(_reused(nodes))


def _scan(text: str, position: int) -> PhysicalScan | None:
    for bracket in re.compile(r"\[").finditer(text, position):
        for separator in (",", ", "):
            try:
                items, end = listed(text, bracket.start(), separator)
            except UnreadablePlanError:
                continue
            if items or text.startswith("]", bracket.end()):
                rest = text[end:]
                file_format, location = _FORMAT.search(rest), _LOCATION.search(rest)
                paths = listed_paths(rest[location.start() + len("Location: ") :]) if location else ()
                return PhysicalScan(
                    tuple(item[:2] for item in items),
                    text[position : bracket.start()].strip(),
                    file_format[1] if file_format else "",
                    location[1] if location else "",
                    paths,
                    is_cut=_CUT.search(rest) is not None and not paths,
                )
    return None


def listed_paths(text: str) -> tuple[str, ...]:
    """Return the folders that a text begins with: `InMemoryFileIndex(2 paths)[file:/a, file:/b]`."""
    match = _PATHS.match(text)
    # A long text has no closing bracket, so the match goes on: `[file:/a/lo..., PartitionFilters: []`.
    if not match or re.search(r"\.\.\., \w+: ", match[3]):
        return ()
    paths, is_cut = split_paths(match[3], int(match[2]))
    return () if is_cut else paths


def split_paths(text: str, number: int | None = None) -> tuple[tuple[str, ...], bool]:
    """Return the paths of a list, and whether Spark cut it; no paths if their number is not `number`.

    >>> split_paths("file:/in/a, b, file:/in/c", 2)
    (('file:/in/a, b', 'file:/in/c'), False)
    """
    if number == 1:
        return (text,), False
    paths = tuple(_NEXT_PATH.split(text.removesuffix(", ...")))
    if number is not None and text.endswith(", ...") and len(paths) < number:
        return paths, True
    return (paths if number in (None, len(paths)) else ()), False


def kinds_of(schema: str, scan: PhysicalScan) -> Iterator[tuple[int, types.Type]]:
    """Yield the types of a scan's columns, without structs: a scan may read fewer fields than the column."""
    try:
        read, _ = types.read_type(schema)
    except UnreadablePlanError:
        return
    by_name = {field["name"]: field["type"] for field in read["fields"]}
    for expr_id, name in scan.columns:
        kind = by_name.get(name)
        if kind is not None and "struct" not in str(kind):
            yield expr_id, kind


def _reused(nodes: list[Drawn]) -> Iterator[tuple[int, int]]:
    """Yield each column of a reused exchange with the column of the exchange that it repeats."""
    exchanges: dict[str, Drawn] = {}
    for node in nodes:
        match = _PLAN_ID.search(node.text)
        if match and not node.text.startswith("ReusedExchange"):
            exchanges[match[1]] = node
    for node in nodes:
        if not node.text.startswith("ReusedExchange "):
            continue
        match = _PLAN_ID.search(node.text)
        exchange = exchanges.get(match[1]) if match else None
        try:
            columns, _ = listed(node.text, node.text.index("["))
            origins = _output(exchange) if exchange else []
        except (UnreadablePlanError, ValueError):
            continue
        if len(columns) == len(origins):
            yield from ((column[0], origin) for column, origin in zip(columns, origins, strict=True))


def _output(node: Drawn) -> list[int]:
    """Return the ids of a physical node's columns; empty if its text does not have them."""
    while True:
        text = re.sub(r"^\*\(\d+\) ", "", node.text)
        if text.startswith("Project ["):
            ends = re.finditer(MARK.pattern + r"(?=, |\]$)", text)
            return [int(mark[1]) for mark in ends]
        match = _SCAN.match(text)
        if match:
            scan = _scan(text, match.end())
            return [column[0] for column in scan.columns] if scan else []
        output = re.search(r"output=(?=\[)", text)
        if output:
            return [item[0] for item in listed(text, output.end())[0]]
        if not node.children or not text.startswith(_PASSES):
            return []
        node = node.children[0]
