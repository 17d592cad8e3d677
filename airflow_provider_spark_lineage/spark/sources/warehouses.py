"""Databases with their own Spark connector, named by the connector's relation or its options.

The classes are from the connectors' source code; each source uses few facts, because connectors change.
"""

from __future__ import annotations

import re
from typing import Mapping, Optional, Tuple, cast
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.spark.sources import databases
from airflow_provider_spark_lineage.spark.sources.accessors import BY_CLASS
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Facts, Identity, Query
from airflow_provider_spark_lineage.spark.sources.probe import read, write
from airflow_provider_spark_lineage.spark.sources.source import F, Source


class Connector(Source[F]):
    """A relation of one of these connectors, known by its options."""

    def __init__(self, facts: F) -> None:
        super().__init__(facts)
        options = cast(Facts, facts).get("options") or {}
        self.given = {str(name).lower(): str(value) for name, value in options.items()}
        """The options, by their names in lower case."""

    def first_given(self, names: Tuple[str, ...]) -> str:
        """Return the value of the first of these options that is given; empty without one."""
        return next((self.given[name] for name in names if self.given.get(name)), "")


class Snowflake(Connector[Facts]):
    """Tables of Snowflake; for a query, the account."""

    probes = read(
        "LogicalRelation", {"options": "$options(relation.params.parameters)"}, relation="SnowflakeRelation"
    )
    options = frozenset(("sfurl", "sfdatabase", "sfschema", "dbtable", "query"))

    def identify(self) -> Tuple[Identity, ...]:
        """Return the table, or for a query the database."""
        place, text = self._place(), self.given.get("dbtable", "")
        if place is None:
            return ()
        return (place.table(text) if text and not text.lstrip().startswith("(") else place.identity,)

    def query(self) -> Optional[Query]:
        """Return the query that Snowflake ran instead of reading a table."""
        place = self._place()
        inner = (self.given.get("query") or self.given.get("dbtable", "")).strip()
        if place is None or not (self.given.get("query") or inner.startswith("(")):
            return None
        if inner.startswith("(") and ")" in inner:
            inner = inner[1 : inner.rindex(")")]
        return Query(inner, place.kind.dialect, place.kind.fold, place.table, place.identity)

    def _place(self) -> Optional[databases.DatabaseAddress]:
        url, database, schema = (self.given.get(name, "") for name in ("sfurl", "sfdatabase", "sfschema"))
        return databases.snowflake(url, database, schema) if url else None


class BigQueryFacts(Facts, total=False):
    """Facts of a table of BigQuery."""

    bigquery_table: str
    """`project.dataset.table`, or with a colon after the project."""


class BigQuery(Connector[BigQueryFacts]):
    """Tables of BigQuery."""

    probes = read(
        "LogicalRelation",
        {"bigquery_table": "relation.getTableName"},
        relation=("DirectBigQueryRelation", "BigQueryRelation"),
    )
    options = frozenset(("dataset", "project", "parentproject", "table", "path"))

    def identify(self) -> Tuple[Identity, ...]:
        """Return `project.dataset.table`; older connectors write a colon after the project."""
        facts, given = self.facts, self.given
        text = str(facts.get("bigquery_table") or "")
        if not text and "bigquery" in str(facts.get("relation_class") or facts.get("provider") or "").lower():
            text = self.first_given(("table", "path"))
        parts = text.strip("`").replace(":", ".").split(".")
        if not parts[-1]:
            return ()
        outer = [self.first_given(("project", "parentproject")), given.get("dataset") or ""]
        name = ".".join(part for part in (*outer[: max(0, 3 - len(parts))], *parts) if part)
        return (Identity(id=DatasetId("bigquery", name)),)


_COSMOS = ("spark.cosmos.accountendpoint", "spark.cosmos.database", "spark.cosmos.container")
_COSMOS_TABLE = "com.azure.cosmos.spark.items."


class Cosmos(Connector[Facts]):
    """Containers of Azure Cosmos DB."""

    options = frozenset(_COSMOS)

    def identify(self) -> Tuple[Identity, ...]:
        """Return a container in the namespace of its account's host and its database."""
        endpoint, database, container = (self.given.get(name, "") for name in _COSMOS)
        host = urlsplit(endpoint).hostname or ""
        table = str(self.facts.get("v2_table") or "")
        if not host and table.startswith(_COSMOS_TABLE):
            account, _, table_path = table[len(_COSMOS_TABLE) :].partition(".")
            database, _, container = table_path.partition(".")
            host = f"{account}.documents.azure.com"
        if not (host and database and container):
            return ()
        return (Identity(DatasetId(f"azurecosmos://{host}/dbs/{database}", f"colls/{container}")),)


_MONGO_URIS = """
connection.uri spark.mongodb.connection.uri uri spark.mongodb.read.connection.uri
spark.mongodb.write.connection.uri spark.mongodb.input.uri spark.mongodb.output.uri
""".split()


class Mongo(Connector[Facts]):
    """Collections of MongoDB."""

    options = frozenset((*_MONGO_URIS, "database", "collection"))

    def identify(self) -> Tuple[Identity, ...]:
        """Return a collection at `mongodb://host:27017`; a URI may name database and collection as well."""
        uris = (self.given.get(name, "") for name in _MONGO_URIS)
        uri = next((uri for uri in uris if uri.startswith("mongodb")), "")
        match = re.match(r"mongodb(?:\+srv)?://(?:[^@/]*@)?(?P<hosts>[^/?]+)(?:/(?P<path>[^?]*))?", uri)
        if match is None:
            return ()
        named = (match["path"] or "").partition(".")
        database = self.given.get("database") or named[0]
        collection = self.given.get("collection") or named[2]
        if not (database and collection):
            return ()
        host = match["hosts"].split(",")[0].lower()
        namespace = f"mongodb://{host}" if ":" in host or "+srv" in uri else f"mongodb://{host}:27017"
        return (Identity(id=DatasetId(namespace, f"{database}.{collection}")),)


class CassandraFacts(Facts, total=False):
    """Facts of a table of Cassandra."""

    keyspace: str
    """The keyspace of the table."""

    cassandra_table: str
    """The name of the table."""

    host: str
    """Contact points, separated by commas."""

    port: str
    """The port of the contact points."""


_CASSANDRA_SERVER = {
    "host": "$session.sparkContext.conf.get('spark.cassandra.connection.host', 'localhost')",
    "port": "$session.sparkContext.conf.get('spark.cassandra.connection.port', '9042')",
}


def _cassandra_table(table: str) -> Mapping[str, str]:
    return {
        "keyspace": f"{table}.metadata.getKeyspace.asInternal",
        "cassandra_table": f"{table}.metadata.getName.asInternal",
        **_CASSANDRA_SERVER,
    }


class Cassandra(Connector[CassandraFacts]):
    """Tables of Cassandra."""

    probes = (
        *read(
            "LogicalRelation",
            relation="CassandraSourceRelation",
            accessors={
                "keyspace": "relation.tableRef.keyspace",
                "cassandra_table": "relation.tableRef.table",
                **_CASSANDRA_SERVER,
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
    options = frozenset(
        ("keyspace", "table", "spark.cassandra.connection.host", "spark.cassandra.connection.port")
    )

    def identify(self) -> Tuple[Identity, ...]:
        """Return a table at the first contact point."""
        facts, given = self.facts, self.given
        keyspace = facts.get("keyspace") or given.get("keyspace")
        table = facts.get("cassandra_table") or (given.get("table") if given.get("keyspace") else "")
        if not (keyspace and table):
            return ()
        host = str(facts.get("host") or given.get("spark.cassandra.connection.host") or "localhost")
        port = facts.get("port") or given.get("spark.cassandra.connection.port") or "9042"
        first = host.split(",", maxsplit=1)[0].strip().lower()
        namespace = f"cassandra://{first}" if ":" in first else f"cassandra://{first}:{port}"
        return (Identity(id=DatasetId(namespace, f"{keyspace}.{table}")),)


_RESOURCES = ("es.resource.read", "es.resource.write", "es.resource", "resource")


class Elasticsearch(Connector[Facts]):
    """Indices of Elasticsearch."""

    probes = read(
        "LogicalRelation", {"options": "$options(relation.parameters)"}, relation="ElasticsearchRelation"
    )
    options = frozenset((*_RESOURCES, "es.nodes", "es.port", "path"))

    def identify(self) -> Tuple[Identity, ...]:
        """Return an index at the first node."""
        resource = self.first_given(_RESOURCES)
        # For a program's text, the relation's class is the name of the format.
        name = str(self.facts.get("relation_class") or "").lower()
        if not resource and re.search(r"^es$|elasticsearch", name):
            resource = self.given.get("path", "")
        if not resource:
            return ()
        nodes = self.given.get("es.nodes") or "localhost"
        first = re.sub(r"^\w+://(?:[^@/]*@)?", "", nodes.split(",")[0].strip())
        host = first.rstrip("/").lower()
        address = host if ":" in host else f"{host}:{self.given.get('es.port') or '9200'}"
        # `index/type`: older versions have document types.
        return (Identity(id=DatasetId(f"elasticsearch://{address}", resource.split("/")[0])),)
