"""JDBC with a real database at the other end: its datasets, read and written, and their names."""

from __future__ import annotations

import json
import sqlite3

import pytest
from live_session import start_spark
from servers.postgres import postgres
from spark_packages import need

from airflow_provider_spark_lineage import capture_lineage

pytestmark = pytest.mark.spark

need("postgresql", "h2", "sqlite")

SECRET = "hunter2planted"  # noqa: S105
CATALOG = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"


@pytest.fixture(scope="module")
def url():
    with postgres() as url:
        yield url


@pytest.fixture(scope="module")
def spark(url, tmp_path_factory):
    """A session with PostgreSQL as a catalog, too."""
    catalog = {"": CATALOG, ".url": url, ".driver": "org.postgresql.Driver", ".password": SECRET}
    conf = {f"spark.sql.catalog.pg{key}": value for key, value in catalog.items()}
    spark = start_spark(tmp_path_factory.mktemp("spark"), **conf)
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def people(spark, tmp_path_factory):
    """Files whose rows the tests bring to databases."""
    path = str(tmp_path_factory.mktemp("data") / "people")
    spark.sql("select id, concat('n', id) as name, cast(id * 10 as int) as age from range(5)").coalesce(
        1
    ).write.parquet(path)
    return path


@pytest.fixture(scope="module")
def driver():
    return {"driver": "org.postgresql.Driver", "password": SECRET}


@pytest.fixture(scope="module")
def read(spark, url, people, driver):
    """Read by JDBC from PostgreSQL, which has a table `public.people`."""
    spark.read.parquet(people).write.jdbc(url, "people", properties=driver)
    return lambda **options: spark.read.format("jdbc").options(url=url, **driver, **options).load()


def server(url):
    """Return the namespace of the tables behind a URL."""
    return "postgres://" + url.split("//")[1].split("/")[0]


def text_of(captured, url, tmp_path):
    """Return the lineage as text without parts that differ between two runs."""
    text = captured.text().replace(server(url), "postgres://server").replace(str(tmp_path), "/out")
    return [" ".join(line.split()) for line in text.splitlines()]


@pytest.mark.parametrize("dbtable", ["people", "public.people", '"public"."people"', "People p"])
def test_a_table_has_one_name_however_it_is_written(spark, url, read, tmp_path, dbtable):
    """Database, schema and table, from the URL where the read leaves them out, and rows are counted."""
    with capture_lineage(spark) as captured:
        frame = read(dbtable=dbtable)
        frame.filter("age > 10").select("name").write.parquet(str(tmp_path / "out"))
    assert captured.run().lineage.gaps == ()
    (read,) = captured.run().lineage.inputs
    assert (read.dataset.id.namespace, read.dataset.id.name) == (server(url), "postgres.public.people")
    assert read.statistics.rows == 3
    assert [(field.name, field.type) for field in read.dataset.fields] == [
        ("id", "bigint"),
        ("name", "string"),
        ("age", "int"),
    ]


@pytest.mark.usefixtures("read")
def test_a_read_divided_by_a_column_is_of_the_whole_table(spark, url, driver, tmp_path):
    """The division of a read does not change the dataset, and it leaves out no row."""
    with capture_lineage(spark) as captured:
        spark.read.jdbc(url, "people", "age", 0, 40, 2, properties=driver).select("id").write.parquet(
            str(tmp_path / "out")
        )
    assert [line for line in text_of(captured, url, tmp_path) if "<-" in line] == [
        "id <- postgres.public.people.id direct identity",
    ]


@pytest.mark.usefixtures("read")
@pytest.mark.parametrize("table", ["people", "(select * from people) p"])
def test_predicates_of_a_read_choose_its_rows(spark, url, driver, tmp_path, table):
    """Their columns are FILTER edges, and none of their text is kept."""
    predicates = ["age < 30 and name <> 'nobody'", "id = 2"]
    with capture_lineage(spark) as captured:
        some = spark.read.jdbc(url, table, predicates=predicates, properties=driver)
        some.select("id").write.parquet(str(tmp_path / "out"))
    run = captured.run()
    assert run.lineage.gaps == ()
    assert [line for line in text_of(captured, url, tmp_path) if "<-" in line] == [
        "id <- postgres.public.people.id direct identity",
        "* <- postgres.public.people.age indirect filter",
        "* <- postgres.public.people.id indirect filter",
        "* <- postgres.public.people.name indirect filter",
    ]
    written = [json.dumps(record.to_json()) for record in captured.records([])]
    assert written
    assert not any("nobody" in text for text in written)


@pytest.mark.parametrize("option", ["query", "dbtable"])
def test_columns_are_traced_through_a_query(spark, url, read, tmp_path, option):
    """The datasets are the tables inside the query; its tests and groupings are edges, too."""
    query = """
        with grown as (select * from people where age > 18 and name <> 'n0' /* it's nobody */)
        select upper(g.name) as name, count(p.id) as others from grown g join public.people p on p.id <> g.id
        group by g.name
    """
    with capture_lineage(spark) as captured:
        value = query if option == "query" else f"({query}) q"
        read(**{option: value}).write.parquet(str(tmp_path / "out"))
    assert text_of(captured, url, tmp_path) == [
        "reads postgres://server postgres.public.people age, name, id",
        "writes file /out/out create rows=3 bytes="
        + str(captured.run().lineage.outputs[0].statistics.size_bytes)
        + " files=1",
        "name <- postgres.public.people.name direct transformation",
        "others <- postgres.public.people.id direct aggregation masking",
        "* <- postgres.public.people.age indirect filter",
        "* <- postgres.public.people.id indirect join",
        "* <- postgres.public.people.name indirect filter",
        "* <- postgres.public.people.name indirect group_by",
    ]


def test_rows_are_counted_for_the_table_that_they_were_read_from(spark, read, people, tmp_path):
    """A table beside files has its own count; the rows of a query are counted for none of its tables."""
    files = spark.read.parquet(people).select("id")
    with capture_lineage(spark) as captured:
        read(dbtable="people").filter("age >= 30").join(files, "id").write.parquet(str(tmp_path / "out"))
    rows = {source.dataset.id.name: source.statistics.rows for source in captured.run().lineage.inputs}
    assert rows == {"postgres.public.people": 2, people: 5}
    with capture_lineage(spark) as captured:
        read(query="select id from people").join(files, "id").write.parquet(str(tmp_path / "again"))
    rows = {source.dataset.id.name: source.statistics.rows for source in captured.run().lineage.inputs}
    assert rows == {"postgres.public.people": None, people: 5}


def test_a_query_that_cannot_be_read_leaves_its_database(spark, url, read, driver, tmp_path):
    """SQL that PostgreSQL accepts and the parser does not is a gap, not a guess."""
    query = "select name from people where xmlexists('//a' passing xmlparse(document '<a/>'))"
    with capture_lineage(spark) as captured:
        read(query=query).write.parquet(str(tmp_path / "out"))
    (read,) = captured.run().lineage.inputs
    assert (read.dataset.id.namespace, read.dataset.id.name) == (server(url), "postgres")
    (gap,) = captured.run().lineage.gaps
    assert gap.kind.value == "unread_text"


def test_every_way_to_write_names_the_same_table(spark, url, driver, people):
    """`write.jdbc`, `format("jdbc")`, INSERT into a table of Spark's over it, and a catalog's `writeTo`."""
    frame = spark.read.parquet(people)
    frame.limit(0).write.jdbc(url, "written", properties=driver)
    spark.sql(
        f"create table over_written using jdbc options (url '{url}', dbtable 'written', "
        "driver 'org.postgresql.Driver')"
    )
    ways = {
        "jdbc": lambda: frame.write.mode("append").jdbc(url, "Written", properties=driver),
        "format": lambda: (
            frame.write.format("jdbc")
            .options(url=url, dbtable="public.written", **driver)
            .mode("append")
            .save()
        ),
        "insert": lambda: frame.write.insertInto("over_written"),
        "catalog": lambda: frame.writeTo("pg.public.written").append(),
        "sql": lambda: spark.sql("insert into pg.public.written select * from pg.public.written"),
    }
    for way, write in ways.items():
        with capture_lineage(spark) as captured:
            write()
        (output,) = captured.run().lineage.outputs
        assert (output.dataset.id.namespace, output.dataset.id.name) == (
            server(url),
            "postgres.public.written",
        ), way
        assert output.mode.value == "append", way
        assert {edge.column for edge in output.edges} == {"id", "name", "age"}, way
        assert captured.run().lineage.gaps == (), way


def test_a_table_that_the_task_wrote_and_read_back_is_traced_through(spark, url, driver, people, tmp_path):
    """CREATE TABLE AS in a database, read again by JDBC: columns come from where the task got them."""
    with capture_lineage(spark) as captured:
        spark.read.parquet(people).createOrReplaceTempView("files")
        spark.sql("create table pg.public.between as select upper(name) as called, age from files")
        spark.read.jdbc(url, "between", properties=driver).write.parquet(str(tmp_path / "out"))
    (end,) = [output for output in captured.run().lineage.outputs if output.dataset.id.namespace == "file"]
    assert {(edge.source.name, edge.field, edge.column) for edge in end.edges} == {
        (people, "name", "called"),
        (people, "age", "age"),
    }
    assert [source.dataset.id.name for source in captured.run().lineage.inputs] == [people]


def test_no_credential_is_written_down(spark, url, read, driver, tmp_path):
    """A password in the URL, in an option or in the catalog's settings is in no byte of records or events."""
    with capture_lineage(spark) as captured:
        secret_url = f"{url}&password={SECRET}"
        spark.read.jdbc(secret_url, "people", properties=driver).write.mode("append").jdbc(
            secret_url, "written", properties=driver
        )
        spark.table("pg.public.people").write.parquet(str(tmp_path / "out"))
    records = "".join(json.dumps(record.to_json()) for record in captured.records([]))
    assert records
    text = captured.text() + repr(captured.run().lineage) + repr(captured.events(namespace="t", job="t"))
    assert SECRET not in text + records
    assert "user=tests" not in text


def test_h2(spark, people, tmp_path):
    """A database in memory is named by its URL, names without quotes are upper case."""
    url, driver = "jdbc:h2:mem:tests;DB_CLOSE_DELAY=-1", {"driver": "org.h2.Driver"}
    with capture_lineage(spark) as captured:
        spark.read.parquet(people).write.jdbc(url, "people", properties=driver)
        spark.read.jdbc(
            url, '(select "name", "age" + 1 as older from people) q', properties=driver
        ).write.parquet(str(tmp_path / "out"))
    assert captured.run().lineage.gaps == ()
    ids = {(output.dataset.id.namespace, output.dataset.id.name) for output in captured.run().lineage.outputs}
    assert ids == {("h2:mem:tests", "PUBLIC.PEOPLE"), ("file", f"{tmp_path}/out")}
    (end,) = [output for output in captured.run().lineage.outputs if output.dataset.id.namespace == "file"]
    assert {(edge.source.name, edge.field, edge.column, edge.kind.name) for edge in end.edges} == {
        (people, "name", "name", "IDENTITY"),
        (people, "age", "OLDER", "TRANSFORMATION"),
    }


def test_sqlite(spark, tmp_path):
    """A database in a file is named by that file."""
    file = tmp_path / "tests.db"
    with sqlite3.connect(file) as connection:
        connection.execute("create table people (id integer, name text)")
        connection.execute("insert into people values (1, 'ann')")
    connection.close()
    with capture_lineage(spark) as captured:
        frame = spark.read.jdbc(f"jdbc:sqlite:{file}", "people", properties={"driver": "org.sqlite.JDBC"})
        frame.write.parquet(str(tmp_path / "out"))
    (read,) = captured.run().lineage.inputs
    assert (read.dataset.id.namespace, read.dataset.id.name) == (f"sqlite:{file}", "people")
    assert read.statistics.rows == 1
