"""Databases with connectors of their own, named on the facts that their classes give."""

from __future__ import annotations

import pytest
from openlineage.client.naming.dataset import (
    AzureCosmosDB,
    BigQuery,
    Cassandra,
    DatasetNaming,
    Redshift,
    Snowflake,
)

from airflow_provider_spark_lineage.spark.sources import identify, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Facts

SNOWFLAKE = {"sfurl": "https://org-acc.snowflakecomputing.com", "sfdatabase": "db", "sfschema": "sch"}
COSMOS = {
    "spark.cosmos.accountendpoint": "https://acc.documents.azure.com:443/",
    "spark.cosmos.database": "shop",
    "spark.cosmos.container": "orders",
}
REDSHIFT = "jdbc:redshift://c.abc123.eu-west-1.redshift.amazonaws.com/db?user=me&password=***"
ES = {"es.nodes": "https://me:pw@Search:9201,other", "es.resource": "orders/doc"}
MONGO = "mongodb://me:pw@h:27018/shop.orders?x=y"
BIGQUERY = "com.google.cloud.spark.bigquery.BigQueryRelationProvider"


def named(naming: DatasetNaming) -> DatasetId:
    return DatasetId(naming.get_namespace(), naming.get_name())


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (
            {"options": {**SNOWFLAKE, "dbtable": "orders"}},
            named(Snowflake("org", "acc", "DB", "SCH", "ORDERS")),
        ),
        (
            {"options": {**SNOWFLAKE, "dbtable": 'other."Orders"'}},
            named(Snowflake("org", "acc", "DB", "OTHER", "Orders")),
        ),
        ({"bigquery_table": "p.ds.t"}, named(BigQuery("p", "ds", "t"))),
        ({"bigquery_table": "p:ds.t"}, named(BigQuery("p", "ds", "t"))),
        (
            {"relation_class": BIGQUERY, "options": {"path": "ds.t", "parentproject": "p"}},
            named(BigQuery("p", "ds", "t")),
        ),
        (
            {"relation_class": BIGQUERY, "options": {"table": "t", "dataset": "ds", "project": "p"}},
            named(BigQuery("p", "ds", "t")),
        ),
        (
            {"options": {"url": REDSHIFT, "dbtable": "s.t"}, "relation_class": "x.DefaultSource"},
            named(Redshift("c", "eu-west-1", "5439", "db", "s", "t")),
        ),
        ({"options": COSMOS}, named(AzureCosmosDB("acc.documents.azure.com", "shop", "orders"))),
        (
            {"v2_table": "com.azure.cosmos.spark.items.acc.shop.orders", "provider": "x.ItemsTable"},
            named(AzureCosmosDB("acc.documents.azure.com", "shop", "orders")),
        ),
        (
            {"keyspace": "shop", "cassandra_table": "orders", "host": "one,two", "port": "9042"},
            named(Cassandra("one", "9042", "shop", "orders")),
        ),
        (
            {"options": {"keyspace": "shop", "table": "orders"}, "relation_class": "x.DefaultSource"},
            named(Cassandra("localhost", "9042", "shop", "orders")),
        ),
        ({"options": {"connection.uri": MONGO}}, DatasetId("mongodb://h:27018", "shop.orders")),
        (
            {"options": {"connection.uri": "mongodb://h", "database": "d", "collection": "c"}},
            DatasetId("mongodb://h:27017", "d.c"),
        ),
        ({"options": ES}, DatasetId("elasticsearch://search:9201", "orders")),
        ({"options": {"es.resource": "logs"}}, DatasetId("elasticsearch://localhost:9200", "logs")),
    ],
)
def test_table_of_a_connector(facts: Facts, expected: DatasetId) -> None:
    """A connector's table has the name that any other way to it gives."""
    (identity,) = identify(facts)
    assert identity.id == expected
    assert identity.known
    assert "pw" not in str(identity)
    assert "me:" not in str(identity).replace("name:", "")


@pytest.mark.parametrize(
    "options",
    [
        {**SNOWFLAKE, "query": "select a from t"},
        {**SNOWFLAKE, "dbtable": "(select a from t)"},
        {"url": REDSHIFT, "query": "select a from t"},
    ],
)
def test_a_query_is_read(options: dict[str, str]) -> None:
    """A query in place of a table is SQL in the warehouse's own dialect."""
    query = source_of({"options": options}).query()
    assert query is not None
    assert query.text == "select a from t"
    assert query.identify("t").id.name.lower().endswith(".t")


@pytest.mark.parametrize(
    ("facts", "namespace", "name"),
    [
        (
            {"relation_class": "com.acme.Table", "options": {"database": "d", "table": "t"}},
            "Table",
            "d.t",
        ),
        (
            {"relation_class": "com.acme.Table", "options": {"url": "http://me:pw@h/x?key=1"}},
            "Table",
            "http://h/x",
        ),
        (
            {"relation_class": "com.acme.Table", "options": {"path": "index/type"}},
            "Table",
            "index/type",
        ),
        (
            {"relation_class": "com.acme.DefaultSource"},
            "com.acme",
            "com.acme.DefaultSource",
        ),
        (
            {"provider": "com.acme.Table", "v2_table": "d.t", "v2_catalog": "c", "options": {"path": "/x"}},
            "c",
            "d.t",
        ),
    ],
)
def test_an_unknown_source_is_named_by_its_facts(facts: Facts, namespace: str, name: str) -> None:
    """The best available name, and a gap that no source knows it."""
    (identity,) = identify(facts)
    assert (identity.id, identity.known) == (DatasetId(namespace, name), False)


_ACME = {"relation_class": "com.acme.Table"}


@pytest.mark.parametrize(
    ("facts", "namespace", "name"),
    [
        ({"options": {"path": "/x/y"}}, "file", "/x/y"),
        ({"options": {"path": "/x/y"}, "file_system": "hdfs://nn:8020"}, "hdfs://nn:8020", "/x/y"),
        ({"options": {"path": "s3a://key:pw@b/x/part=1"}}, "s3://b", "x"),
        ({"kept_at": "file:/x/a%20b", "kept_by": "EXTERNAL"}, "file", "/x/a b"),
        ({"kept_at": "file:/warehouse/t", "kept_by": "MANAGED"}, "Table", "com.acme.Table"),
    ],
)
def test_an_unknown_source_of_files_is_named_by_their_place(facts: Facts, namespace: str, name: str) -> None:
    """The name that others give the same files; at best a guess, with a gap."""
    (identity,) = identify({**_ACME, **facts})
    assert (identity.id, identity.known) == (DatasetId(namespace, name), False)
