"""Readers of the texts of commands that write rows: the target and the mode of each.

No text has the clauses of a MERGE.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.plan.spark.explain.built import Built, NodeContext, NodeReader
from airflow_provider_spark_lineage.spark.plan.spark.explain.facts import (
    TABLE,
    add,
    over_query,
    resolved_facts,
    session_table,
    settings_facts,
    table_facts,
    v2_facts,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.items import condition
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError, required
from airflow_provider_spark_lineage.spark.plan.spark.relational import UNTRACED
from airflow_provider_spark_lineage.spark.plan.spark.tree import children
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, simple_name

_MODES = "Append|Overwrite|ErrorIfExists|Ignore"
_FILES = re.compile(
    r"(?P<path>.+?), (?:\[(?P<static>[^\[\]]*=[^\[\]]*)\], )?(?:true|false), "
    r"(?:\[(?P<partitions>.*?#\d+L?)\], )?"
    rf"(?:.*?, )?(?P<format>[A-Z]\w*)(?:@[0-9a-f]+)?, (?:\[.*?\], )?(?P<mode>{_MODES}), "
    rf"(?:{TABLE.replace('(', '(?P<table>', 1)}, )?.*",
    re.DOTALL,
)
_MODE = re.compile(rf", ({_MODES})(?:, |$)")
_DYNAMIC = "spark.sql.sources.partitionOverwriteMode"
_OF_URI = "/:%!$&'()*+,;=@"
_FILE_TABLE = re.compile(r"(avro|csv|json|orc|parquet|text) (\S+:/.*)")


def _into_files(place: NodeContext) -> Built:
    match = required(_FILES.fullmatch(place.text), "no folder")
    settings = place.state.settings
    static = len(match["static"].split(", ")) if match["static"] else 0
    columns = place.reader.marks.references(*match.span("partitions"), place.columns)
    is_dynamic = settings.get(_DYNAMIC, "").lower() == "dynamic" or re.search(
        r"partitionOverwriteMode=dynamic", place.text, re.IGNORECASE
    )
    facts: dict[str, Any] = {
        "paths": match["path"],
        "format": match["format"],
        "mode": match["mode"],
        "static_partitions": static,
        "dynamic_partitions": bool(is_dynamic and match["mode"] == "Overwrite" and len(columns) > static),
    }
    table = table_facts(match["table"], settings) if match["table"] else settings_facts(settings)
    add(place, {**facts, **table})
    return over_query(place, partitionColumns=place.trees(list(columns)))


def _into_table(place: NodeContext) -> Built:
    """A table of the session's catalog; the write inside has its location."""
    mode = _MODE.search(place.text)
    add(place, {**session_table(place), **({"mode": mode[1]} if mode else {})})
    return over_query(place)


def _into_hive(place: NodeContext) -> Built:
    match = re.match(rf"{TABLE}, [\w.]+, (?:\[(.*?)\], )?(true|false), (true|false)", place.text)
    facts: dict[str, Any] = session_table(place)
    if match:
        facts["overwrite"] = match[3] == "true"
        facts["static_partitions"] = len(re.findall(r"=(?!None)", match[2] or ""))
    add(place, facts)
    return over_query(place)


_DIRECTORY = re.compile(
    r"(?:true, |false, )?Storage\(Location: (?P<location>.*?)"
    r"(?:, (?:Serde|InputFormat|OutputFormat|Compressed|Storage) ?.*)?\)"
    r"(?:, (?P<format>[\w.]+))?, (?P<overwrite>true|false)(?:, \[.*\])?",
    re.DOTALL,
)


def _into_directory(place: NodeContext) -> Built:
    """`InsertIntoDataSourceDirCommand Storage(Location: /out), parquet, true`, and Hive's command.

    Hive: `InsertIntoHiveDirCommand false, Storage(Location: /out, Serde Library: a.B, ...), true, [a, b]`.
    """
    match = required(_DIRECTORY.fullmatch(place.text), "no folder")
    folder = match["location"]
    # Spark 3.5 prints a URI, with `%20` for a space; later versions print the path.
    location = folder if quote(folder, safe=_OF_URI) == folder else quote(folder, safe="/:")
    facts = {
        "location": location,
        "directory": location,
        "format": match["format"] or "",
        "overwrite": match["overwrite"] == "true",
    }
    add(place, {**facts, **settings_facts(place.state.settings)})
    return over_query(place)


def _into_source(place: NodeContext) -> Built:
    """`SaveIntoDataSourceCommand <class>@1a, Map(path -> /t), Append`."""
    match = re.match(
        rf"([\w.$]+)(?:@[0-9a-f]+)?, (?:Map|HashMap)?[(\[](.*)[)\]], ({_MODES})", place.text, re.DOTALL
    )
    facts: dict[str, Any] = {}
    if match:
        options = dict(re.findall(r"(\w+) -> ([^,)]*)", match[2]))
        options = {name.lower(): value for name, value in options.items() if "(redacted)" not in value}
        facts = {"relation_class": match[1], "options": options, "mode": match[3]}
        if match[1].endswith(".DeltaDataSource"):
            facts = {"mode": match[3], **({"delta_path": options["path"]} if options.get("path") else {})}
        elif match[1].endswith(".JdbcRelationProvider"):
            # Spark does not print the address of the database.
            facts = {"mode": match[3]}
    add(place, facts)
    return over_query(place)


def _v2_table(place: NodeContext) -> tuple[Tree, str, int]:
    """Read `RelationV2[a#1] lake.db.t`; return the relation, the table's name, and the position after it."""
    match = required(re.match(r"RelationV2(?=\[)", place.text), "no table")
    ids, end = place.defined(match.end())
    relation = {
        "class": "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation",
        "num-children": 0,
        "output": place.trees(ids),
    }
    name = re.compile(r" ([^,\[\]]+)").match(place.text, end)
    return [relation], name[1] if name else "", name.end() if name else end


def _into_v2(place: NodeContext) -> Built:
    """`AppendData RelationV2[a#1] lake.db.t lake.db.t, false`."""
    table, name, rest = _v2_table(place)
    files = _FILE_TABLE.fullmatch(name)
    of_files = {"paths": [files[2]], "format": files[1]} if files else {}
    add(place, {**(of_files or v2_facts(name, place.state.settings)), "mode": place.name})
    fields: dict[str, Any] = {"table": table}
    has_condition = place.text.startswith(", ", rest) and not place.text.startswith(", true", rest)
    if place.name == "OverwriteByExpression" and name and has_condition:
        fields["deleteExpr"] = condition(place.reader, rest + 2, ", false", ", true", ", [")[0]
    return over_query(place, **fields)


def _as_select(place: NodeContext) -> Built:
    """CREATE or REPLACE TABLE AS SELECT in a V2 catalog: the table's name is a plan beside the query."""
    add(place, {**resolved_facts(place), "mode": place.name})
    plans = place.inner or place.children
    return Built([{**place.built([]).tree[0], "num-children": 0, "query": plans[-1].tree}], [])


_SINK = re.compile(
    # Hive's catalog has the serde class of a table after its name.
    rf"(?:{TABLE}, (?:[\w.$]+(?i:serde), )?)?"
    rf"(?P<sink>.+?), (?P<query>[0-9a-f-]{{36}}), .*?(?P<mode>{_MODES}|Complete|Update), \d+",
    re.DOTALL,
)


def _of_stream(place: NodeContext) -> Built:
    """`WriteToMicroBatchDataSourceV1 FileSink[file:/out], <id of the query>, [path=/out], Append, 0`."""
    match = required(_SINK.fullmatch(place.text), "no sink")
    table = session_table(place) or settings_facts(place.state.settings)
    add(place, {"sink": match["sink"], "mode": match["mode"], **table})
    return place.built([], queryId=match["query"])


WRITES: dict[str, NodeReader] = {
    "AppendData": _into_v2,
    "CreateDataSourceTableAsSelectCommand": _into_table,
    "CreateHiveTableAsSelectCommand": _into_table,
    "CreateTableAsSelect": _as_select,
    "InsertIntoDataSourceDirCommand": _into_directory,
    "InsertIntoHadoopFsRelationCommand": _into_files,
    "InsertIntoHiveDirCommand": _into_directory,
    "InsertIntoHiveTable": _into_hive,
    "OverwriteByExpression": _into_v2,
    "OverwritePartitionsDynamic": _into_v2,
    "ReplaceTableAsSelect": _as_select,
    "SaveAsV1TableCommand": _into_table,
    "SaveIntoDataSourceCommand": _into_source,
    "WriteToMicroBatchDataSourceV1": _of_stream,
}
"""Name that Spark prints -> row."""


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
        raise UnreadablePlanError("no values")
    values, end = place.reader.several(position + 1, ", ", "]")
    if len(values) != len(place.first):
        raise UnreadablePlanError("values of another width")
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
    table, name, _ = _v2_table(place)
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
    place.problem(of_explained.NO_ASSIGNED_VALUES())
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
