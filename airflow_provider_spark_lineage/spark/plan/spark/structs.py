"""Fields of structs, read separately: an expression that uses one field depends only on that field.

Fields are found by position, because their names are literals, which are not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.spark.plan.algebra import (
    IDENTITY,
    Expression,
    Member,
    Transformation,
    union,
    united,
)
from airflow_provider_spark_lineage.spark.plan.spark.lambdas import FUNCTIONS
from airflow_provider_spark_lineage.spark.plan.spark.tree import children, element, end_of
from airflow_provider_spark_lineage.spark.plan.steps import TESTED
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, is_plan, is_tree, simple_name

Rule = Callable[[Tree, int], Sequence[frozenset[Transformation]]]
"""Returns the steps of each child, from the table of expressions."""

Read = Callable[[Tree], Expression]
"""Reads an expression with its parts."""

FIELD_ACCESS = frozenset({"GetStructField", "GetArrayStructFields"})
"""Classes that take one field out of a struct, or out of each struct of an array."""

UPDATE = "UpdateFields"
"""Class that sets or drops fields of a struct."""

_ATTRIBUTES = frozenset({"AttributeReference", "NamedLambdaVariable", "OuterReference"})

_STRUCT_CHILDREN: dict[str, Callable[[int], Sequence[int]]] = {
    **dict.fromkeys(
        """
        AggregateExpression Alias ArrayCompact ArrayFilter ArrayRepeat ArraySort Cast CollectList ElementAt
        Explode First Flatten Get GetArrayItem GetMapValue Inline KnownNotNull KnownNullable Lag
        LambdaFunction Last Lead MapFilter MapValues MaxBy MaxMinByK MinBy NthValue PosExplode Reverse Shuffle
        Slice TransformKeys WindowExpression
        """.split(),
        lambda count: (0,),
    ),
    **dict.fromkeys(
        ("ArrayAggregate", "ArrayTransform", "MapZipWith", "TransformValues", "ZipWith"),
        lambda count: (count - 1,),
    ),
    **dict.fromkeys(("ArrayAppend", "ArrayPrepend", "Coalesce", "Concat", "CreateArray", "MapConcat"), range),
    "ArrayInsert": lambda count: (0, 2),
    "CreateMap": lambda count: range(1, count, 2),
    "If": lambda count: (1, 2),
    "MapFromArrays": lambda count: (1,),
    "CaseWhen": lambda count: [index for index in range(count) if index % 2 or index + 1 == count],
}
"""Simple class name -> (number of children -> indices of the children that are, or contain, its struct)."""

_SUBQUERY = "ScalarSubquery"

_LISTS = ("projectList", "aggregateExpressions", "output")
"""Names of the fields with the list of a node's columns."""

_PASSING = frozenset({"Distinct", "Filter", "GlobalLimit", "LocalLimit", "Sort", "SubqueryAlias"})
"""Nodes with the columns of their only child."""

_ORDERING = frozenset({"ArrayMax", "ArrayMin", "Max", "Min", "SortArray"})
"""Classes that compare structs field by field: each field of the result depends on the fields before it."""

_DISTINCT = frozenset({"ArrayDistinct", "CollectSet"})
"""Classes that drop equal structs: the remaining values of a field depend on all other fields.

So do the fields of `ArraysZip`: each has an array's elements, in the number of the longest array.
"""

_MAX_DEPTH = 8
"""Maximum nesting of these classes; each level reads its expressions again."""


def members_of(tree: Tree, rule: Rule, read: Read) -> tuple[Expression, ...]:
    """Return the dependencies of each field of a struct, or of the structs in an array.

    Empty if the value is not a struct, or its fields cannot be told apart.
    """
    return _members_of_struct(tree, rule, read) if _is_struct(tree) else ()


def member_of(tree: Tree, position: int, read: Read) -> Expression | None:
    """Return the field that the access at `position` reads; None if the fields cannot be told apart."""
    path, attribute = _path_and_attribute(tree, position)
    if attribute:
        members, _ = _members(attribute.get("dataType"), path)
        return Expression(field_uses=((int(attribute["exprId"]["id"]), members, IDENTITY),))
    start = position + len(path)
    struct = tree[start : end_of(tree, start)]
    if not _is_struct(struct):
        # The evaluation may know the fields of a subquery whose column is not visible here.
        is_subquery = simple_name(struct[0]["class"]) == _SUBQUERY
        return _member_of_subquery(read(struct), [(index, "") for index in path]) if is_subquery else None
    field = read(struct)
    for index in path:
        if index >= len(field.members):
            return None
        field = field.members[index]
    return field


def _is_struct(tree: Tree, depth: int = 0) -> bool:
    name = simple_name(tree[0]["class"])
    if name in _ATTRIBUTES or name in FIELD_ACCESS:
        return bool(_fields(_type(tree)))
    if name in ("ArraysZip", "CreateNamedStruct", UPDATE):
        return True
    if name == _SUBQUERY:
        column = _column_of(tree[0].get("plan"))
        return bool(column) and depth < _MAX_DEPTH and _is_struct(column, depth + 1)
    indices = _struct_children(tree[0], name) if depth < _MAX_DEPTH else ()
    below = children(tree) if indices else []
    # In place of a struct, a literal can only be null.
    return bool(indices) and all(
        simple_name(below[i][0]["class"]) == "Literal" or _is_struct(below[i], depth + 1) for i in indices
    )


def _struct_children(root: dict[str, Any], name: str) -> Sequence[int]:
    count = int(root["num-children"])
    if name in _ORDERING or name in _DISTINCT:
        return (0,)
    if name in _STRUCT_CHILDREN:
        return [index for index in _STRUCT_CHILDREN[name](count) if index < count]
    # When Spark runs, it replaces this class by other expressions, which are its only child.
    return (0,) if isinstance(root.get("replacement"), int) and count == 1 else ()


def _members_of_struct(tree: Tree, rule: Rule, read: Read) -> tuple[Expression, ...]:
    root = tree[0]
    name = simple_name(root["class"])
    if name == "CreateNamedStruct":
        # Children are pairs: a field's name, then its value.
        return tuple(read(value) for value in children(tree)[1::2])
    if name in FUNCTIONS:
        return read(tree).members
    if name == UPDATE:
        # `struct_updates` reads it, unless the names of its fields are unknown.
        return ()
    if name == _SUBQUERY:
        return _of_subquery(read(tree), _members_of_struct(_column_of(root["plan"]), rule, read))
    path, attribute = _path_and_attribute(tree, 0)
    if attribute:
        members, kind = _members(attribute.get("dataType"), path)
        return _of_type(int(attribute["exprId"]["id"]), members, kind)
    if path:
        field = member_of(tree, 0, read)
        return field.members if field else ()
    values = [read(child).after(steps) for child, steps in zip(children(tree), rule(tree, 0), strict=True)]
    if name == "ArraysZip":
        return _compared(tuple(values), name)
    indices = _struct_children(root, name)
    others = union(value for index, value in enumerate(values) if index not in indices)
    structs = [values[index].members for index in indices if values[index] != Expression()]
    return _compared(tuple(member.influenced(others) for member in united(structs, union)), name)


def _column_of(plan: Any) -> Tree:
    """Return the expression of a subquery's first column; empty if its plan does not show it."""
    for node in plan if is_plan(plan) else ():
        columns: list[Any] = next((node[key] for key in _LISTS if isinstance(node.get(key), list)), [])
        if columns or simple_name(node["class"]) not in _PASSING:
            return columns[0] if columns and is_tree(columns[0]) else []
    return []


def _of_subquery(
    subquery: Expression, column: tuple[Expression, ...], path: tuple[Member, ...] = ()
) -> tuple[Expression, ...]:
    """Return the fields of a subquery's value, also nested; `column` has the fields inside its plan."""
    paths = [(*path, (index, _name_of(member))) for index, member in enumerate(column)]
    return tuple(
        replace(_member_of_subquery(subquery, inside), members=_of_subquery(subquery, member.members, inside))
        for inside, member in zip(paths, column, strict=True)
    )


def _member_of_subquery(subquery: Expression, path: Iterable[Member]) -> Expression:
    path = tuple(path)
    return Expression(subqueries=tuple(each.member(path) for each in subquery.subqueries))


def _name_of(field: Expression) -> str:
    """Return the name of a field of a struct that is read unchanged."""
    return field.field_uses[0][1][-1][1] if len(field.field_uses) == 1 else ""


def _compared(members: tuple[Expression, ...], name: str) -> tuple[Expression, ...]:
    """Add to each field the fields that the class compares before it returns the field."""
    tested = [member.after(TESTED) for member in members]
    if name in _ORDERING:
        return tuple(member.influenced(union(tested[:index])) for index, member in enumerate(members))
    if name in _DISTINCT or name == "ArraysZip":
        others = (union((*tested[:index], *tested[index + 1 :])) for index in range(len(members)))
        return tuple(member.influenced(other) for member, other in zip(members, others, strict=True))
    return members


def _path_and_attribute(tree: Tree, position: int) -> tuple[tuple[int, ...], dict[str, Any] | None]:
    """Return the path of nested field accesses, and the attribute that it starts from, if any."""
    path: list[int] = []
    while simple_name(tree[position]["class"]) in FIELD_ACCESS:
        path.append(int(tree[position]["ordinal"]))
        position += 1
    node = tree[position]
    if simple_name(node["class"]) == "OuterReference" and is_tree(node.get("e")):
        node = node["e"][0]
    is_attribute = simple_name(node["class"]) in ("AttributeReference", "NamedLambdaVariable")
    return tuple(reversed(path)), node if is_attribute else None


def is_computed(access: Tree) -> bool:
    """Return whether an access reads a field of a struct that the query computes."""
    path, attribute = _path_and_attribute(access, 0)
    return attribute is None and _is_struct(access[len(path) :])


def field_names(tree: Tree) -> tuple[str, ...]:
    """Return the names of a struct's fields, from the type of its attribute; empty if that is unknown."""
    kind = _type(tree)
    # A type from a plan's text may have only some of its fields.
    fields = [] if isinstance(kind, dict) and "partial" in kind else _fields(kind)
    return tuple(str(field["name"]) for field in fields)


def is_part(tree: Tree, struct: Tree) -> bool:
    """Return whether a value is a field of a struct column, or of a field of it."""
    path, attribute = _path_and_attribute(tree, 0)
    outer, column = _path_and_attribute(struct, 0)
    is_same = attribute is not None and column is not None and attribute["exprId"] == column["exprId"]
    return is_same and len(path) > len(outer) and path[: len(outer)] == outer


def presence_of(tree: Tree, read: Read) -> Expression | None:
    """Return what decides whether a struct is null; None if the value is not a struct with known fields."""
    value = read(tree) if _is_struct(tree) else Expression()
    return value.presence() if value.members else None


def _type(tree: Tree) -> Any:
    """Return the data type of an attribute, or of a field inside one."""
    path, attribute = _path_and_attribute(tree, 0)
    return _members(attribute.get("dataType") if attribute else None, path)[1]


def _members(kind: Any, path: Sequence[int]) -> tuple[tuple[Member, ...], Any]:
    """Return the fields at the positions of a path through a type, and the type that it leads to."""
    members: list[Member] = []
    kind = element(kind)
    for index in path:
        fields = _fields(kind)
        exists = index < len(fields)
        members.append((index, str(fields[index]["name"]) if exists else ""))
        kind = element(fields[index]["type"]) if exists else None
    return tuple(members), kind


def _fields(kind: Any) -> list[dict[str, Any]]:
    return kind["fields"] if isinstance(kind, dict) and kind.get("type") == "struct" else []


def _of_type(attribute: int, path: tuple[Member, ...], kind: Any) -> tuple[Expression, ...]:
    """Return the fields of a struct attribute, also nested."""
    return tuple(
        Expression(
            field_uses=((attribute, (*path, member), IDENTITY),),
            members=_of_type(attribute, (*path, member), element(field["type"])),
        )
        for index, field in enumerate(_fields(kind))
        for member in [(index, str(field["name"]))]
    )
