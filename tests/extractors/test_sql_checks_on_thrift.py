"""Checks over a Spark Thrift server: a table has the name that a Spark job gives it, by its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag
from gap_kinds import gap_kinds
from providers import import_of_service
from servers.thrift import thrift

from airflow_provider_spark_lineage.testing import tail

pytestmark = pytest.mark.airflow

EXTRACTOR = "airflow_provider_spark_lineage.extractors.checks.SqlCheckExtractor"

SETTINGS = {
    "SET spark.sql.warehouse.dir": [("spark.sql.warehouse.dir", "s3a://lake/warehouse")],
    "SET spark.sql.catalogImplementation": [("spark.sql.catalogImplementation", "hive")],
    "SET spark.hadoop.hive.metastore.uris": [("spark.hadoop.hive.metastore.uris", "<undefined>")],
    "SET hive.metastore.uris": [("hive.metastore.uris", "thrift://meta:9083")],
}
COLUMNS = [("id", "int", None), ("Location", "string", None), ("", "", "")]


def details(*rows: tuple[str, str]) -> list[tuple[str, str | None, str | None]]:
    """Rows as Spark 4.1.4 returns them, after those of the columns."""
    return [*COLUMNS, ("# Detailed Table Information", "", ""), *((*row, "") for row in rows)]


NAME = [("Catalog", "spark_catalog"), ("Database", "shop"), ("Table", "orders")]
DESCRIPTIONS = {
    "parquet": details(
        *NAME, ("Type", "MANAGED"), ("Provider", "parquet"), ("Location", "s3a://lake/shop/orders")
    ),
    "hive": details(
        *NAME,
        ("Provider", "hive"),
        ("Location", "hdfs://nn:8020/shop/a b"),
        ("Serde Library", "org.apache.hadoop.hive.ql.io.orc.OrcSerde"),
    ),
    "delta": details(
        ("Name", "spark_catalog.shop.orders"), ("Location", "s3a://lake/d"), ("Provider", "delta")
    ),
    "view": details(*NAME, ("Type", "VIEW"), ("View Text", "select 1")),
    "of Hive": [
        ("# col_name            ", "data_type", "comment"),
        ("# Detailed Table Information", None, None),
        ("Database:           ", "shop", None),
        ("Location:           ", "hdfs://nn:8020/shop/orders", None),
    ],
}
NAMES = {
    "parquet": ("s3://lake", "shop/orders"),
    "hive": ("hdfs://nn:8020", "/shop/a b"),
    "delta": ("s3://lake", "d"),
    "view": ("hive://meta:9083", "shop.orders"),
    "of Hive": ("hdfs://nn:8020", "/shop/orders"),
}


class Server:
    """A connection, its cursor and a hook, with recorded answers."""

    conn_type = "hiveserver2"
    conn_name_attr = "conn"
    conn = "server"

    def __init__(self, answers: dict[str, list[Any]]) -> None:
        self.answers = answers
        self.statements: list[str] = []

    def get_connection(self, _: str) -> Any:
        from airflow.sdk import Connection

        return Connection(conn_id="server", conn_type="hiveserver2", host="here", schema="sales")

    def get_conn(self) -> Server:
        return self

    def cursor(self) -> Server:
        return self

    def close(self) -> None:
        pass

    def execute(self, statement: str) -> None:
        self.statements.append(statement)
        if statement not in self.answers:
            raise ValueError("TABLE_OR_VIEW_NOT_FOUND")

    def fetchall(self) -> list[Any]:
        return self.answers[self.statements[-1]]


def operator_with(server: Server, name: str, **arguments: Any) -> Any:
    from airflow.providers.common.sql.operators import sql

    operator = getattr(sql, name)(task_id="t", **arguments)
    vars(operator)["_hook"] = server
    return operator


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Ask the server as the task's process does, then name the tables as the provider's child does."""
    from airflow_provider_spark_lineage.airflow.checks.checked_tables import (
        checked_tables,
        described_tables,
    )
    from airflow_provider_spark_lineage.airflow.task.process import TASK

    def ask(operator: Any) -> Any:
        monkeypatch.setattr(TASK, "described", described_tables(operator))
        return checked_tables(operator)

    return ask


@pytest.mark.parametrize("kind", DESCRIPTIONS)
def test_a_table_has_the_name_of_its_files(checked, kind):
    """Spark's descriptions and Hive's; a column may be called like a property; a view has no files."""
    server = Server({**SETTINGS, "DESCRIBE FORMATTED `shop`.`orders`": DESCRIPTIONS[kind]})
    mapping = {"id": {"min": {"geq_to": 0}}}
    operator = operator_with(server, "SQLColumnCheckOperator", table="shop.orders", column_mapping=mapping)
    lineage = checked(operator)
    [read] = lineage.inputs
    assert (tuple(read.dataset.id), lineage.gaps) == (NAMES[kind], ())
    if kind in ("parquet", "hive"):
        [link] = read.dataset.identity.symlinks
        assert tuple(link.id) == ("hive://meta:9083", "shop.orders")


def test_each_table_of_a_statement_is_asked_for_once(checked):
    """Without a database it is in that of the connection; one that is not described has a gap."""
    describe = "DESCRIBE FORMATTED `sales`.`orders`"
    server = Server({**SETTINGS, describe: DESCRIPTIONS["parquet"]})
    sql = "SELECT count(*) FROM orders a JOIN orders b USING (id) JOIN shop.gone USING (id);"
    lineage = checked(operator_with(server, "SQLCheckOperator", sql=sql))
    assert [each for each in server.statements if each.startswith("DESCRIBE")] == [
        describe,
        "DESCRIBE FORMATTED `shop`.`gone`",
    ]
    assert {tuple(read.dataset.id) for read in lineage.inputs} == {
        ("s3://lake", "shop/orders"),
        ("hive://here:10000", "shop.gone"),
    }
    assert gap_kinds(lineage) == ["unknown_location"]


def test_no_other_server_is_asked(checked):
    """Its hook names its tables, and a description has another form."""
    server = Server({})
    server.conn_type = "postgres"
    assert checked(operator_with(server, "SQLCheckOperator", sql="SELECT 1 FROM orders")) is None
    assert server.statements == []


@pytest.mark.spark
def test_checks_over_a_server_name_the_tables_as_spark_does(tmp_path):
    """Asked after `execute`, whether the check passed or failed; a table that is missing is not named."""
    hive = import_of_service("pyhive.hive")
    import_of_service("airflow.providers.apache.hive.hooks.hive")
    with thrift(tmp_path) as port:
        connection = hive.connect(host="127.0.0.1", port=port, auth="NOSASL", username="tests")
        cursor = connection.cursor()
        for statement in (
            "CREATE DATABASE shop",
            "CREATE TABLE shop.orders USING parquet AS SELECT 1 AS id, 10 AS amount",
            f"CREATE TABLE shop.placed USING parquet LOCATION '{tmp_path}/a place'"
            " AS SELECT 1 AS id, 5 AS amount",
            "CREATE VIEW shop.seen AS SELECT * FROM shop.orders",
        ):
            cursor.execute(statement)
        connection.close()
        server = {"conn_type": "hiveserver2", "host": "127.0.0.1", "port": port, "login": "tests"}
        run = run_dag(
            Path(__file__).parent / "dags" / "checks_on_thrift.py",
            home=tmp_path / "airflow",
            settings={
                "AIRFLOW__OPENLINEAGE__EXTRACTORS": EXTRACTOR,
                "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
                "AIRFLOW_CONN_SERVER": json.dumps({**server, "extra": {"auth_mechanism": "NOSASL"}}),
            },
        )
    failed = ("fails", "missing")
    passed = ("passes", "elsewhere", "view", "statement")
    assert run.tasks == {**dict.fromkeys(failed, "failed"), **dict.fromkeys(passed, "success")}, tail(
        run.log, 60
    )
    found = {
        event.name.partition(".")[2]: [
            (
                read["namespace"],
                read["name"],
                [
                    (each["assertion"], each["success"])
                    for each in read.get("inputFacets", {})
                    .get("dataQualityAssertions", {})
                    .get("assertions", [])
                ],
            )
            for read in event.document["inputs"]
        ]
        for event in run.read().items
        if event.name.count(".") == 1 and event.type in ("complete", "fail")
    }
    orders, placed = f"{tmp_path}/warehouse/shop.db/orders", f"{tmp_path}/a place"
    assert found == {
        "passes": [("file", orders, [("min", True)])],
        "fails": [("file", orders, [("min", False)])],
        "elsewhere": [("file", placed, [("min", True)])],
        "view": [(f"file:{tmp_path}/warehouse", "shop.seen", [("min", True)])],
        "missing": [],
        "statement": [("file", orders, []), ("file", placed, [])],
    }
