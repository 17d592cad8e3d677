"""Facts of the relations of a plan, whose physical scans have the locations, and of the targets of commands.

The facts have the same keys as the probes in `sources`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.plan.spark.explain.built import (
    Built,
    NodeContext,
    PlanState,
    Relation,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.physical import PhysicalScan, split_paths

Facts = dict[str, Any]

_SETTINGS = {
    "warehouse": ("spark.sql.warehouse.dir",),
    "catalog_kind": ("spark.sql.catalogImplementation",),
    "metastore_uris": ("spark.hadoop.hive.metastore.uris", "hive.metastore.uris"),
    "metastore_client": (
        "spark.hadoop.hive.metastore.client.factory.class",
        "hive.metastore.client.factory.class",
    ),
    "glue_catalog": ("spark.hadoop.hive.metastore.glue.catalogid", "hive.metastore.glue.catalogid"),
    "glue_account": ("spark.glue.accountId",),
}
"""Fact -> the settings of an application that have it, in order of precedence."""

_DELTA_INDEX = re.compile(r"Tahoe|Delta|Cdc")
_OF_DELTA_ITSELF = frozenset({"DeltaLogFileIndex", "TahoeBatchFileIndex"})
"""File indexes that Delta uses to read for its own commands."""

_PART_OF_TABLE = re.compile(
    r"(?:all_)?(?:data_files|delete_files|entries|files|manifests)|history|metadata_log_entries|partitions"
    r"|position_deletes|refs|snapshots|changes|(?:branch|tag|snapshot_id|at_timestamp)_.*"
)
"""Last part of a name that may belong to a part of an Iceberg table instead of a table."""

_FILE_TABLE = re.compile(r"(avro|csv|json|orc|parquet|text) ([A-Za-z]\S*:/.*?),?", re.DOTALL)


TABLE = r"((?:`(?:[^`]|``)*`\.?)+)"
"""A table of the session's catalog, with every part of its name in backticks."""

_CATALOG = re.compile(r"(?:V2SessionCatalog\((?P<name>\w+)\)|(?P<class>[\w.$]+)@[0-9a-f]+), (?P<table>[^,]+)")
_CATALOGS = re.compile(r"spark\.sql\.catalog\.(\w+)")


_WILDCARD = re.compile(r"[*?\[{]")


def given_fact(paths: Sequence[str]) -> str:
    """Return the name of the fact for paths as a program gave them: paths or patterns."""
    return "patterns" if any(map(_WILDCARD.search, paths)) else "paths"


def before_wildcard(path: str) -> str:
    """Return the beginning that a path has in common with all that it matches; empty for a plain path."""
    match = _WILDCARD.search(path)
    return path[: match.start()] if match else ""


def settings_facts(settings: Mapping[str, str]) -> Facts:
    """Return the facts about the session's catalog."""
    facts = {
        fact: value
        for fact, names in _SETTINGS.items()
        if (value := next((settings[name] for name in names if settings.get(name)), ""))
    }
    return {"catalog_kind": "in-memory", **facts} if settings else facts


def table_facts(name: str, settings: Mapping[str, str]) -> Facts:
    """Return the facts of a table's name in Spark's text: with backticks, or plain with three parts."""
    if "`" in name:
        parts = [quoted.replace("``", "`") for quoted in re.findall(r"`((?:[^`]|``)*)`", name)]
    else:
        parts = name.split(".")
        if len(parts) != 3:
            parts = []
    # Without its warehouse, a catalog has no namespace.
    if len(parts) < 2 or not settings.get("spark.sql.warehouse.dir"):
        return {}
    return {"table": parts, **settings_facts(settings)}


def relation_facts(
    plan: PlanState, scans: Sequence[PhysicalScan], reused: Mapping[int, int]
) -> list[dict[str, Any]]:
    """Return the entry of each relation that the text can name; complete targets that are the same table."""
    relations, settings = plan.relations, plan.settings
    matched = {
        index: _agreed(_scans_with(relation, scans, reused)) for index, relation in enumerate(relations)
    }
    by_name: dict[tuple[str, ...], list[PhysicalScan]] = {}
    for index, scan in matched.items():
        if scan:
            for key in _keys(relations[index]):
                by_name.setdefault(key, []).append(scan)
    entries = []
    for index, relation in enumerate(relations):
        same = [scan for key in _keys(relation) for scan in by_name.get(key, ())]
        scan = matched[index] or _agreed(same) or _only_candidate(index, relations, scans, matched)
        facts = _facts(relation, scan, settings)
        if relation.is_stream and "paths" in facts:
            facts["is_stream"] = True
        of_command = plan.places.get(relation.table)
        if not facts and relation.table and of_command:
            facts = {**of_command, **table_facts(relation.table, settings)}
        # A scan without columns (COUNT) can be matched only if there is one relation.
        own = scans if len(relations) == 1 else _scans_with(relation, scans, reused)
        if not facts and any(each.is_cut for each in own):
            plan.problems[of_explained.CUT_LOCATION(node=relation.node)] = relation.node
        if facts and relation.output:
            entries.append({"node": relation.node, "expr_id": relation.output[0][0], "probed": facts})
        if relation.table and "delta_path" in facts:
            # Commands that change the table have no location in the text.
            for target in plan.targets:
                if ".".join(target["probed"].get("table") or ()) == relation.table:
                    target["probed"].setdefault("delta_path", facts["delta_path"])
    return entries


def _scans_with(
    relation: Relation, scans: Sequence[PhysicalScan], reused: Mapping[int, int]
) -> list[PhysicalScan]:
    """Return the scans that have columns of the relation."""
    ids = {expr_id for expr_id, _ in relation.output}
    ids |= {reused[expr_id] for expr_id in ids if expr_id in reused}
    return [scan for scan in scans if any(expr_id in ids for expr_id, _ in scan.columns)]


def _agreed(scans: Sequence[PhysicalScan]) -> PhysicalScan | None:
    """Return the first scan with a location, if all scans have the same one."""
    places = {(scan.paths, scan.index) for scan in scans if scan.paths}
    return next(scan for scan in scans if scan.paths) if len(places) == 1 else None


def _keys(relation: Relation) -> list[tuple[str, ...]]:
    """Return keys of the same relation throughout a query: its table, or its view with its columns."""
    names = tuple(name for _, name in relation.output)
    keys: list[tuple[str, ...]] = []
    if relation.table:
        keys.append(("table", relation.table))
    if relation.view:
        keys.append(("view", relation.view, relation.text, *names))
    return keys


def _only_candidate(
    index: int,
    relations: Sequence[Relation],
    scans: Sequence[PhysicalScan],
    matched: Mapping[int, PhysicalScan | None],
) -> PhysicalScan | None:
    """Return the scan with other ids that can only belong to this relation: the optimizer copies plans."""
    used_ids = {expr_id for scan in matched.values() if scan for expr_id, _ in scan.columns}
    free = [scan for scan in scans if not any(expr_id in used_ids for expr_id, _ in scan.columns)]
    relation = relations[index]
    candidates = [scan for scan in free if _may_be_of(scan, relation)]
    others = [
        other
        for position, other in enumerate(relations)
        if position != index and any(_may_be_of(scan, other) for scan in candidates)
    ]
    if any(not set(_keys(other)) & set(_keys(relation)) for other in others):
        return None
    return _agreed(candidates)


def _may_be_of(scan: PhysicalScan, relation: Relation) -> bool:
    """Return whether a scan's name and columns match a relation."""
    names = {name for _, name in relation.output}
    if not all(name in names for _, name in scan.columns):
        return False
    if relation.node == "DataSourceV2Relation":
        return relation.text.startswith(scan.relation.split(" ")[0])
    return scan.relation == f"{relation.text} {relation.table}".strip()


def _facts(relation: Relation, scan: PhysicalScan | None, settings: Mapping[str, str]) -> Facts:
    named = table_facts(relation.table, settings) if relation.table else {}
    if scan and scan.paths:
        if scan.index in _OF_DELTA_ITSELF:
            return {"delta_action": scan.index}
        if _DELTA_INDEX.search(scan.index):
            return {"delta_path": scan.paths[0], **named} if len(scan.paths) == 1 else {}
        return {
            "paths": list(scan.paths),
            "format": scan.format or relation.text,
            "is_stream": False,
            **named,
        }
    if relation.node == "DataSourceV2Relation":
        match = _FILE_TABLE.fullmatch(relation.text)
        if match:
            paths = list(split_paths(match[2])[0])
            # The name of such a table has the paths as the program gave them.
            return {given_fact(paths): paths, "format": match[1]}
        return v2_facts(relation.text, settings)
    return {}


def catalog_facts(catalog: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of an Iceberg catalog."""
    return {
        f"catalog_{key}": value
        for key in ("type", "catalog-impl", "warehouse", "uri")
        if (value := settings.get(f"spark.sql.catalog.{catalog}.{key}"))
    }


def v2_facts(text: str, settings: Mapping[str, str]) -> Facts:
    """Return the facts of a table of a V2 catalog, by the settings of the catalog: `lake.db.t lake.db.t`."""
    name = text.rsplit(" ", 1)[-1].rstrip(",")
    catalog, _, identifier = name.partition(".")
    prefix = f"spark.sql.catalog.{catalog}"
    implementation = settings.get(prefix, "")
    if not identifier or not implementation:
        return {}
    if implementation.endswith(".JDBCTableCatalog") and settings.get(f"{prefix}.url"):
        return {"url": settings[f"{prefix}.url"], "identifier": identifier}
    if ".iceberg." not in implementation:
        return {}
    facts = catalog_facts(catalog, settings)
    parts = identifier.replace("`", "").split(".")
    if _PART_OF_TABLE.fullmatch(parts[-1]):
        # A metadata table, a branch or a tag; it looks like a table of that name.
        return {}
    if facts.get("catalog_type") == "hadoop" and "catalog_warehouse" in facts:
        # A catalog of type `hadoop` has its tables in folders with their names.
        facts["iceberg_location"] = "/".join((facts["catalog_warehouse"].rstrip("/"), *parts))
    return {"v2_table": name, "v2_catalog": catalog, "identifier": identifier, **facts}


def add(place: NodeContext, facts: dict[str, Any]) -> None:
    """Add the facts of a command's target."""
    place.state.targets.append({"node": place.name, "expr_id": None, "probed": facts})


def command(place: NodeContext, **fields: Any) -> Built:
    """Return a command that moves no rows, without the nodes below it."""
    return Built([{**place.built([]).tree[0], "num-children": 0, **fields}], [])


def over_query(place: NodeContext, **fields: Any) -> Built:
    """Return a command with its query, which is its child or in a field."""
    if not place.children and place.inner:
        return place.built([], query=place.inner[-1].tree, **fields)
    return place.built([], **fields)


def session_table(place: NodeContext) -> dict[str, Any]:
    """Return the facts of the table that is the first argument of a command."""
    match = re.match(TABLE, place.text)
    return table_facts(match[1], place.state.settings) if match else {}


def resolved_facts(place: NodeContext) -> dict[str, Any]:
    """Return the facts of the table that a V2 command names; empty if the text does not have its catalog.

    Spark prints only the catalog's class, which is the value of a setting.
    """
    settings = place.state.settings
    plans = (*place.drawn.children, *place.drawn.inner)
    text = next((drawn.arguments for drawn in plans if drawn.name.startswith("Resolved")), "")
    match = _CATALOG.match(text)
    if not match:
        return {}
    catalogs = (
        [match["name"]]
        if match["name"]
        else [
            of_setting[1]
            for setting, value in settings.items()
            if value == match["class"] and (of_setting := _CATALOGS.fullmatch(setting))
        ]
    )
    if len(catalogs) != 1:
        return {}
    (catalog,), table = catalogs, match["table"]
    of_catalog = v2_facts(f"{catalog}.{table}", settings)
    return of_catalog or {"table_text": table, "catalog": catalog, **settings_facts(settings)}
