"""Reads the `formatted` explain text, which Spark writes where nobody asked for the extended one.

It has the physical plan alone: which files are scanned, with their columns, and what is written. How a column
is computed is not followed: every written column is taken from all columns that are read, and a gap says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from airflow_provider_spark_lineage.plan.spark.explain.built import Built, Found, Place, Relation
from airflow_provider_spark_lineage.plan.spark.explain.columns import definitions
from airflow_provider_spark_lineage.plan.spark.explain.commands import COMMANDS
from airflow_provider_spark_lineage.plan.spark.explain.physical import Scan
from airflow_provider_spark_lineage.plan.spark.explain.sections import Drawn, UnreadableError

_NODE = re.compile(r"^\((\d+)\) (.+)\n((?:[A-Z][\w ]*(?: \[[^\]]*\])?: .*\n?)*)", re.MULTILINE)
_DETAIL = re.compile(r"^(\w+)(?: \[[^\]]*\])?: (.*)$", re.MULTILINE)
_LOCATION = re.compile(r"(\w+) \[([^\[\],]+)\]")
_NAMES = re.compile(r"\[([^\[\]]*)\]$")

_NO_COLUMNS = "the text has the physical plan alone: "


@dataclass(frozen=True)
class _Node:
    name: str
    details: dict[str, str]


def is_formatted(text: str) -> bool:
    """Return whether a text is what the mode `formatted` prints."""
    return text.startswith("== Physical Plan ==") and _NODE.search(text) is not None


def read_formatted(text: str, found: Found) -> tuple[Built, list[Scan]]:
    """Return a plan of what is written from all that is scanned, and the scans that name the relations."""
    nodes = [_Node(match[2].strip(), dict(_DETAIL.findall(match[3]))) for match in _NODE.finditer(text)]
    scans: list[Scan] = []
    leaves: list[Built] = []
    for node in nodes:
        if node.name.startswith(("Scan ", "BatchScan ")) and "Output" in node.details:
            leaf = _leaf(node, found)
            leaves.append(leaf)
            scans.extend(_scan(node, leaf, found))
    writes = [node for node in nodes if node.name.startswith("Execute ") and "Arguments" in node.details]
    if len(writes) != 1:
        return Built([_node("unread physical plan", leaves)], []), scans
    rows = Built([{**_node("physical plan", leaves), "unwritten": []}, *_trees(leaves)], [])
    arguments = writes[0].details["Arguments"]
    names = _NAMES.search(arguments)
    for number, name in enumerate(names[1].split(", ") if names else (), 1):
        found.columns.define(-number, name)
        rows.tree[0]["unwritten"].extend([found.columns.tree(-number)])
        rows.output.append(-number)
    command = writes[0].name.removeprefix("Execute ")
    drawn = Drawn(f"{command} {arguments}", 0)
    place = Place(drawn, command, arguments, [rows], [], found)
    if command not in COMMANDS:
        raise UnreadableError(f"{command} is not read from a formatted text")
    return COMMANDS[command](place), scans


def _node(name: str, inputs: list[Built]) -> dict[str, object]:
    return {"class": f"org.apache.spark.sql.catalyst.plans.logical.{name}", "num-children": len(inputs)}


def _trees(inputs: list[Built]) -> list[dict[str, object]]:
    return [part for built in inputs for part in built.tree]


def _leaf(node: _Node, found: Found) -> Built:
    """Return the relation of a scan; without columns where Spark left some out."""
    ids: list[int] = []
    try:
        items = definitions(node.details["Output"].strip("[]"), ", ")
    except UnreadableError:
        items = []
        found.problems[f"{node.name}: some of its columns were left out of the text"] = None
    for expr_id, name, kind, big in items:
        found.columns.define(expr_id, name, kind, big)
        ids.append(expr_id)
    relation = node.name.partition(" ")[2]
    file_format, _, table = relation.partition(" ")
    output = [(item[0], item[1]) for item in items]
    found.relations.append(Relation("LogicalRelation", output, file_format, table.strip()))
    tree = {**_node("LogicalRelation", []), "output": [found.columns.tree(expr_id) for expr_id in ids]}
    return Built([tree], ids)


def _scan(node: _Node, leaf: Built, found: Found) -> Iterator[Scan]:
    """Yield the scan with its place, where the text has all of it."""
    match = _LOCATION.fullmatch(node.details.get("Location", ""))
    if match and "..." not in match[2]:
        columns = tuple((expr_id, min(found.columns.names[expr_id])) for expr_id in leaf.output)
        relation = node.name.partition(" ")[2]
        yield Scan(columns, relation, relation.partition(" ")[0], match[1], (match[2],))
