"""Targets of the commands of a text: the tables that they name, and the facts of these tables."""

from __future__ import annotations

import re
from typing import Any

from airflow_provider_spark_lineage.plan.spark.explain.built import Built, NodeContext
from airflow_provider_spark_lineage.plan.spark.explain.facts import settings_facts, table_facts, v2_facts

TABLE = r"((?:`(?:[^`]|``)*`\.?)+)"
"""A table of the session's catalog, with every part of its name in backticks."""

_CATALOG = re.compile(r"(?:V2SessionCatalog\((?P<name>\w+)\)|(?P<class>[\w.$]+)@[0-9a-f]+), (?P<table>[^,]+)")
_CATALOGS = re.compile(r"spark\.sql\.catalog\.(\w+)")


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
