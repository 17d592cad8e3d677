"""Reader of lists of named expressions: the columns of a projection or an aggregate, with their names."""

from __future__ import annotations

from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import MARK
from airflow_provider_spark_lineage.spark.plan.spark.explain.expressions import END, ExplainReader
from airflow_provider_spark_lineage.spark.plan.spark.explain.functions import call
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError
from airflow_provider_spark_lineage.spark.records.plan_json import Tree

_AS = " AS "


@dataclass
class Item:
    """One column that a list computes."""

    tree: Tree
    expr_id: int


def named_list(reader: ExplainReader, position: int) -> tuple[list[Item], int]:
    """Read a list of named expressions in brackets; return it with the position after it."""
    position = reader.expect(position, "[")
    items: list[Item] = []
    while not (reader.text.startswith("]", position) and not items):
        try:
            item, position = _item(reader, position)
        except UnreadablePlanError:
            item, position = _unread_item(reader, position)
        items.append(item)
        if reader.text.startswith(("]" + END, "], "), position):
            break
        position = reader.expect(position, ", ")
    return items, position + 1


def condition(reader: ExplainReader, position: int, *stops: str) -> tuple[Tree, int]:
    """Read an expression up to one of the stops; if it cannot be read, return all columns that it names."""
    stops = stops or (END,)
    try:
        value = reader.expression(position, stops)
        if value.is_column and reader.text.startswith(": ", value.end):
            # A column that is a whole argument has its type.
            value = replace(value, end=types.read_type(reader.text, value.end + 2)[1])
        if not reader.text.startswith(stops, value.end):
            raise reader.unreadable(value.end)
    except UnreadablePlanError:
        ends = [reader.text.find(stop, position) for stop in stops]
        end = min((place for place in ends if place >= 0), default=len(reader.text) - 1)
        reader.problems.append(of_explained.UNREAD_EXPRESSION(what="a condition"))
        return everything_named(reader, position, end), end
    return value.tree, value.end


def listed_values(reader: ExplainReader, what: str) -> list[Tree]:
    """Read the list at the beginning of the arguments; if that fails, return all columns that it names.

    `what` is the beginning of the problem's sentence.
    """
    try:
        return [value.tree for value in reader.several(1, ", ", "]")[0]]
    except UnreadablePlanError:
        reader.problems.append(of_explained.UNREAD_EXPRESSION(what=what))
        return [everything_named(reader, 0, len(reader.text) - len(END))]


def everything_named(reader: ExplainReader, start: int, end: int) -> Tree:
    """Return a function of all columns and subqueries that are named between two positions."""
    references = reader.marks.references(start, end, reader.columns)
    return call(
        "Function",
        [*(reader.columns.tree(expr_id) for expr_id in references), *reader.subqueries(start, end)],
    )


def _item(reader: ExplainReader, position: int) -> tuple[Item, int]:
    value = reader.whole(position, (_AS, ", ", "]"))
    if not reader.text.startswith(_AS, value.end):
        if not value.is_column:
            raise reader.unreadable(position)
        node = value.tree[0]["e"][0] if "e" in value.tree[0] else value.tree[0]
        return Item(value.tree, node["exprId"]["id"]), value.end
    name, expr_id, end, big = _definition(reader, value.end + len(_AS))
    kind = None if value.kind is types.LITERAL else value.kind
    reader.columns.define(expr_id, name, kind, big)
    return alias(value.tree, expr_id, name), end


def alias(tree: Tree, expr_id: int, name: str) -> Item:
    """Return a column with its own name and id."""
    named = call("Alias", [tree])
    named[0].update(name=name, exprId={"id": expr_id})
    return Item(named, expr_id)


def _definition(reader: ExplainReader, position: int) -> tuple[str, int, int, bool]:
    """Read the name of an expression: its text, its id, the position after it, whether it is bigint."""
    for mark in reader.marks.after(position):
        name = reader.text[position : mark.start()]
        if _ends_an_item(reader, mark.end()):
            if reader.marks.references(position, mark.start(), reader.columns):
                raise reader.unreadable(position)
            return name, int(mark[1]), mark.end(), bool(mark[2])
    raise reader.unreadable(position)


def _ends_an_item(reader: ExplainReader, position: int) -> bool:
    return reader.text.startswith((", ", "]" + END, "], "), position)


def _unread_item(reader: ExplainReader, position: int) -> tuple[Item, int]:
    """Read an item by its own name and by the columns that it names; its expression is not readable."""
    for mark in reader.marks.after(position):
        if not _ends_an_item(reader, mark.end()) or int(mark[1]) in reader.columns.names:
            continue
        begin = _name_of(reader, position, mark.start())
        if begin is None:
            continue
        name, expr_id = reader.text[begin : mark.start()], int(mark[1])
        tree = everything_named(reader, position, begin)
        reader.columns.define(expr_id, name, types.closed(), bool(mark[2]))
        reader.problems.append(of_explained.UNREAD_EXPRESSION(what=f"the expression of `{name}`"))
        return alias(tree, expr_id, name), mark.end()
    raise reader.unreadable(position)


def _name_of(reader: ExplainReader, start: int, end: int) -> int | None:
    """Return the start of the name that ends at `end`: after the first AS outside brackets, or any AS."""
    depth, last = 0, None
    for index in range(start, end):
        character = reader.text[index]
        depth += (character in "([{") - (character in ")]}")
        if reader.text.startswith(_AS, index):
            last = index + len(_AS)
            if depth <= 0:
                break
    if last is None or MARK.search(reader.text, last, end):
        return None
    return last
