"""How a generator reads: what gives each of its columns, and what decides how many rows there are."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import Derive, Expression, Kind, Node
from airflow_provider_spark_lineage.plan.spark.step import Step
from airflow_provider_spark_lineage.plan.spark.tree import children, trees
from airflow_provider_spark_lineage.plan_json import simple_name

Tree = list[dict[str, Any]]


def generate(step: Step) -> Node:
    """A generator gives values and decides how many rows there are."""
    made = step.attributes("generatorOutput")
    tree = next(iter(trees(step.fields.get("generator"))), [])
    found = _parts(tree, len(made))
    values = [step.read(one) for one in found[0]] if found else _elements(step.read(tree), tree, len(made))
    # Only optimized plans leave columns out; Spark prints the list as text.
    unrequired = {int(index) for index in re.findall(r"\d+", str(step.fields.get("unrequiredChildIndex")))}
    kept = tuple(column for index, column in enumerate(step.output()) if index not in unrequired)
    return Derive(
        step.inputs,
        (*kept, *made),
        step.label,
        columns={column.id: (one,) for column, one in zip(made, values, strict=True)},
        influences=((Kind.FILTER, step.read(found[1] if found else tree)),),
    )


def _parts(tree: Tree, width: int) -> tuple[list[list[Tree]], list[Tree]] | None:
    """Take apart a generator that unpivots what the query lists.

    Return what gives each of its `width` columns, and what decides how many rows it gives. None for
    any other: all of it does both.
    """
    match [simple_name(node["class"]) for node in tree[:2]]:
        case ["Stack", *_]:
            # After the number of rows come their values, row by row.
            values = children(tree)[1:]
            return [values[index::width] for index in range(width)], []
        case ["JsonTuple", *_]:
            return [[tree]] * width, []
        case ["Explode" | "PosExplode", "CreateArray"]:
            position: list[list[Tree]] = [[]] * (width - 1)
            return [*position, children(children(tree)[0])], []
        case ["Explode" | "PosExplode", "CreateMap"]:
            position = [[]] * (width - 2)
            keys, values = (children(children(tree)[0])[start::2] for start in (0, 1))
            # A map has as many entries as there are keys that differ.
            return [*position, keys, values], keys
        case ["Inline", "CreateArray"]:
            rows = children(children(tree)[0])
            if all(simple_name(row[0]["class"]) == "CreateNamedStruct" for row in rows):
                # A name before each value.
                fields = [children(row)[1::2] for row in rows]
                return [[row[index] for row in fields] for index in range(width)], []
    return None


def _elements(whole: Expression, tree: Tree, width: int) -> list[Expression]:
    """Return what a generator makes of each element: its fields, or a position, a key and the element."""
    if tree and simple_name(tree[0]["class"]) == "Inline":
        if len(whole.parts) == width:
            return list(whole.parts)
        return [replace(whole, parts=())] * width
    return [*[replace(whole, parts=())] * (width - 1), whole][:width]
