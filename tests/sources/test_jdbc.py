"""Databases behind JDBC: named by the OpenLineage naming spec, and never by a credential."""

from __future__ import annotations

import pytest
from openlineage.client.naming.dataset import (
    DB2,
    BigQuery,
    CrateDB,
    DatasetNaming,
    MySQL,
    OceanBase,
    Oracle,
    Postgres,
    Redshift,
    Snowflake,
    Teradata,
    Trino,
)

from airflow_provider_spark_lineage.spark.sources import databases, identify, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Symlink


def named(naming: DatasetNaming) -> DatasetId:
    return DatasetId(naming.get_namespace(), naming.get_name())


def name(url: str, table: str, **options: str) -> DatasetId:
    (identity,) = identify({"url": url, "dbtable": table, "options": options})
    return identity.id


@pytest.mark.parametrize(
    ("url", "table", "expected"),
    [
        ("jdbc:postgresql://h/sales", "orders", Postgres("h", "5432", "sales", "public", "orders")),
        ("jdbc:postgresql://H:5433/sales", "raw.Orders", Postgres("h", "5433", "sales", "raw", "orders")),
        ("jdbc:postgresql:sales", '"Raw"."T"', Postgres("localhost", "5432", "sales", "Raw", "T")),
        ("jdbc:postgresql://h/d?currentSchema=raw,public", "t", Postgres("h", "5432", "d", "raw", "t")),
        ("jdbc:mysql://h/shop?useSSL=false", "orders", MySQL("h", "3306", "shop", "orders")),
        ("jdbc:mysql://h", "shop.orders", MySQL("h", "3306", "shop", "orders")),
        ("jdbc:mysql+srv:loadbalance://h:1/shop", "`a`.`b`", MySQL("h", "1", "a", "b")),
        ("jdbc:oracle:thin:@//h:1522/svc", "hr.emp", Oracle("h", "1522", "svc", "HR", "EMP")),
        ("jdbc:oracle:thin:@h:1521:orcl", '"hr".emp', Oracle("h", "1521", "orcl", "hr", "EMP")),
        (
            "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1))"
            "(CONNECT_DATA=(SERVICE_NAME=svc)))",
            "hr.emp",
            Oracle("h", "1", "svc", "HR", "EMP"),
        ),
        (
            "jdbc:redshift://c.abc123.eu-west-1.redshift.amazonaws.com:5439/db",
            "orders",
            Redshift("c", "eu-west-1", "5439", "db", "public", "orders"),
        ),
        (
            "jdbc:redshift:iam://wg.123.eu-west-1.redshift-serverless.amazonaws.com/db",
            "s.t",
            Redshift("wg", "eu-west-1", "5439", "db", "s", "t"),
        ),
        (
            "jdbc:snowflake://org-acc.snowflakecomputing.com/?db=d&schema=s&warehouse=w",
            "orders",
            Snowflake("org", "acc", "D", "S", "ORDERS"),
        ),
        ("jdbc:trino://h/cat/sch", "T", Trino("h", "443", "cat", "sch", "t")),
        ("jdbc:trino://h:8080/cat", "s.t", Trino("h", "8080", "cat", "s", "t")),
        ("jdbc:db2://h:1/db:currentSchema=s;", "t", DB2("h", "1", "db", "S", "T")),
        ("jdbc:db2://h/db", "s.t", DB2("h", "50000", "db", "S", "T")),
        ("jdbc:teradata://h/DATABASE=db,DBS_PORT=1026", "t", Teradata("h", "1026", "db", "t")),
        ("jdbc:teradata://h", "db.t", Teradata("h", "1025", "db", "t")),
        ("jdbc:crate://h/crate", "t", CrateDB("h", "5432", "crate", "doc", "t")),
        ("jdbc:oceanbase://h:2883/db", "t", OceanBase("h", "2883", "db", "t")),
        (
            "jdbc:bigquery://https://www.googleapis.com/bigquery/v2:443;ProjectId=p-1;OAuthType=0",
            "ds.t",
            BigQuery("p-1", "ds", "t"),
        ),
    ],
)
def test_table_is_named_by_the_naming_spec(url: str, table: str, expected: DatasetNaming) -> None:
    """A table has one name, however it is written: ports and schemas that are left out, case, quotes."""
    assert name(url, table) == named(expected)


@pytest.mark.parametrize(
    ("url", "table", "namespace", "expected"),
    [
        ("jdbc:postgresql://h1,h2:1/db", "t", "postgres://h1:5432,h2:1", "db.public.t"),
        ("jdbc:postgresql://[::1]/db", "t", "postgres://[::1]:5432", "db.public.t"),
        ("jdbc:postgresql://h/db", "other.public.t", "postgres://h:5432", "other.public.t"),
        ("jdbc:sqlserver://h;databaseName=db;encrypt=true", "orders", "sqlserver://h:1433", "db.dbo.orders"),
        ("jdbc:sqlserver://h\\inst;databaseName=db", "[a].[b]", "sqlserver://h/inst", "db.a.b"),
        ("jdbc:sqlserver://h:1444;database=db", "x..orders", "sqlserver://h:1444", "x.dbo.orders"),
        ("jdbc:jtds:sqlserver://h:1433/db", "orders", "sqlserver://h:1433", "db.dbo.orders"),
        ("jdbc:mariadb://h/db", "t", "mariadb://h:3306", "db.t"),
        ("jdbc:clickhouse://h/db", "t", "clickhouse://h:8123", "db.t"),
        ("jdbc:hive2://h/db;principal=x", "t", "hive://h:10000", "db.t"),
        (
            "jdbc:awsathena://Region=eu-west-1;",
            "db.t",
            "awsathena://athena.eu-west-1.amazonaws.com",
            "awsdatacatalog.db.t",
        ),
        ("jdbc:h2:mem:x;USER=sa", "orders", "h2:mem:x", "PUBLIC.ORDERS"),
        ("jdbc:h2:file:/a/b;DB_CLOSE_DELAY=-1", "s.orders", "h2:file:/a/b", "S.ORDERS"),
        ("jdbc:h2:tcp://h/~/b", "orders", "h2://h:9092/~/b", "PUBLIC.ORDERS"),
        ("jdbc:sqlite:/a/b.db", "orders", "sqlite:/a/b.db", "orders"),
        ("jdbc:derby:memory:lineage;create=true", '"app"."target"', "derby:memory:lineage", "app.target"),
        ("jdbc:derby://h/db;create=true", "t", "derby://h:1527/db", "APP.T"),
        ("jdbc:nosuch://h:1/db?x=y", "s.t", "nosuch://h:1", "db.s.t"),
        ("jdbc:nosuch:thing", "t", "nosuch:thing", "t"),
    ],
)
def test_table_of_a_database_outside_the_spec(url: str, table: str, namespace: str, expected: str) -> None:
    """A database outside the spec is named alike: its address, and the table in it."""
    assert name(url, table) == DatasetId(namespace, expected)


def test_properties_complete_the_url() -> None:
    """A database may be given as an option of the read, and the URL goes first."""
    assert name("jdbc:sqlserver://h", "t", databasename="db").name == "db.dbo.t"
    assert name("jdbc:sqlserver://h;databaseName=a", "t", databasename="db").name == "a.dbo.t"
    assert name("jdbc:sqlserver://", "t", servername="h", portnumber="1").namespace == "sqlserver://h:1"


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://me:hunter2@h/db?user=me&password=hunter2",
        "jdbc:mysql://me:hunter2@h/db?user=me&password=hunter2",
        "jdbc:sqlserver://h;databaseName=db;user=me;password=hunter2",
        "jdbc:oracle:thin:me/hunter2@h:1521/db",
        "jdbc:snowflake://org-a.snowflakecomputing.com/?user=me&password=hunter2&db=d",
        "jdbc:h2:mem:x;USER=me;PASSWORD=hunter2",
        "jdbc:derby:x;user=me;password=hunter2",
        "jdbc:sqlite:/x?password=hunter2",
        "jdbc:teradata://h/DATABASE=db,USER=me,PASSWORD=hunter2",
        "jdbc:redshift://me:hunter2@h/db",
        "jdbc:db2://h/db:user=me;password=hunter2;",
        "jdbc:trino://me:hunter2@h/a/b?password=hunter2",
        "jdbc:nosuch://me:hunter2@h/db;password=hunter2",
        "jdbc:nosuch:x;password=hunter2",
    ],
)
def test_no_credential_becomes_a_name(url: str) -> None:
    """Only hosts, database and schema of a URL are used, whatever else it has."""
    for table in ("t", "(select a from t) x"):
        (identity,) = identify({"url": url, "dbtable": table})
        text = str(identity)
        assert "hunter2" not in text
        assert "me:" not in text.replace("name:", "")


def test_a_table_of_sparks_catalog_is_a_symlink() -> None:
    """A table that is declared in Spark over one of a database has both names."""
    (identity,) = identify(
        {
            "url": "jdbc:postgresql://h/db",
            "dbtable": "t",
            "table": ["spark_catalog", "default", "pg_t"],
            "warehouse": "file:/warehouse",
        }
    )
    assert identity.id.name == "db.public.t"
    assert identity.symlinks == (Symlink("file:/warehouse", "default.pg_t"),)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("(select a from t) x", "select a from t"),
        ("(SELECT * FROM (select 1) y) SPARK_GEN_SUBQ_0", "SELECT * FROM (select 1) y"),
        ("f(1)", "select * from f(1)"),
        ("a join b on a.x = b.x", "select * from a join b on a.x = b.x"),
    ],
)
def test_any_text_but_a_table_name_is_a_query(text: str, query: str) -> None:
    """JDBC takes everything that FROM allows; anything but a name is SQL, in its database's dialect."""
    read = source_of({"url": "jdbc:postgresql://h/db", "dbtable": text}).query()
    assert read is not None
    assert (read.text, read.dialect, read.fold) == (query, "postgres", "lower")
    assert read.identify('raw."T"').id == DatasetId("postgres://h:5432", "db.raw.T")
    assert read.database.id == DatasetId("postgres://h:5432", "db")


@pytest.mark.parametrize(
    ("options", "dialect"),
    [
        ({"url": "jdbc:mariadb://h/db"}, "mysql"),
        ({"url": "jdbc:derby:memory:x"}, ""),
        ({"sfurl": "a.snowflakecomputing.com"}, "snowflake"),
        ({"url": "jdbc:informix://h/db"}, None),
        ({"url": "https://h"}, None),
        ({}, None),
    ],
)
def test_options_give_the_sql_dialect_of_a_database(options: dict[str, str], dialect: str | None) -> None:
    """A database that is not in the table has no SQL that is known, one of the standard's has."""
    assert databases.dialect_of(options) == dialect


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("t", "select * from t where (a > 1) or (b = 2)"),
        ("(select a, b from t) x", "select * from (select a, b from t) x where (a > 1) or (b = 2)"),
    ],
)
def test_predicates_that_a_read_is_divided_by_take_some_rows(text: str, query: str) -> None:
    """Each part is the rows of one predicate; where a column divides the read, all rows are read."""
    facts = {
        "url": "jdbc:postgresql://h/db",
        "dbtable": text,
        "predicates": ["a > 1", "b = 2", "a > 1"],
    }
    parsed = source_of(facts).query()
    assert parsed is not None
    assert parsed.text == query
    divided = source_of({**facts, "partition_column": '"a"'}).query()
    assert divided is None or " where " not in divided.text


@pytest.mark.parametrize("text", ["orders", "s.orders", "orders o", "s.orders as o", '"a b"."c"', " orders "])
def test_a_table_is_not_a_query(text: str) -> None:
    """A table with an alias is a table."""
    assert source_of({"url": "jdbc:postgresql://h/db", "dbtable": text}).query() is None


def test_a_query_prepared_before_it_belongs_to_it() -> None:
    """Spark's `prepareQuery` holds the WITH that a database does not take inside of a subquery."""
    facts = {
        "url": "jdbc:sqlserver://h",
        "dbtable": "(select a from c) x",
        "prepare": "with c as (select a from t)",
    }
    query = source_of(facts).query()
    assert query is not None
    assert query.text == "with c as (select a from t) select a from c"


def test_a_write_names_its_table_by_options() -> None:
    """Facts of a save have options alone."""
    (identity,) = identify({"options": {"url": "jdbc:mysql://h/shop", "dbtable": "orders"}, "mode": "Append"})
    assert identity.id == DatasetId("mysql://h:3306", "shop.orders")


IN_CATALOG = {
    "url": "jdbc:h2:mem:shop",
    "options": {"url": "jdbc:h2:mem:shop", "dbtable": "__invalid_dbtable"},
    "identifier": "app.orders",
}
"""Facts of a command on a table of a JDBC catalog."""


@pytest.mark.parametrize(
    ("identifier", "name"),
    [("app.orders", "app.orders"), ("app.`Made Here`", "app.Made Here"), ("`a.b`.`c``d`", "a.b.c`d")],
)
def test_a_command_on_a_catalog_names_the_table_of_the_database(identifier: str, name: str) -> None:
    """Spark quotes such names, so they stay as they are written, also where the database folds others."""
    (identity,) = identify({**IN_CATALOG, "identifier": identifier})
    assert identity.id == DatasetId("h2:mem:shop", name)
    (read,) = identify({"url": IN_CATALOG["url"], "dbtable": '"app"."orders"'})
    assert identify(IN_CATALOG)[0].id == read.id


@pytest.mark.parametrize(
    ("new", "name"), [(["newer"], "app.newer"), (["app", "newer"], "app.newer"), (["x.y"], "app.x.y")]
)
def test_a_renamed_table_has_its_new_name_and_its_old_one_beside(new: list[str], name: str) -> None:
    """A new name without a schema stays in the old one; nothing else was called something before."""
    facts = {**IN_CATALOG, "new_name": new}
    (identity,) = identify(facts)
    assert identity.id == DatasetId("h2:mem:shop", name)
    assert source_of(facts).previous() == (DatasetId("h2:mem:shop", "app.orders"),)
    assert source_of(IN_CATALOG).previous() == ()


def test_facts_of_something_else_are_not_taken() -> None:
    """A relation without a JDBC URL belongs to another source."""
    assert source_of({"paths": ["/x"]}).query() is None
    assert identify({"options": {"url": "http://h/x", "dbtable": "t"}}) == ()
