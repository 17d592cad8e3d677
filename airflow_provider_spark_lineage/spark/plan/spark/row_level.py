"""Readers of UPDATE, DELETE and MERGE: each is read as the overwrite of a table by itself.

Spark rewrites these commands into plans that replace the table's files; Delta has its own commands. Both are
read as clauses: a condition that matches rows, and the new values of these rows. A row that no clause matches
is unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.spark.plan.algebra import (
    Attribute,
    Derive,
    Expression,
    Kind,
    Node,
    Write,
    same,
)
from airflow_provider_spark_lineage.spark.plan.spark.step import Columns, NodeReader, Step
from airflow_provider_spark_lineage.spark.plan.spark.tree import (
    attribute_of,
    attributes,
    children,
    trees,
    type_name,
)
from airflow_provider_spark_lineage.spark.plan.steps import TESTED
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, is_tree, simple_name

PLANS = {"MergeIntoCommand": ("target", "source")}
"""Class -> fields of a command whose plans are its children."""

_OPERATION = "__row_operation"
"""The column with Spark's operation on a row: update, delete, insert or copy."""

_FROM_TARGET = "__row_from_target"
"""Below a MERGE, the column after the columns of its target table."""

_UPDATES = "update expressions"
"""Field with the new value of each column after an UPDATE, None for a DELETE; `restored` adds it.

Spark's own fields have no spaces in their names.
"""


@dataclass(frozen=True)
class _Clause:
    """One WHEN of a MERGE, or a whole UPDATE or DELETE."""

    condition: Tree | None = None
    """The rows that it matches; None matches every row that earlier clauses did not match."""

    values: Mapping[int, Tree] | None = field(default_factory=dict)
    """New values of columns, by position in the table; None if the rows are deleted."""


def _overwrite(
    step: Step,
    table: Sequence[Attribute],
    changes: Sequence[Sequence[_Clause]],
    *,
    inserts: Sequence[_Clause] = (),
    influences: tuple[tuple[Kind, Expression], ...] = (),
    before: Mapping[int, Attribute] | None = None,
) -> Derive:
    """Return the rows of a table after its change.

    - `changes`: the clauses for each kind of earlier row: matched, and not matched by the source.
    - `influences`: the expressions that decide whether a row is matched.
    - `before`: position in the table -> the input's column; without it they are the same columns.
    """
    columns: dict[int, list[Expression]] = {index: [] for index in range(len(table))}
    for index, column in (dict(enumerate(table)) if before is None else before).items():
        if any(_stays(index, clauses) for clauses in changes):
            columns[index].append(same(column))
    for clauses, inserting in (*((clauses, False) for clauses in changes), (inserts, True)):
        tests: list[Expression] = []
        for clause in clauses:
            # A clause applies to rows that the clauses before it did not match, so their tests count too.
            if clause.condition is not None:
                tests.append(step.read(clause.condition))
            if inserting or clause.values is None:
                influences += tuple((Kind.FILTER, test) for test in tests)
            for index, value in (clause.values or {}).items():
                columns[index].append(step.read(value))
                if not inserting:
                    columns[index].extend(test.after(TESTED) for test in tests)
    expressions: Columns = {column.id: tuple(columns[index]) for index, column in enumerate(table)}
    return Derive(step.inputs, tuple(table), step.label, expressions, tuple(dict.fromkeys(influences)))


def _stays(index: int, clauses: Sequence[_Clause]) -> bool:
    """Return whether a column may keep its value in some row."""
    for clause in clauses:
        if clause.values is not None and index not in clause.values:
            return True
        if clause.condition is None:
            return False
    return True


def condition_of(value: Any) -> Tree | None:
    """Return a condition's tree; None if it matches every row."""
    tree = next(iter(trees(value)), None)
    return None if tree is None or simple_name(tree[0]["class"]) == "Literal" else tree


def _is_column(tree: Tree, column: Attribute | None) -> bool:
    """Return whether an expression is an unchanged column."""
    attribute = attribute_of(tree) if len(tree) == 1 else None
    return attribute is not None and column is not None and attribute.id == column.id


def _assigned(values: Iterable[Tree], before: Mapping[int, Attribute]) -> dict[int, Tree]:
    """Return the values that differ from the column's old value, by position."""
    return {index: tree for index, tree in enumerate(values) if not _is_column(tree, before.get(index))}


def _write(step: Step, rows: Node) -> Node:
    return Write((step.put(rows),), (), step.label, relation=step.name, target=step.target)


def _changed(step: Step, table: tuple[Attribute, ...], values: Mapping[int, Tree] | None) -> Node:
    """Return the overwrite of the rows that the command's condition matches, by these values."""
    clause = _Clause(condition_of(step.fields.get("condition")), values)
    return _write(step, _overwrite(step, table, [[clause]]))


def _update(step: Step) -> Node:
    """A table overwritten by itself: the command has the new value of each column."""
    values = _assigned(trees(step.fields.get("updateExpressions")), dict(enumerate(step.output())))
    return _changed(step, step.output(), values)


def _delete(step: Step) -> Node:
    """A table overwritten by the rows that a condition does not match."""
    return _changed(step, step.output(), None)


def _merge(step: Step) -> Node:
    """A table overwritten by itself and by the rows of a source: every clause assigns every column."""
    table = list(step.output())
    fields = (step.fields.get("migratedSchema") or {}).get("fields", ())
    types = {field["name"]: type_name(field["type"]) for field in fields}
    positions = {column.name.lower(): index for index, column in enumerate(table)}
    # A column that the MERGE adds to the table has no expression id yet.
    for name in (name for name in types if name.lower() not in positions):
        positions[name.lower()] = len(table)
        table.append(Attribute(-2 - len(table), name, types[name]))
    before = dict(enumerate(step.output()))

    def clauses(name: str) -> list[_Clause]:
        return [_delta_clause(tree, positions, before) for tree in step.fields.get(name) or ()]

    changes = [clauses("matchedClauses"), clauses("notMatchedBySourceClauses")]
    influences = step.influences(Kind.JOIN, "condition")
    inserts = clauses("notMatchedClauses")
    rows = _overwrite(step, table, changes, inserts=inserts, influences=influences, before=before)
    return _write(step, rows)


def _delta_clause(tree: Tree, positions: Mapping[str, int], before: Mapping[int, Attribute]) -> _Clause:
    parts = children(tree)
    actions = [part for part in parts if _is_action(part)]
    condition = next((part for part in parts if not _is_action(part)), None)
    if simple_name(tree[0]["class"]).endswith("DeleteClause"):
        return _Clause(condition, None)
    values = {}
    for action in actions:
        name = ".".join(action[0].get("targetColNameParts") or ()).lower()
        position = positions.get(name)
        if position is not None and not _is_column(action[1:], before.get(position)):
            values[position] = action[1:]
    return _Clause(condition, values)


def _is_action(part: Tree) -> bool:
    return simple_name(part[0]["class"]) == "DeltaMergeAction"


def _merge_rows(step: Step) -> Node:
    """The rows that the clauses of a MERGE compute from the joined rows of table and source."""
    output = step.attributes("output")
    below = step.output()
    names = [column.name for column in below]
    # A MERGE that only inserts does not read rows of the table.
    target = below[: names.index(_FROM_TARGET)] if _FROM_TARGET in names else ()
    former = {column.name: column for column in target}
    before = {index: former[column.name] for index, column in enumerate(output) if column.name in former}
    table = {column.name for column in table_of(step.above)}

    def clauses(name: str) -> list[_Clause]:
        return [_instruction(tree, output, before, table) for tree in step.fields.get(name) or ()]

    changes = [clauses("matchedInstructions"), clauses("notMatchedBySourceInstructions")]
    return _overwrite(step, output, changes, inserts=clauses("notMatchedInstructions"), before=before)


def _instruction(
    tree: Tree, output: Sequence[Attribute], before: Mapping[int, Attribute], table: Collection[str]
) -> _Clause:
    """Return the clause of a condition and the row to write; the second row of a Split is the new row."""
    name = simple_name(tree[0]["class"]).rsplit("$", 1)[-1]
    condition, *values = children(tree)
    new = values[len(output) :] if name == "Split" else values[: len(output)]
    # A DELETE has literals for all data columns; before Spark 4.1 nothing else identifies it.
    data = [value for value, column in zip(new, output, strict=False) if column.name in table]
    if all(simple_name(value[0]["class"]) == "Literal" for value in data):
        return _Clause(condition_of(condition), None)
    return _Clause(condition_of(condition), _assigned(new, before))


def _rewritten(step: Step) -> Node:
    """A table overwritten by itself, from an UPDATE, DELETE or MERGE that Spark rewrote."""
    names = dict.fromkeys(column.name for column in table_of(step.fields))
    columns = {column.name: column for column in reversed(step.output())}
    table = tuple(columns[name] for name in names if name in columns)
    if _UPDATES not in step.fields:
        return _write(step, Derive(step.inputs, table, step.label))
    updates = step.fields[_UPDATES]
    values = None if updates is None else _assigned(trees(updates), dict(enumerate(table)))
    return _changed(step, table, values)


def table_of(command: Mapping[str, Any]) -> tuple[Attribute, ...]:
    """Return the columns of the table that a command changes; empty if its fields do not have it."""
    table: Any = command.get("table")
    return attributes(table[0].get("output")) if is_tree(table) else ()


ROW_LEVEL: dict[str, NodeReader] = {
    "UpdateCommand": _update,
    "DeleteCommand": _delete,
    "DeleteFromTable": _delete,
    "MergeIntoCommand": _merge,
    "MergeRows": _merge_rows,
    "ReplaceData": _rewritten,
    "WriteDelta": _rewritten,
}
"""Simple class name -> row, for the commands and for the one node that is only below them."""


def restored(tree: Tree) -> Tree:
    """Return the UPDATE or DELETE that Spark rewrote, as a command over the table that it changes.

    Spark filters the rows that change and, if the table accepts row-level changes, leaves out all other
    rows. Any other tree is returned unchanged.
    """
    if simple_name(tree[0]["class"]) not in ("ReplaceData", "WriteDelta"):
        return tree
    command, below = tree[0], children(tree)[0]
    while simple_name(below[0]["class"]) == "Union":
        below = children(below)[0]
    values = _row(below)
    passed: tuple[str, ...] = ("Project", "Expand", "Filter", "Union")
    if _OPERATION not in values:
        if not _is_update(values, command):
            return tree
        # All new values are in this projection, and may use columns of one below it.
        below, passed = children(below)[0], ("Filter",)
    while simple_name(below[0]["class"]) in passed:
        # The first input of a union is the rows that change.
        below = children(below)[0]
        inner = _row(below)
        values = {name: inner.get(name, value) for name, value in values.items()}
    names = [column.name for column in table_of(command)]
    updates = None
    if all(name in values for name in names):
        updates = [_new_value(values[name], command) for name in names]
    if simple_name(command["class"]) == "ReplaceData" and all(len(value) == 1 for value in values.values()):
        return tree
    return [{**command, "num-children": 1, _UPDATES: updates}, *below]


def _is_update(values: Mapping[str, Tree], command: Mapping[str, Any]) -> bool:
    """Return whether each column of the table is an IF of a new value and the column: so before Spark 4."""
    table = table_of(command)
    return bool(table) and all(_is_kept(values.get(column.name, []), column) for column in table)


def _is_kept(tree: Tree, column: Attribute) -> bool:
    """Return whether an expression is an IF that else leaves a column as it is."""
    is_if = bool(tree) and simple_name(tree[0]["class"]) == "If"
    return is_if and _is_column(children(tree)[2], column)


def _row(plan: Tree) -> dict[str, Tree]:
    """Return the expressions of a projection by the names of its columns; of several rows, the last."""
    projections = [trees(projection) for projection in plan[0].get("projections") or ()]
    if projections:
        names = (column.name for column in attributes(plan[0].get("output")))
        return dict(zip(names, projections[-1], strict=False))
    listed = trees(plan[0].get("projectList"))
    return {tree[0]["name"]: tree[tree[0]["num-children"] :] for tree in listed}


def _new_value(tree: Tree, command: Mapping[str, Any]) -> Tree:
    """Return the new value of a column in an UPDATE; if all rows are rewritten, the IF's second child."""
    behind_test = simple_name(command["class"]) == "ReplaceData" and simple_name(tree[0]["class"]) == "If"
    return children(tree)[1] if behind_test else tree
