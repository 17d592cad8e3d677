"""Databases with their own Spark connector, named by the connector's relation or its options.

The classes are from the connectors' source code; each row uses few facts, because connectors change.
"""

from __future__ import annotations

import re
from typing import Callable, Dict, Mapping, Optional, Tuple
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.sources import databases
from airflow_provider_spark_lineage.sources.accessors import BY_CLASS
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Query
from airflow_provider_spark_lineage.sources.probe import read, write
from airflow_provider_spark_lineage.sources.source import Source

_COSMOS = ("spark.cosmos.accountendpoint", "spark.cosmos.database", "spark.cosmos.container")
_MONGO_URIS = (
    *("connection.uri", "spark.mongodb.connection.uri", "uri"),
    *("spark.mongodb.read.connection.uri", "spark.mongodb.write.connection.uri"),
    *("spark.mongodb.input.uri", "spark.mongodb.output.uri"),
)

OPTIONS = frozenset(
    (
        *("sfurl", "sfdatabase", "sfschema", "dbtable", "query"),
        *("dataset", "project", "parentproject", "table", "path"),
        *_COSMOS,
        *_MONGO_URIS,
        *("database", "collection"),
        *("keyspace", "spark.cassandra.connection.host", "spark.cassandra.connection.port"),
        *("es.nodes", "es.port", "es.resource", "es.resource.read", "es.resource.write", "resource"),
    )
)


class WarehouseFacts(Facts, total=False):
    """Facts of a relation of one of these connectors, mostly in `options`."""

    bigquery_table: str
    """`project.dataset.table`, or with a colon after the project."""

    keyspace: str
    """The keyspace of a Cassandra table."""

    cassandra_table: str
    """The name of a Cassandra table."""

    host: str
    """Cassandra's contact points, separated by commas."""

    port: str
    """Cassandra's port."""


_SERVER = {
    "host": "$session.sparkContext.conf.get('spark.cassandra.connection.host', 'localhost')",
    "port": "$session.sparkContext.conf.get('spark.cassandra.connection.port', '9042')",
}


def _cassandra_table(table: str) -> Mapping[str, str]:
    return {
        "keyspace": f"{table}.metadata.getKeyspace.asInternal",
        "cassandra_table": f"{table}.metadata.getName.asInternal",
        **_SERVER,
    }


PROBES = (
    *read(
        "LogicalRelation",
        {"options": "$options(relation.params.parameters)"},
        relation=("RedshiftRelation", "SnowflakeRelation"),
    ),
    *read("LogicalRelation", {"options": "$options(relation.parameters)"}, relation="ElasticsearchRelation"),
    *read(
        "LogicalRelation",
        {"bigquery_table": "relation.getTableName"},
        relation=("DirectBigQueryRelation", "BigQueryRelation"),
    ),
    *read(
        "LogicalRelation",
        relation="CassandraSourceRelation",
        accessors={
            "keyspace": "relation.tableRef.keyspace",
            "cassandra_table": "relation.tableRef.table",
            **_SERVER,
        },
    ),
    *read("DataSourceV2Relation", _cassandra_table("table"), of="table", relation="CassandraTable"),
    *write(
        ("AppendData", "OverwriteByExpression"),
        {**_cassandra_table("table.table"), **BY_CLASS},
        of="table.table",
        relation="CassandraTable",
    ),
)

_COSMOS_TABLE = "com.azure.cosmos.spark.items."


def _snowflake(facts: WarehouseFacts, options: Mapping[str, str]) -> Tuple[Identity, ...]:
    place = _account(options)
    text = options.get("dbtable", "")
    if place is None:
        return ()
    return (place.table(text) if text and not text.lstrip().startswith("(") else place.identity,)


def _account(options: Mapping[str, str]) -> Optional[databases.DatabaseAddress]:
    if not options.get("sfurl"):
        return None
    return databases.snowflake(options["sfurl"], options.get("sfdatabase", ""), options.get("sfschema", ""))


def _bigquery(facts: WarehouseFacts, options: Mapping[str, str]) -> Tuple[Identity, ...]:
    """Return `project.dataset.table`; older connectors write a colon after the project."""
    text = str(facts.get("bigquery_table") or "")
    if not text and "bigquery" in str(facts.get("relation_class") or facts.get("provider") or "").lower():
        text = options.get("table") or options.get("path") or ""
    parts = text.strip("`").replace(":", ".").split(".")
    if not parts[-1]:
        return ()
    outer = [options.get("project") or options.get("parentproject") or "", options.get("dataset") or ""]
    name = ".".join(part for part in (*outer[: max(0, 3 - len(parts))], *parts) if part)
    return (Identity(id=DatasetId("bigquery", name)),)


def _cosmos(facts: WarehouseFacts, options: Mapping[str, str]) -> Tuple[Identity, ...]:
    """Return a container in the namespace of its account's host and its database."""
    endpoint, database, container = (options.get(name, "") for name in _COSMOS)
    host = urlsplit(endpoint).hostname or ""
    table = str(facts.get("v2_table") or "")
    if not host and table.startswith(_COSMOS_TABLE):
        account, _, table_path = table[len(_COSMOS_TABLE) :].partition(".")
        database, _, container = table_path.partition(".")
        host = f"{account}.documents.azure.com"
    if not (host and database and container):
        return ()
    namespace = f"azurecosmos://{host}/dbs/{database}"
    return (Identity(id=DatasetId(namespace, f"colls/{container}")),)


def _mongo(facts: WarehouseFacts, options: Mapping[str, str]) -> Tuple[Identity, ...]:
    """Return a collection at `mongodb://host:27017`; a URI may name database and collection as well."""
    uri = next((options[name] for name in _MONGO_URIS if options.get(name, "").startswith("mongodb")), "")
    match = re.match(r"mongodb(?:\+srv)?://(?:[^@/]*@)?(?P<hosts>[^/?]+)(?:/(?P<path>[^?]*))?", uri)
    if match is None:
        return ()
    named = (match["path"] or "").partition(".")
    database = options.get("database") or named[0]
    collection = options.get("collection") or named[2]
    if not (database and collection):
        return ()
    host = match["hosts"].split(",")[0].lower()
    namespace = f"mongodb://{host}" if ":" in host or "+srv" in uri else f"mongodb://{host}:27017"
    return (Identity(id=DatasetId(namespace, f"{database}.{collection}")),)


def _cassandra(facts: WarehouseFacts, options: Mapping[str, str]) -> Tuple[Identity, ...]:
    keyspace = facts.get("keyspace") or options.get("keyspace")
    table = facts.get("cassandra_table") or (options.get("table") if options.get("keyspace") else "")
    if not (keyspace and table):
        return ()
    host = str(facts.get("host") or options.get("spark.cassandra.connection.host") or "localhost")
    port = str(facts.get("port") or options.get("spark.cassandra.connection.port") or "9042")
    first = host.split(",", maxsplit=1)[0].strip().lower()
    namespace = f"cassandra://{first}" if ":" in first else f"cassandra://{first}:{port}"
    return (Identity(id=DatasetId(namespace, f"{keyspace}.{table}")),)


def _elasticsearch(facts: WarehouseFacts, options: Mapping[str, str]) -> Tuple[Identity, ...]:
    names = ("es.resource.read", "es.resource.write", "es.resource", "resource")
    resource = next((options[name] for name in names if options.get(name)), "")
    # For a program's text, the relation's class is the name of the format.
    if not resource and re.search(r"^es$|elasticsearch", str(facts.get("relation_class") or "").lower()):
        resource = options.get("path", "")
    if not resource:
        return ()
    first = re.sub(r"^\w+://(?:[^@/]*@)?", "", (options.get("es.nodes") or "localhost").split(",")[0].strip())
    host = first.rstrip("/").lower()
    namespace = (
        f"elasticsearch://{host}"
        if ":" in host
        else f"elasticsearch://{host}:{options.get('es.port') or '9200'}"
    )
    # `index/type`: older versions have document types.
    return (Identity(id=DatasetId(namespace, resource.split("/")[0])),)


_ROWS: Tuple[Callable[[WarehouseFacts, Mapping[str, str]], Tuple[Identity, ...]], ...] = (
    _snowflake,
    _bigquery,
    _cosmos,
    _mongo,
    _cassandra,
    _elasticsearch,
)


def _options(facts: WarehouseFacts) -> Dict[str, str]:
    return {str(name).lower(): str(value) for name, value in (facts.get("options") or {}).items()}


class Warehouses(Source[WarehouseFacts]):
    """Databases with their own Spark connector."""

    probes = PROBES
    options = OPTIONS

    def identify(self) -> Tuple[Identity, ...]:
        """Return the table, index or container of the first connector that knows the facts."""
        options = _options(self.facts)
        return next((identities for row in _ROWS if (identities := row(self.facts, options))), ())

    def query(self) -> Optional[Query]:
        """Return the query that Snowflake ran instead of reading a table."""
        options = _options(self.facts)
        place = _account(options)
        text = options.get("query") or options.get("dbtable", "")
        inner = text.strip()
        if place is None or not (options.get("query") or inner.startswith("(")):
            return None
        if inner.startswith("(") and ")" in inner:
            inner = inner[1 : inner.rindex(")")]
        return Query(inner, place.kind.dialect, place.kind.fold, place.table, place.identity)
