"""Readers of the texts of UPDATE and DELETE, of Delta and of Spark; no text has the clauses of a MERGE."""

from __future__ import annotations

import re
from typing import Any

from airflow_provider_spark_lineage.plan.spark.explain.built import Built, NodeContext, NodeReader
from airflow_provider_spark_lineage.plan.spark.explain.facts import TABLE, add, table_facts, v2_facts
from airflow_provider_spark_lineage.plan.spark.explain.items import condition
from airflow_provider_spark_lineage.plan.spark.explain.sections import UnreadableError, required
from airflow_provider_spark_lineage.plan.spark.explain.writes import v2_table
from airflow_provider_spark_lineage.plan.spark.relational import UNTRACED
from airflow_provider_spark_lineage.plan.spark.tree import children
from airflow_provider_spark_lineage.records.plan_json import Tree, simple_name

_DELTA = re.compile(rf"(?:Delta\[version=(?P<version>\d+), (?P<path>.*?)\]|[\w.$]+@\w+), (?:{TABLE}, )?")


def _delta(place: NodeContext) -> tuple[dict[str, Any], int]:
    """Return the facts of the table of a Delta command, and the start of the next argument."""
    match = required(_DELTA.match(place.text + ", "), "no table")
    facts: dict[str, Any] = {"mode": place.name}
    if match[3]:
        facts.update(table_facts(match[3], place.state.settings))
    if match["path"]:
        facts.update(delta_path=match["path"], version_before=int(match["version"]))
        place.state.places[match[3].replace("`", "") if match[3] else ""] = {"delta_path": match["path"]}
    return facts, match.end()


def _update(place: NodeContext) -> Built:
    """`UpdateCommand Delta[version=0, /t], `db`.`t`, [a#1, (b#2 + 1)], (a#1 = 3)`."""
    facts, position = _delta(place)
    if not place.text.startswith("[", position):
        raise UnreadableError("no values")
    values, end = place.reader.several(position + 1, ", ", "]")
    if len(values) != len(place.first):
        raise UnreadableError("values of another width")
    fields: dict[str, Any] = {"updateExpressions": [value.tree for value in values]}
    if end < len(place.text):
        fields["condition"] = condition(place.reader, end + 2)[0]
    add(place, facts)
    return place.built([], **fields)


def _delete(place: NodeContext) -> Built:
    """`DeleteCommand org.example.DeltaLog@1a, `db`.`t`, (a#1 = 3)`."""
    facts, position = _delta(place)
    add(place, facts)
    if position >= len(place.text):
        return place.built([])
    return place.built([], condition=condition(place.reader, position)[0])


def _rewritten(place: NodeContext) -> Built:
    """`ReplaceData RelationV2[a#1] lake.db.t`: the new rows of the table are below."""
    table, name, _ = v2_table(place)
    add(place, {**v2_facts(name, place.state.settings), "mode": place.name})
    # Spark does not print the condition of the statement; the filter below names the same columns.
    test = _condition(place.children[0].tree) if place.children else None
    return place.built([], table=table, **({"condition": test} if test else {}))


def _condition(plan: Tree) -> Tree | None:
    """Return the condition of the first filter on the way down, or the test that chooses new values."""
    test: Tree | None = None
    for node in plan:
        name = simple_name(node["class"])
        if name == "Filter":
            filtered: Tree = node["condition"]
            return filtered
        if name not in ("Project", "Expand", "Union", "SubqueryAlias"):
            break
        for tree in node.get("projectList", ()):
            if test is None and len(tree) > 1 and simple_name(tree[1]["class"]) == "If":
                test = children(tree[1:])[0]
    return test


def _merge_rows(place: NodeContext) -> Built:
    """The rows that the clauses of a MERGE compute: the text has only the columns."""
    place.problem("the values that its clauses assign are not in the text")
    ids, _ = place.defined(0)
    node = place.built(ids, "unread MergeRows", **{UNTRACED: place.trees(ids)})
    above = {**place.built([], "Project").tree[0], "num-children": 1, "projectList": place.trees(ids)}
    return Built([above, *node.tree], ids)


ROW_LEVEL: dict[str, NodeReader] = {
    "DeleteCommand": _delete,
    "MergeRows": _merge_rows,
    "ReplaceData": _rewritten,
    "UpdateCommand": _update,
    "WriteDelta": _rewritten,
}
"""Name that Spark prints -> row."""

NOT_IN_TEXT = frozenset(
    """
    CloneTableCommand CreateDeltaTableCommand DeleteFromTable DeltaDynamicPartitionOverwriteCommand
    DeltaInsertReplaceOnOrUsingCommand InsertIntoDataSourceCommand InsertOnlyMerge MergeIntoCommand
    RestoreTableCommand WriteToMicroBatchDataSource
    """.split()
)
"""Commands whose text lacks fields that `plan.spark` needs, or is not read."""
