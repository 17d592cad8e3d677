"""Readers of the texts of leaves, and of code over whole rows: the texts have only their columns."""

from __future__ import annotations

import re
from typing import Any

from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.built import (
    Built,
    NodeContext,
    NodeReader,
    Relation,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import MARK
from airflow_provider_spark_lineage.spark.plan.spark.explain.items import named_list
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError


def _relation(place: NodeContext) -> Built:
    """`Relation db.t[a#1,b#2] parquet`."""
    bracket = _first_list(place.text)
    ids, end = place.defined(bracket, ",")
    relation = place.text[end:].strip()
    table = place.text[:bracket].strip()
    return leaf(place, "LogicalRelation", ids, relation, table)


def _first_list(text: str) -> int:
    """Return the start of the first list of columns; the name before it may have brackets."""
    for match in re.finditer(r"\[", text):
        if MARK.search(text, match.start()) or text.startswith("]", match.end()):
            return match.start()
    raise UnreadablePlanError("no columns")


def _v2_relation(place: NodeContext) -> Built:
    """`RelationV2[a#1, b#2] lake.db.t lake.db.t`."""
    ids, end = place.defined(_first_list(place.text))
    return leaf(place, "DataSourceV2Relation", ids, place.text[end:].strip())


def _hive_relation(place: NodeContext) -> Built:
    """``HiveTableRelation [`db`.`t`, serde, Data Cols: [a#1], Partition Cols: [p#2]]``."""
    match = re.match(r"\[((?:`[^`]*`\.?)+), ", place.text)
    data = re.search(r", Data Cols: (?=\[)", place.text)
    partitions = re.search(r", Partition Cols: (?=\[)", place.text)
    if not match or not data:
        raise UnreadablePlanError("no columns")
    ids = place.defined(data.end())[0]
    of_partitions = place.defined(partitions.end())[0] if partitions else []
    fields = {"dataCols": place.trees(ids), "partitionCols": place.trees(of_partitions)}
    return leaf(place, "HiveTableRelation", [*ids, *of_partitions], "", match[1].replace("`", ""), **fields)


_ABOUT_FILES = (
    "struct<file_path:string,file_name:string,file_size:bigint,file_block_start:bigint,"
    "file_block_length:bigint,file_modification_time:timestamp,row_index:bigint>"
)
"""The type of the column that Spark adds to describe each row's file; no scan reads it."""


def leaf(place: NodeContext, name: str, ids: list[int], text: str, table: str = "", **fields: Any) -> Built:
    """Return a relation, and note it for `relation_facts`."""
    names = place.columns.names
    output = [(expr_id, min(names[expr_id])) for expr_id in ids]
    for expr_id, column in output:
        if column == "_metadata" and expr_id not in place.state.scanned:
            place.columns.kinds[expr_id] = types.whole_type(_ABOUT_FILES)
    view = place.state.views.get(id(place.drawn), "")
    is_stream = id(place.drawn) in place.state.streamed
    place.state.relations.append(Relation(name, output, text, table, view, is_stream))
    return place.built(ids, name, **(fields or {"output": place.trees(ids)}))


def _rows(place: NodeContext) -> Built:
    ids = place.defined(_first_list(place.text))[0] if "#" in place.text else []
    return place.built(ids, output=place.trees(ids))


def _listed(place: NodeContext) -> Built:
    """`LocalRelation [a#1]`; in a batch of a stream, it replaces each source without new data."""
    built = _rows(place)
    return Built([{**built.tree[0], "isStreaming": place.drawn.is_stream}], built.output)


def _range(place: NodeContext) -> Built:
    """`Range`: its only column is not printed; its id is undefined elsewhere, or no other node uses it."""
    columns = place.columns
    expr_id = columns.lost_ids.pop(0) if columns.lost_ids else min([0, *columns.names]) - 1
    columns.define(expr_id, "id", "bigint")
    return place.built([expr_id], output=place.trees([expr_id]))


def _object(place: NodeContext) -> Built:
    """`ExternalRDD [obj#1]`."""
    ids = place.defined(_first_list(place.text))[0]
    return place.built(ids, outputObjAttr=place.trees(ids))


def _argument(place: NodeContext) -> Built:
    return place.built([])


def _opaque(place: NodeContext) -> Built:
    known = set(place.columns.names)
    lists = place.lists()
    new = [ids for ids in lists if ids and not known.issuperset(ids)]
    keys = [expr_id for ids in lists if known.issuperset(ids) for expr_id in ids]
    output = new[-1] if new else _objects(place)
    if not output:
        raise UnreadablePlanError("no columns")
    # The keys of cogrouped code are the first columns of each side.
    lengths = re.match(r"(\d+), (\d+), ", place.text)
    sides = (
        dict(zip(("leftGroupingLen", "rightGroupingLen"), lengths.groups(), strict=True)) if lengths else {}
    )
    return place.built(output, output=place.trees(output), groupingAttributes=place.trees(keys), **sides)


def _objects(place: NodeContext) -> list[int]:
    """Define the object at the end of the arguments: `obj#5: org.example.Thing`."""
    objects = re.findall(r"(?:^|, )(\w+)#(\d+): ", place.text)[-1:]
    for name, number in objects:
        place.columns.define(int(number), name)
    return [int(number) for _, number in objects]


def _serializer(place: NodeContext) -> Built:
    items, _ = named_list(place.reader, place.text.index("["))
    return place.built([item.expr_id for item in items], serializer=[item.tree for item in items])


def _deserializer(place: NodeContext) -> Built:
    output = _objects(place)
    return place.built(output, outputObjAttr=place.trees(output))


def _append_columns(place: NodeContext) -> Built:
    lists = [match.start() for match in re.finditer(r"\[", place.text)]
    known = set(place.columns.names)
    for start in reversed(lists):
        try:
            items, _ = named_list(place.reader, start)
        except UnreadablePlanError:
            continue
        added = [item for item in items if item.expr_id not in known]
        if added:
            output = [*place.first, *(item.expr_id for item in added)]
            return place.built(output, serializer=[item.tree for item in added])
    raise UnreadablePlanError("no columns")


LEAVES: dict[str, NodeReader] = {
    "CommandResult": _rows,
    "ExternalRDD": _object,
    "HiveTableRelation": _hive_relation,
    "LocalRelation": _listed,
    "LogicalRDD": _rows,
    "OneRowRelation": _argument,
    "Range": _range,
    "Relation": _relation,
    "RelationV2": _v2_relation,
    "StreamingRelationV2": _v2_relation,
    "Transpose": _rows,
    "AppendColumns": _append_columns,
    "DeserializeToObject": _deserializer,
    "SerializeFromObject": _serializer,
    **dict.fromkeys(
        """
        FlatMapCoGroupsInArrow FlatMapCoGroupsInPandas FlatMapGroupsInArrow FlatMapGroupsInPandas
        FlatMapGroupsInPandasWithState MapElements MapGroups MapInArrow MapInPandas MapPartitions
        PythonMapInArrow ScriptTransformation TransformWithStateInPandas TransformWithStateInPySpark
        """.split(),
        _opaque,
    ),
    **dict.fromkeys(
        "ResolvedIdentifier ResolvedNamespace ResolvedPersistentView ResolvedTable ResolvedTempView".split(),
        _argument,
    ),
}
"""Name that Spark prints -> row."""
