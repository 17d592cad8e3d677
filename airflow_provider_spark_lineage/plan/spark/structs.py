"""The fields of structs, one by one, so that what is taken out of a struct depends on that field alone.

Works by positions: names of fields are literals, and those are not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import (
    IDENTITY,
    Expression,
    Kind,
    Member,
    Transformation,
    union,
    united,
)
from airflow_provider_spark_lineage.plan.spark.lambdas import FUNCTIONS
from airflow_provider_spark_lineage.plan.spark.tree import children, end_of
from airflow_provider_spark_lineage.plan_json import is_tree, simple_name

Tree = list[dict[str, Any]]

Rule = Callable[[Tree, int], Sequence[frozenset[Transformation]]]
"""Gives the steps of each child, as the table of expressions says."""

Read = Callable[[Tree], Expression]
"""Reads an expression with its parts."""

TAKING = frozenset({"GetStructField", "GetArrayStructFields"})
"""Classes that take one field out of a struct, or out of each struct of an array."""

_ATTRIBUTES = frozenset({"AttributeReference", "NamedLambdaVariable", "OuterReference"})

_HOLDING: dict[str, Callable[[int], Sequence[int]]] = {
    **dict.fromkeys(
        (
            "AggregateExpression",
            "Alias",
            "ArrayFilter",
            "ArraySort",
            "Cast",
            "CollectList",
            "ElementAt",
            "Explode",
            "First",
            "GetArrayItem",
            "GetMapValue",
            "Inline",
            "KnownNotNull",
            "KnownNullable",
            "Lag",
            "LambdaFunction",
            "Last",
            "Lead",
            "MapFilter",
            "MaxBy",
            "MaxMinByK",
            "MinBy",
            "NthValue",
            "PosExplode",
            "Reverse",
            "Shuffle",
            "Slice",
            "TransformKeys",
            "WindowExpression",
        ),
        lambda count: (0,),
    ),
    **dict.fromkeys(
        ("ArrayAggregate", "ArrayTransform", "MapZipWith", "TransformValues", "ZipWith"),
        lambda count: (count - 1,),
    ),
    "Coalesce": range,
    "Concat": range,
    "CreateArray": range,
    "CreateMap": lambda count: range(1, count, 2),
    "If": lambda count: (1, 2),
    "CaseWhen": lambda count: [index for index in range(count) if index % 2 or index + 1 == count],
}
"""Simple class name -> which of so many children are the struct that it gives, or hold it."""

_ORDERING = frozenset({"ArrayMax", "ArrayMin", "Max", "Min", "SortArray"})
"""Classes that compare structs, first field first: what they give of a field depends on those before it."""

_DISTINCT = frozenset({"ArrayDistinct", "CollectSet"})
"""Classes that compare structs to drop doubles: how many there are of a field depends on all others."""

_DEEPEST = 8
"""How many of these may stand below each other: as often is an expression read."""


def parts_of(tree: Tree, rule: Rule, read: Read) -> tuple[Expression, ...]:
    """Return what each field of a struct, or of the structs in an array, depends on.

    Nothing for what is no struct, or one whose fields cannot be told apart.
    """
    return _parts(tree, rule, read) if _is_struct(tree) else ()


def part_of(tree: Tree, position: int, read: Read) -> Expression | None:
    """Return the field that the class of `TAKING` there takes; None where it is not told from the others."""
    path, attribute = _taken(tree, position)
    if attribute:
        members, _ = _members(attribute.get("dataType"), path)
        return Expression(taken=((int(attribute["exprId"]["id"]), members, IDENTITY),))
    start = position + len(path)
    struct = tree[start : end_of(tree, start)]
    if not _is_struct(struct):
        return None
    found = read(struct)
    for index in path:
        if index >= len(found.parts):
            return None
        found = found.parts[index]
    return found


def _is_struct(tree: Tree, depth: int = 0) -> bool:
    name = simple_name(tree[0]["class"])
    if name in _ATTRIBUTES or name in TAKING:
        return bool(_fields(_type(tree)))
    if name in ("CreateNamedStruct", "UpdateFields"):
        return True
    held = _held(tree[0], name) if depth < _DEEPEST else ()
    below = children(tree) if held else []
    return bool(held) and all(_is_null(below[i]) or _is_struct(below[i], depth + 1) for i in held)


def _is_null(tree: Tree) -> bool:
    """Return whether a tree is a literal: among structs it is a null."""
    return simple_name(tree[0]["class"]) == "Literal"


def _held(root: dict[str, Any], name: str) -> Sequence[int]:
    count = int(root["num-children"])
    if name in _ORDERING or name in _DISTINCT:
        return (0,)
    if name in _HOLDING:
        return [index for index in _HOLDING[name](count) if index < count]
    # One that Spark wrote in terms of others is what these are.
    return (0,) if isinstance(root.get("replacement"), int) and count == 1 else ()


def _parts(tree: Tree, rule: Rule, read: Read) -> tuple[Expression, ...]:
    root = tree[0]
    name = simple_name(root["class"])
    if name == "CreateNamedStruct":
        # A name before each value.
        return tuple(read(value) for value in children(tree)[1::2])
    if name == "UpdateFields":
        return _updated(tree, read)
    if name in FUNCTIONS:
        return read(tree).parts
    path, attribute = _taken(tree, 0)
    if attribute:
        members, kind = _members(attribute.get("dataType"), path)
        return _of_type(int(attribute["exprId"]["id"]), members, kind)
    if path:
        taken = part_of(tree, 0, read)
        return taken.parts if taken else ()
    held = _held(root, name)
    found = [read(child).after(steps) for child, steps in zip(children(tree), rule(tree, 0), strict=True)]
    others = union(one for index, one in enumerate(found) if index not in held)
    structs = [found[index].parts for index in held if found[index] != Expression()]
    parts = tuple(part.influenced(others) for part in united(structs, union))
    return _compared(parts, name)


def _compared(parts: tuple[Expression, ...], name: str) -> tuple[Expression, ...]:
    """Add what a class that compares structs looks at to decide what it gives of each field."""
    tested = [part.after((Transformation(Kind.CONDITIONAL),)) for part in parts]
    if name in _ORDERING:
        return tuple(part.influenced(union(tested[:index])) for index, part in enumerate(parts))
    if name in _DISTINCT:
        others = (union((*tested[:index], *tested[index + 1 :])) for index in range(len(parts)))
        return tuple(part.influenced(other) for part, other in zip(parts, others, strict=True))
    return parts


def _updated(tree: Tree, read: Read) -> tuple[Expression, ...]:
    """Put fields into a struct, over those of the same name, or drop them."""
    struct, *operations = children(tree)
    whole = read(struct)
    fields = [str(one["name"]).lower() for one in _fields(_type(struct))]
    kept = list(zip(fields, whole.parts, strict=False))
    # Of a struct that is null, so are the fields that are put into it.
    tested = whole.after((Transformation(Kind.CONDITIONAL),))
    nullness = tested if struct[0].get("nullable", True) else Expression()
    for operation in operations if kept else ():
        name = str(operation[0].get("name")).lower()
        if simple_name(operation[0]["class"]) == "DropField":
            kept = [one for one in kept if one[0] != name]
            continue
        value = read(children(operation)[0]).influenced(nullness)
        kept = [(field, value if field == name else part) for field, part in kept]
        if name not in dict(kept):
            kept.append((name, value))
    return tuple(part for _, part in kept)


def _taken(tree: Tree, position: int) -> tuple[tuple[int, ...], dict[str, Any] | None]:
    """Return the positions that are taken one out of the other, and the attribute that this begins with."""
    path: list[int] = []
    while simple_name(tree[position]["class"]) in TAKING:
        path.append(int(tree[position]["ordinal"]))
        position += 1
    node = tree[position]
    if simple_name(node["class"]) == "OuterReference" and is_tree(node.get("e")):
        node = node["e"][0]
    found = simple_name(node["class"]) in ("AttributeReference", "NamedLambdaVariable")
    return tuple(reversed(path)), node if found else None


def _type(tree: Tree) -> Any:
    """Return the data type of an attribute, or of a field that is taken out of one."""
    path, attribute = _taken(tree, 0)
    return _members(attribute.get("dataType") if attribute else None, path)[1]


def _members(kind: Any, path: Sequence[int]) -> tuple[tuple[Member, ...], Any]:
    """Return the fields at the positions of a path through a type, and the type that it leads to."""
    members: list[Member] = []
    kind = _element(kind)
    for index in path:
        fields = _fields(kind)
        known = index < len(fields)
        members.append((index, str(fields[index]["name"]) if known else ""))
        kind = _element(fields[index]["type"]) if known else None
    return tuple(members), kind


def _element(kind: Any) -> Any:
    """Return the type of an array's elements or of a map's values, any other type as it is."""
    while isinstance(kind, dict) and kind.get("type") in ("array", "map"):
        kind = kind.get("elementType") or kind.get("valueType")
    return kind


def _fields(kind: Any) -> list[dict[str, Any]]:
    return kind["fields"] if isinstance(kind, dict) and kind.get("type") == "struct" else []


def _of_type(attribute: int, path: tuple[Member, ...], kind: Any) -> tuple[Expression, ...]:
    """Return the fields of a struct attribute, with theirs."""
    return tuple(
        Expression(
            taken=((attribute, (*path, member), IDENTITY),),
            parts=_of_type(attribute, (*path, member), _element(field["type"])),
        )
        for member, field in (((index, str(one["name"])), one) for index, one in enumerate(_fields(kind)))
    )
