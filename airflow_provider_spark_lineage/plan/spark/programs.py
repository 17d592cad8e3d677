"""Readers of nodes that run a program's own code: over whole rows, or a Python function for some columns."""

from __future__ import annotations

from airflow_provider_spark_lineage.plan.algebra import Derive, Kind, Node, Opaque, same
from airflow_provider_spark_lineage.plan.spark.step import Columns, NodeReader, Step, everything
from airflow_provider_spark_lineage.plan.spark.tree import trees


def opaque(*fields: str) -> NodeReader:
    """Return a reader of code over whole rows; the first of `fields` that exists has its columns."""

    def row(step: Step) -> Node:
        output = next((columns for field in fields if (columns := step.attributes(field))), step.all_outputs)
        keys = step.influences(Kind.GROUP_BY, "groupingAttributes")
        # The keys of cogrouped code are the first columns of each side.
        for side, field in enumerate(("leftGroupingLen", "rightGroupingLen")):
            count = int(step.fields.get(field) or 0)
            keys += tuple((Kind.GROUP_BY, same(column)) for column in step.output(side)[:count])
        return Opaque(step.inputs, output, step.label, "taken from every input column", keys)

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
    reason = "further columns are taken from every input column"
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
