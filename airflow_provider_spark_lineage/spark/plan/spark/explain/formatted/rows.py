"""Reader of nodes that only `operators` creates, for physical operators without a logical equivalent."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.built import Built, NodeContext, NodeReader
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.translation import NO_COLUMN
from airflow_provider_spark_lineage.spark.plan.spark.explain.functions import call
from airflow_provider_spark_lineage.spark.plan.spark.explain.items import alias, listed_values
from airflow_provider_spark_lineage.spark.plan.spark.explain.leaves import leaf
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError
from airflow_provider_spark_lineage.spark.plan.spark.relational import HIDDEN, UNTRACED
from airflow_provider_spark_lineage.spark.records.plan_json import Tree


def _scan(node: str) -> NodeReader:
    def row(place: NodeContext) -> Built:
        """`FileRows [a#1, b#2], [b#2] parquet db.t`: the second list is not in the dataset."""
        ids, end = place.defined(0)
        hidden, end = place.defined(place.reader.expect(end, ", "))
        text = place.text[end:].strip()
        kind, _, table = ("", "", "") if node == "DataSourceV2Relation" else text.partition(" ")
        fields = {"output": place.trees(ids), HIDDEN: place.trees(hidden)}
        built = leaf(place, node, ids, kind or text, table.strip(), **fields)
        return Built(built.tree, [expr_id for expr_id in ids if expr_id < NO_COLUMN])

    return row


def _rows(place: NodeContext) -> Built:
    """Rows that are in no dataset: `ConstantRows [id#0L]`."""
    ids, _ = place.defined(0)
    return place.built(ids, "ResolvedInlineTable", output=place.trees(ids))


def _conditions(place: NodeContext) -> Built:
    """Conditions that are joined by AND: `Conditions [isnotnull(a#1), (a#1 = 2)]`."""
    conditions = listed_values(place.reader, "a condition")
    return place.built(place.first, "Filter", condition=call("And", conditions))


def _renamed_at_least(place: NodeContext) -> Built:
    """The columns of the input; the text lists only the first columns: `RenamedAtLeast [a#1, b#2]`."""
    ids, _ = place.defined(0)
    if ids != place.first[: len(ids)]:
        raise UnreadablePlanError("its text was cut")
    return place.built(place.first, "SubqueryAlias")


def _renamed(place: NodeContext) -> Built:
    """The columns of the input with other ids, by position: `Renamed [a#11, b#12]`."""
    before = place.first
    kinds = [place.columns.kinds[expr_id] for expr_id in before]
    known = {expr_id: place.trees([expr_id])[0] for expr_id in before}
    ids, _ = place.defined(0)
    if len(ids) != len(before):
        raise UnreadablePlanError("its number of columns differs from its input")
    items = []
    for expr_id, origin, kind in zip(ids, before, kinds, strict=True):
        place.columns.kinds[expr_id] = kind
        items.append(known[origin] if expr_id == origin else _alias(place, expr_id, known[origin]))
    return place.built(ids, "Project", projectList=items)


def _alias(place: NodeContext, expr_id: int, tree: Tree) -> Tree:
    return alias(tree, expr_id, min(place.columns.names[expr_id])).tree


def _untraced(place: NodeContext, names: list[str], cure: str) -> Built:
    """Return columns with known names but unknown sources."""
    listed = ", ".join(f"`{name}`" for name in names)
    place.state.problems[of_explained.UNTRACED_COLUMNS(columns=listed, cure=cure)] = ""
    ids = []
    for name in names:
        ids.append(-1 - len(place.columns.names))
        place.columns.define(ids[-1], name)
    node = place.built(ids, "the renaming of columns", **{UNTRACED: place.trees(ids)})
    return Built([{**place.built([], "Project").tree[0], "projectList": place.trees(ids)}, *node.tree], ids)


def _named_at_least(place: NodeContext) -> Built:
    """The columns of the input; the text lists only the first names of a write: `NamedAtLeast [a, b]`."""
    current = [min(place.columns.names[expr_id]) for expr_id in place.first]
    if not ", ".join(current).startswith(place.text[1:-1]):
        return _untraced(place, place.text[1:-1].split(", "), "spark.sql.debug.maxToStringFields higher")
    return place.built(place.first, "SubqueryAlias")


def _named(place: NodeContext) -> Built:
    """The columns of the input with the names in the target of a write: `Named [a, b]`."""
    names = place.columns.names
    current = [min(names[expr_id]) for expr_id in place.first]
    if place.text[1:-1] == ", ".join(current):
        return place.built(place.first, "SubqueryAlias")
    new = place.text[1:-1].split(", ")
    if len(new) != len(current):
        return _untraced(place, new, "spark.sql.ui.explainMode to extended")
    items, ids = [], []
    for expr_id, name, old in zip(place.first, new, current, strict=True):
        if name == old:
            ids.append(expr_id)
            items.append(place.trees([expr_id])[0])
            continue
        number = -1 - len(names)
        place.columns.define(number, name, place.columns.kinds[expr_id])
        ids.append(number)
        items.append(_alias(place, number, place.trees([expr_id])[0]))
    return place.built(ids, "Project", projectList=items)


def _with_exists(place: NodeContext) -> Built:
    """A column that is true if another plan has rows for the row: `WithExists [exists#12]`."""
    (expr_id,), _ = place.defined(0)
    place.columns.kinds[expr_id] = "boolean"
    exists = call("Exists", [])
    exists[0]["plan"] = place.inner[0].tree
    items = [*place.trees(place.first), _alias(place, expr_id, exists)]
    return place.built([*place.first, expr_id], "Project", projectList=items)


def _python_udtf(place: NodeContext) -> Built:
    """A Python table function: `PythonRows words(a#1)#7, [b#2], [word#3, size#4]`."""
    value = place.reader.whole(0, (", ",))
    required, end = place.defined(value.end + 2)
    added, _ = place.defined(place.reader.expect(end, ", "))
    fields = {
        "udtf": value.tree,
        "requiredChildOutput": place.trees(required),
        "resultAttrs": place.trees(added),
    }
    return place.built([*required, *added], "BatchEvalPythonUDTF", **fields)


def _python(place: NodeContext) -> Built:
    """Python functions, and the columns of their results: `PythonColumns [f(a#1)#7], [pythonUDF0#8]`."""
    values, end = place.reader.several(1, ", ", "]")
    ids, _ = place.defined(place.reader.expect(end, ", "))
    for expr_id in ids:
        place.columns.kinds[expr_id] = types.whole()
    fields = {"udfs": [value.tree for value in values], "resultAttrs": place.trees(ids)}
    return place.built([*place.first, *ids], "ArrowEvalPython", **fields)


PHYSICAL_ROWS: dict[str, NodeReader] = {
    "Conditions": _conditions,
    "FileRows": _scan("LogicalRelation"),
    "ConstantRows": _rows,
    "Named": _named,
    "NamedAtLeast": _named_at_least,
    "PythonColumns": _python,
    "PythonRows": _python_udtf,
    "Renamed": _renamed,
    "RenamedAtLeast": _renamed_at_least,
    "WithExists": _with_exists,
    "SourceRows": _scan("DataSourceV2Relation"),
}
"""Name that `operators` creates -> row."""
