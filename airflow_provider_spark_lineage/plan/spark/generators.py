"""Reader of generators: the expressions that give each column, and those that decide the number of rows."""

from __future__ import annotations

import re
from dataclasses import replace

from airflow_provider_spark_lineage.plan.algebra import Derive, Expression, Kind, Node
from airflow_provider_spark_lineage.plan.spark.step import Step
from airflow_provider_spark_lineage.plan.spark.tree import children, trees
from airflow_provider_spark_lineage.records.plan_json import Tree, simple_name


def generate(step: Step) -> Node:
    """A generator gives values and decides the number of rows."""
    generated = step.attributes("generatorOutput")
    tree = next(iter(trees(step.fields.get("generator"))), [])
    parts = _parts(tree, len(generated))
    values = (
        [step.read(part) for part in parts[0]] if parts else _elements(step.read(tree), tree, len(generated))
    )
    # Only optimized plans leave columns out; Spark prints the list as text.
    unrequired = {int(index) for index in re.findall(r"\d+", str(step.fields.get("unrequiredChildIndex")))}
    passed = tuple(column for index, column in enumerate(step.output()) if index not in unrequired)
    return Derive(
        step.inputs,
        (*passed, *generated),
        step.label,
        columns={
            column.id: (values_of_column,) for column, values_of_column in zip(generated, values, strict=True)
        },
        influences=((Kind.FILTER, step.read(parts[1] if parts else tree)),),
    )


def _parts(tree: Tree, width: int) -> tuple[list[list[Tree]], list[Tree]] | None:
    """Split a generator over values that the query lists.

    Return the trees that give each of its `width` columns, and the trees that decide the number of rows.
    Return None for any other generator: its whole tree does both.
    """
    match [simple_name(node["class"]) for node in tree[:2]]:
        case ["Stack", *_]:
            # The number of rows is followed by their values, row by row.
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
            # A map has one entry for each distinct key.
            return [*position, keys, values], keys
        case ["Inline", "CreateArray"]:
            rows = children(children(tree)[0])
            if all(simple_name(row[0]["class"]) == "CreateNamedStruct" for row in rows):
                # Children are pairs: a field's name, then its value.
                fields = [children(row)[1::2] for row in rows]
                return [[row[index] for row in fields] for index in range(width)], []
    return None


def _elements(whole: Expression, tree: Tree, width: int) -> list[Expression]:
    """Return the columns of a generator for each element: its fields, or position, key and element."""
    if tree and simple_name(tree[0]["class"]) == "Inline":
        if len(whole.parts) == width:
            return list(whole.parts)
        return [replace(whole, parts=())] * width
    return [*[replace(whole, parts=())] * (width - 1), whole][:width]
