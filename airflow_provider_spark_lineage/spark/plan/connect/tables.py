"""Facts of a table from DESCRIBE TABLE EXTENDED, depending on its catalog and its provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.spark.plan.spark.explain.facts import catalog_facts, settings_facts

Described = Mapping[str, Any]
"""Description by `capture.connect.tables`: `columns`, `partition_columns`, and rows such as `location`."""

Facts = dict[str, Any]

FILES = frozenset({"avro", "binaryfile", "csv", "json", "libsvm", "orc", "parquet", "text", "xml"})
"""Formats that store their rows in the folder they are written to."""

_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


def parts_of(name: str) -> list[str]:
    """Return the parts of a name in SQL."""
    return [quoted.replace("``", "`") or plain.strip() for quoted, plain in _PART.findall(name)]


def is_described(table: Described | None) -> bool:
    """Return whether the catalog has the table."""
    return bool(table and (table.get("columns") or table.get("location") or table.get("type")))


def name_of(table: Described) -> list[str]:
    """Return catalog, namespace and name of a table."""
    if table.get("name"):
        return parts_of(str(table["name"]))
    return [str(table.get("catalog") or "spark_catalog"), str(table["database"]), str(table["table"])]


def is_v1(table: Described) -> bool:
    """Return whether the session's own catalog describes the table, as it does for all except V2 tables."""
    return "table" in table and "database" in table and str(table.get("provider")).lower() != "iceberg"


def facts_of(table: Described, settings: Mapping[str, str]) -> Facts:
    """Return the facts that `sources` name a table by."""
    provider = str(table.get("provider") or "").lower()
    name = name_of(table)
    of_session = settings_facts(settings)
    location = table.get("location")
    if provider == "delta":
        facts: Facts = {"delta_path": location, "table": name, "table_type": table.get("type"), **of_session}
    elif provider == "iceberg":
        facts = {
            "iceberg_location": location,
            "iceberg_kind": "BaseTable",
            "v2_table": ".".join(name),
            "v2_catalog": name[0],
            "identifier": ".".join(name[1:]),
            **catalog_facts(name[0], settings),
        }
    elif is_v1(table):
        if str(table.get("type")) == "VIEW":
            facts = {"view": name, "table_type": "VIEW", **of_session}
        else:
            facts = {"table": name, "table_type": table.get("type"), **of_session}
            if provider == "hive" or provider in FILES:
                facts |= {"paths": location, "format": table.get("serde") if provider == "hive" else provider}
            else:
                facts |= _of_source(provider, table.get("options") or {})
    else:
        facts = {"v2_table": ".".join(name), "v2_catalog": name[0], "provider": provider}
    return {key: value for key, value in facts.items() if value is not None}


def _of_source(provider: str, options: Mapping[str, str]) -> Facts:
    """Return the facts of a table in the session's catalog with its rows in another system."""
    if provider == "jdbc":
        # Spark hides a URL that may have a password.
        of_database = {name: options[name] for name in ("url", "dbtable") if options.get(name)}
        return {**of_database, "options": dict(options)} if "url" in of_database else {}
    return {"relation_class": provider, "options": dict(options)}
