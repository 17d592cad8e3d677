"""Readers of nodes that run code over rows: generators, and functions of a program."""

from __future__ import annotations

import re
from dataclasses import replace

from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.plan.algebra import Derive, Expression, Kind, Node, Opaque, same
from airflow_provider_spark_lineage.spark.plan.spark.step import Columns, NodeReader, Step, everything
from airflow_provider_spark_lineage.spark.plan.spark.tree import children, trees
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, simple_name


def opaque(*fields: str) -> NodeReader:
    """Return a reader of code over whole rows; the first of `fields` that exists has its columns."""

    def row(step: Step) -> Node:
        output = next((columns for field in fields if (columns := step.attributes(field))), step.all_outputs)
        keys = step.influences(Kind.GROUP_BY, "groupingAttributes")
        # The keys of cogrouped code are the first columns of each side.
        for side, field in enumerate(("leftGroupingLen", "rightGroupingLen")):
            count = int(step.fields.get(field) or 0)
            keys += tuple((Kind.GROUP_BY, same(column)) for column in step.output(side)[:count])
        return Opaque(step.inputs, output, step.label, of_plans.EVERY_INPUT(), keys)

    row.__doc__ = "Code over whole rows: every column is taken from every input column, and a gap says so."
    return row


def deserialize(step: Step) -> Node:
    """One object for each row."""
    objects = step.attributes("outputObjAttr")
    return Derive(
        step.inputs, objects, step.label, {column.id: (everything(step.output()),) for column in objects}
    )


def typed_filter(step: Step) -> Node:
    """Columns pass through; FILTER by every column, which a function over whole rows reads."""
    influences = ((Kind.FILTER, everything(step.output())),)
    return Derive(step.inputs, step.output(), step.label, influences=influences)


def append_columns(step: Step) -> Node:
    """Columns pass through; code over whole rows adds further ones, and a gap says so."""
    added = step.attributes("serializer")
    columns: Columns = {column.id: (everything(step.output()),) for column in added}
    reason = of_plans.FURTHER_COLUMNS()
    return Derive(step.inputs, (*step.output(), *added), step.label, columns, reason=reason)


def python_udfs(step: Step) -> Node:
    """Columns pass through; each further one is the result of a Python function."""
    added = step.attributes("resultAttrs")
    columns: Columns = {
        column.id: (step.read(tree),)
        for column, tree in zip(added, trees(step.fields.get("udfs")), strict=False)
    }
    return Derive(step.inputs, (*step.output(), *added), step.label, columns)


def python_udtf(step: Step) -> Node:
    """Some columns pass through; a Python table function gives the others and the number of rows."""
    generated = step.attributes("resultAttrs")
    used = step.expression("udtf")
    columns: Columns = {column.id: (used,) for column in generated}
    output = (*step.attributes("requiredChildOutput"), *generated)
    return Derive(step.inputs, output, step.label, columns, ((Kind.FILTER, used),))


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
        if len(whole.members) == width:
            return list(whole.members)
        return [replace(whole, members=())] * width
    return [*[replace(whole, members=())] * (width - 1), whole][:width]
