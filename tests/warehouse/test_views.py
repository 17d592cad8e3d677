"""Views over the tables of a warehouse, in DuckDB and, live, in Spark SQL."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from click.testing import CliRunner
from graph.estate import NAMESPACE, dataset, edges, run
from warehouse.histories import history
from warehouse.plain_tables import plain_warehouse

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.warehouse.engines import ENGINES, statements, views
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES
from airflow_provider_spark_lineage.openlineage.warehouse.views import VIEWS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "warehouse.md"
EVENTS = ROOT / "tests" / "viewer" / "events" / "pipeline.jsonl.gz"

BOTH = "account_id metastore_id workspace_id entity_type entity_id entity_run_id".split()
SIDE = "{0}_table_full_name {0}_table_catalog {0}_table_schema {0}_table_name {0}_path {0}_type"
LAST = "created_by event_time event_date record_id event_id statement_id entity_metadata".split()
SOURCE, TARGET = SIDE.format("source").split(), SIDE.format("target").split()

DATABRICKS = {
    "table_lineage": [*BOTH, *SOURCE, *TARGET, *LAST],
    "column_lineage": [*BOTH, *SOURCE, "source_column_name", *TARGET, "target_column_name", *LAST],
}
"""Columns of `system.access.table_lineage` and `column_lineage`, as docs.databricks.com has them."""

UPSTREAM = """
SELECT DISTINCT source_table_full_name, source_type, MAX(event_time) AS last_updated
FROM access.table_lineage WHERE target_table_full_name = 'shop.gold.customers'
GROUP BY source_table_full_name, source_type ORDER BY last_updated DESC
"""
DOWNSTREAM = """
SELECT DISTINCT target_table_full_name, target_type, MAX(event_time) AS last_updated
FROM access.table_lineage WHERE source_table_full_name = 'shop.bronze.orders'
GROUP BY target_table_full_name, target_type ORDER BY last_updated DESC
"""
CHAIN = """
WITH RECURSIVE lineage AS (
  SELECT source_table_full_name, target_table_full_name, 1 AS depth
  FROM access.table_lineage WHERE target_table_full_name = 'shop.gold.customers'
  UNION ALL
  SELECT t.source_table_full_name, t.target_table_full_name, l.depth + 1
  FROM access.table_lineage t JOIN lineage l ON t.target_table_full_name = l.source_table_full_name
  WHERE l.depth < 10
)
SELECT DISTINCT * FROM lineage ORDER BY depth
"""
MOST = """
SELECT target_table_full_name, COUNT(DISTINCT source_table_full_name) AS upstream_count
FROM access.table_lineage WHERE event_time >= current_date() - 3650
GROUP BY target_table_full_name ORDER BY upstream_count DESC LIMIT 20
"""
IMPACT = """
SELECT DISTINCT target_table_full_name, target_column_name
FROM access.column_lineage
WHERE source_table_full_name = 'shop.bronze.orders' AND source_column_name = 'email'
"""

SILVER, GOLD, BRONZE = "shop.silver.orders", "shop.gold.customers", "shop.bronze.orders"
PUBLISHED = [
    pytest.param(UPSTREAM, [(SILVER, "TABLE")], id="upstream"),
    pytest.param(DOWNSTREAM, [(SILVER, "TABLE")], id="downstream"),
    pytest.param(CHAIN, [(SILVER, GOLD, 1), (BRONZE, SILVER, 2), (None, BRONZE, 3)], id="chain"),
    pytest.param(MOST, [(SILVER, 1), (GOLD, 1), (BRONZE, 0), (None, 1)], id="most"),
    pytest.param(IMPACT, [(SILVER, "email")], id="impact"),
]
"""Queries that Databricks publishes (databricks-solutions/ai-dev-kit, `5-system-tables.md`), with their rows.
The names of tables are ours, `system.access` is `access`, and 90 days are ten years."""


def named(name: str, *columns: str, table: str) -> dict[str, Any]:
    """Return a path with a symlink, as Spark's events have a table of a catalog."""
    identifiers = [{"namespace": "hive", "name": table, "type": "TABLE"}]
    return dataset(name, "id email", **edges(*columns), symlinks={"identifiers": identifiers})


SHOP = [
    run("shop.load", [dataset("in/orders")], [
        named("b/orders", "email <- in/orders.e", table=BRONZE)
    ], hour=1),
    run("shop.clean", [named("b/orders", table=BRONZE)], [
        named("s/orders", "email <- b/orders.email", "* <- b/orders.id INDIRECT FILTER", table=SILVER)
    ], hour=2),
    # This job knows the name of its source only.
    run("shop.sum", [{"namespace": "hive", "name": SILVER}], [
        named("g/customers", "id <- s/orders.email DIRECT AGGREGATION masked", table=GOLD)
    ], hour=3),
    run("mail.send", [named("g/customers", table=GOLD)], hour=4),
]  # fmt: skip


def in_duckdb(path: Path) -> duckdb.DuckDBPyConnection:
    database = duckdb.connect()
    for statement in statements(path, "duckdb"):
        database.execute(statement)
    return database


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return plain_warehouse(tmp_path_factory.mktemp("shop") / "w", SHOP)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    documents = [json.loads(line) for line in gzip.decompress(EVENTS.read_bytes()).splitlines()]
    return plain_warehouse(tmp_path_factory.mktemp("pipeline") / "w", documents)


@pytest.mark.parametrize("view", DATABRICKS)
def test_the_columns_are_those_of_databricks_in_their_order(shop, view):
    """Queries of its users name them, or take all; ours follow."""
    columns = [each[0] for each in in_duckdb(shop).execute(f"SELECT * FROM access.{view}").description]  # noqa: S608
    ours = ["transformation_type", "transformation_subtype", "masking"]
    assert columns == DATABRICKS[view] + (ours if view == "column_lineage" else [])


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_the_page_lists_the_columns_that_a_view_has(shop, view):
    """The reference is made of the rows, so they must be right."""
    found = in_duckdb(shop).execute(f"SELECT * FROM {view.name}").description  # noqa: S608
    assert [each[0] for each in found] == [name for name, _ in view.columns]


@pytest.mark.parametrize(("query", "rows"), PUBLISHED)
def test_a_published_query_answers(shop, query, rows):
    """A path has the name that a symlink gives it, and a job that knows the name only is connected."""
    assert [row[: len(rows[0])] for row in ordered(in_duckdb(shop).execute(query).fetchall())] == ordered(
        rows
    )


def ordered(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


def test_rows_of_a_run_that_only_read_and_of_one_that_only_wrote(tmp_path):
    """Databricks has a row for each, with nothing at the other side."""
    path = plain_warehouse(tmp_path / "w", [run("a", [dataset("x")]), run("b", [], [dataset("y")])])
    rows = in_duckdb(path).execute("SELECT source_path, source_type, target_path FROM access.table_lineage")
    assert set(rows.fetchall()) == {(None, None, f"{NAMESPACE}/y"), (f"{NAMESPACE}/x", "PATH", None)}


def test_a_name_is_that_of_the_time_of_the_run(tmp_path):
    """A table that moved: its former folder keeps the name for the runs of before, and loses it then."""
    moved = [
        run("a", [], [named("old", table="db.t")], day=1),
        run("b", [], [named("new", table="db.t")], day=3),
        run("c", [dataset("old")], [], day=4),
        run("c", [{"namespace": "hive", "name": "db.t"}], [], day=2),
        run("c", [{"namespace": "hive", "name": "db.t"}], [], day=5),
    ]
    rows = in_duckdb(plain_warehouse(tmp_path / "w", moved)).execute(
        "SELECT run_id, name, table_full_name FROM run_datasets"
    )
    assert ordered(rows.fetchall()) == [
        ("a-1-6", "old", "db.t"),
        ("b-3-6", "new", "db.t"),
        ("c-2-6", "old", "db.t"),
        ("c-4-6", "old", None),
        ("c-5-6", "new", "db.t"),
    ]


def test_a_table_of_a_catalog_in_a_folder_has_its_name_and_its_path(pipeline):
    """The namespace of its symlink is the folder of the catalog."""
    names = in_duckdb(pipeline).execute(
        "SELECT DISTINCT target_table_full_name, target_path FROM access.column_lineage"
        " WHERE target_path LIKE '%/delays_by_%'"
    )
    assert {(name, path.rpartition("/")[2]) for name, path in names.fetchall()} == {
        ("gold.delays_by_weather", "delays_by_weather"),
        (None, "delays_by_carrier"),
    }


def test_health_and_freshness(tmp_path):
    """Times are between writes and between first and end event; a drop is not a write."""
    check = {"assertions": [{"assertion": "rows", "success": False}]}
    events = [
        run("a", [dataset("x")], [dataset("y")], day=day, hour=hour, state=state, id=f"a{day}")
        for day, length in ((1, 1), (2, 5), (4, 2))
        for hour, state in ((1, "START"), (1 + length, "COMPLETE"))
    ]
    drop = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}
    events += [
        run("a", [dataset("x")], [], day=5, state="FAIL"),
        run("b", [], [dataset("z", **drop)], day=6),
        run("c", [dataset("y", dataQualityAssertions=check)], [], day=3),
    ]
    database = in_duckdb(plain_warehouse(tmp_path / "w", events))
    assert database.execute("SELECT name, writes, median_seconds, is_late FROM freshness").fetchall() == [
        ("y", 3, 28 * 3600, True)
    ]
    health = "SELECT name, last_state, runs, failures_30_days, p50_seconds, p95_seconds FROM job_health"
    assert ordered(database.execute(health).fetchall()) == [
        ("a", "fail", 4, 0, 7200, 18000),
        ("b", "complete", 1, 0, 0, 0),
        ("c", "complete", 1, 0, 0, 0),
    ]
    assert ordered(database.execute("SELECT name, kind FROM orphans").fetchall()) == [
        ("x", "external"),
        ("y", "unread"),
    ]
    [result] = database.execute("SELECT name, check_name, status, job_name FROM check_results").fetchall()
    assert result == ("y", "rows", "failed", "c")


def test_the_command_prints_a_database_of_duckdb(shop, tmp_path):
    """It is for a pipe into `duckdb lineage.db`; tables that have no rows are there, too."""
    done = CliRunner().invoke(main, ["warehouse", "views", "--warehouse", str(shop)])
    assert done.exit_code == 0, done.output
    with duckdb.connect(str(tmp_path / "lineage.db")) as database:
        database.execute(done.output)
    with duckdb.connect(str(tmp_path / "lineage.db")) as database:
        assert database.execute("SELECT count(*) FROM access.column_lineage").fetchall() == [(4,)]
        assert database.execute("SELECT * FROM assertions").fetchall() == []
        tables = {
            row[0]
            for row in database.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        }
    assert tables >= {*TABLES, *(name.rpartition(".")[2] for name in VIEWS)}


def test_a_folder_without_a_warehouse_is_one_sentence(tmp_path):
    """It says what makes one."""
    done = CliRunner().invoke(main, ["warehouse", "views", "--warehouse", str(tmp_path / "none")])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "`spark-lineage warehouse load` makes one" in done.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_statements_are_sql_of_their_engine(shop, engine):
    """Trino is not run by a test, so that the parser must know each of its statements."""
    for statement in statements(shop, engine):
        if not statement.startswith("CALL"):
            assert sqlglot.parse(statement, read=engine)[0], statement


# ---- recipes of the page ---------------------------------------------------------------------------------


def recipes() -> dict[str, str]:
    """Return the queries of the page for the columns downstream of one, by the engine that the page names."""
    found = re.findall(
        r"```sql\n-- (.*?)\n(WITH RECURSIVE.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    return dict(found)


def downstream_in_the_graph() -> set[tuple[str, str | None]]:
    """Return the columns downstream of the one in the page, by walking the edges of the graph."""
    edges_of_all = [
        (edge.source[1], edge.field, write.output[1], edge.column)
        for write in Current.of(read_events(EVENTS)).writes
        for edge in write.edges
    ]
    found: set[tuple[str, str | None]] = {("/data/bronze/weather", "precip")}
    while more := {
        (target, column)
        for source, field, target, column in edges_of_all
        if ((source, field) in found or (source, None) in found) and (target, column) not in found
    }:
        found |= more
    return found - {("/data/bronze/weather", "precip")}


def test_the_recipe_for_duckdb_is_the_graphs_answer(pipeline):
    """A user copies the text of the page."""
    rows = in_duckdb(pipeline).execute(recipes()["DuckDB"]).fetchall()
    assert {(name, column) for _, name, column, _ in rows} == downstream_in_the_graph()


def test_the_recipe_for_trino_is_parsed():
    """No Trino installs by pip: the page says that it was not run."""
    assert sqlglot.parse_one(recipes()["Spark 4.1 and newer, Trino"], read="trino")
    assert "not run" in " ".join(PAGE.read_text(encoding="utf-8").split())


# ---- Spark ------------------------------------------------------------------------------------------------


@pytest.fixture
def spark(shared):
    """A session without the temporary views of other tests."""
    return shared.newSession()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    from spark_sessions import started

    conf = {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "2"}
    place = tmp_path_factory.mktemp("tables")
    metastore = f"jdbc:derby:;databaseName={place}/metastore;create=true"
    conf |= {
        "spark.sql.warehouse.dir": str(place),
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
    }
    spark = started("views", conf)
    yield spark
    spark.stop()


@pytest.mark.spark
def test_spark_has_the_rows_of_duckdb(spark, tmp_path):
    """Each view is written once, for all engines; ages differ by the seconds between two queries."""
    path = plain_warehouse(tmp_path / "w [1] {b}", history(2))
    database = in_duckdb(path)
    views(spark, path)
    for view in VIEWS.values():
        columns = [
            f'"{name}"'
            for name, _ in view.columns
            if name not in ("age_seconds", "unread_days", "entity_metadata")
        ]
        expected = database.execute(f"SELECT {', '.join(columns)} FROM {view.name}").fetchall()  # noqa: S608
        found = spark.table(view.name.rpartition(".")[2]).select(*(each.strip('"') for each in columns))
        assert ordered([of_row(row) for row in found.collect()]) == ordered([of_row(row) for row in expected])
        assert expected


def of_row(row: Any) -> tuple[Any, ...]:
    return tuple(each.timestamp() if hasattr(each, "timestamp") else each for each in row)


@pytest.mark.spark
def test_published_queries_and_the_recipe_in_spark(spark, shop, pipeline):
    """The printed statements make views that stay; their schema is `access`."""
    for statement in statements(shop, "spark"):
        spark.sql(statement)
    for parameters in PUBLISHED:
        query, rows = parameters.values
        # Spark has recursion since 4.1.
        if parameters.id != "chain" or spark.version >= "4.1":
            assert ordered([tuple(row)[: len(rows[0])] for row in spark.sql(query).collect()]) == ordered(
                rows
            )
    views(spark, pipeline)
    if spark.version >= "4.1":
        rows = spark.sql(recipes()["Spark 4.1 and newer, Trino"]).collect()
        assert {(row["name"], row["column_name"]) for row in rows} == downstream_in_the_graph()
