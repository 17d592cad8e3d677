"""Structs with fields that are set or dropped by name (`withField`, `dropFields`, a union by name).

A field that was dropped or replaced is not a source of the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from airflow_provider_spark_lineage.spark.plan.algebra import Expression, union
from airflow_provider_spark_lineage.spark.plan.spark.structs import UPDATE, Read, field_names, is_part
from airflow_provider_spark_lineage.spark.plan.spark.tree import end_of
from airflow_provider_spark_lineage.spark.plan.steps import TESTED, VALUE
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, simple_name

FIELDS = "fields"
"""Key of the names of the struct's fields, where its own type is not in the plan."""


def read_update(tree: Tree, read: Read) -> Expression | None:
    """Read an `UpdateFields`; None if the names of the struct's fields are unknown.

    A chain of updates is read at once: each is the first child of the next.
    """
    depth = 0
    while simple_name(tree[depth]["class"]) == UPDATE:
        depth += 1
    struct = tree[depth : end_of(tree, depth)]
    names = field_names(struct) or tuple(map(str, tree[depth - 1].get(FIELDS) or ()))
    base = read(struct)
    members = base.members or (replace(base.after(VALUE), members=()),) * len(names)
    if not names or len(members) != len(names):
        return None
    # An update of a null struct is null.
    presence = base.presence().after(TESTED) if _may_be_null(struct) else Expression()
    fields = [*zip(names, members, strict=True)]
    for name, value in _operations(tree, depth):
        same = [spelled for spelled, _ in fields if spelled == name]
        # Without `spark.sql.caseSensitive`, Spark ignores the case.
        same = same or [spelled for spelled, _ in fields if spelled.lower() == name.lower()]
        if value is None:
            fields = [field for field in fields if field[0] not in same]
            continue
        # A field that is updated inside is a part of the struct, and null with it.
        new = read(value) if _is_inside(value, struct) else read(value).influenced(presence)
        fields = [(spelled, new if spelled in same else member) for spelled, member in fields]
        if not same:
            fields.append((name, new))
    updated = tuple(member for _, member in fields)
    return replace(union(updated).after(VALUE), members=updated)


def _operations(tree: Tree, depth: int) -> Iterator[tuple[str, Tree | None]]:
    """Yield the operations of a chain in their order: a field's name, and its value unless it is dropped."""
    position = end_of(tree, depth)
    for level in range(depth - 1, -1, -1):
        for _ in range(int(tree[level]["num-children"]) - 1):
            end = end_of(tree, position)
            has_value = int(tree[position]["num-children"]) > 0
            yield str(tree[position].get("name")), tree[position + 1 : end] if has_value else None
            position = end


def _may_be_null(struct: Tree) -> bool:
    is_built = simple_name(struct[0]["class"]) == "CreateNamedStruct"
    return not is_built and bool(struct[0].get("nullable", True))


def _is_inside(value: Tree, struct: Tree) -> bool:
    """Return whether a value is an update of a field of the struct."""
    depth = 0
    while simple_name(value[depth]["class"]) == UPDATE:
        depth += 1
    return bool(depth) and is_part(value[depth:], struct)
