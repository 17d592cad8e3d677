"""Tables of a Hive metastore, embedded in Derby: Hive's own formats, partitions, files moved into a table."""

from __future__ import annotations

import json

import pytest
from live_session import start_spark
from records.record_cases import without_sizes

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hive")


@pytest.fixture(scope="module")
def spark(folder):
    metastore = f"jdbc:derby:;databaseName={folder}/metastore;create=true"
    spark = start_spark(
        folder,
        **{
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
            "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        },
    )
    # Derby writes its log into the working directory, unless it has another setting before it starts.
    spark._jvm.java.lang.System.setProperty("derby.stream.error.file", f"{folder}/derby.log")
    fields = "row format delimited fields terminated by ','"
    spark.sql(f"create table texts (id int, name string) {fields}")
    spark.sql("insert into texts values (1, 'a'), (2, 'b')")
    spark.sql(f"create table parts (id int, name string) partitioned by (p string) {fields}")
    spark.sql("insert into parts partition (p = 'x') values (1, 'a')")
    spark.range(3).selectExpr("concat(id, ',z') as value").coalesce(1).write.text(str(folder / "arrived"))
    yield spark
    # The metastore is let go of, so that another session of this process may have its own.
    spark.stop()


@pytest.fixture
def lineage(recorded, folder):
    """Run statements; return the readable lineage of them together, without sizes."""

    def run(spark, *statements):
        with recorded() as records:
            for statement in statements:
                spark.sql(statement)
        assert [problem for record in records for problem in record.problems] == []
        plain = json.dumps([record.to_json() for record in records])
        records = [Record.from_json(document) for document in json.loads(plain, object_hook=without_sizes)]
        text = render(compose(execution.lineage for execution in executions(records)))
        return text.replace(str(folder), "").splitlines()

    return run


def test_insert_into_a_table_of_hives_own_format(spark, lineage):
    """The serde's table is named by its location, and read with the columns of its partitions."""
    assert lineage(spark, "insert into texts select id + 1, name from parts where p = 'x'") == [
        "reads   file /warehouse/parts   id int, name string, p string   rows=1",
        "writes  file /warehouse/texts   append   rows=1 files=1",
        "id   <- parts.id      direct    transformation",
        "name <- parts.name    direct    identity",
        "*    <- parts.p       indirect  filter",
    ]


def test_partitions_are_overwritten_and_the_rest_stays(spark, lineage):
    """One partition named, one made of the rows: earlier rows of the table are read with them."""
    composed = lineage(
        spark,
        "insert overwrite table parts partition (p = 'y') select id, name from texts",
        "insert overwrite table parts partition (p) select id, name, concat('z', name) from texts",
        "create table copy using parquet as select id from parts",
    )
    # How many of the rows of the first one the second left is not known.
    assert "writes  file /warehouse/parts   overwrite" in composed
    assert "p    <- texts.name    direct    transformation" in composed
    copied = composed[composed.index("to      file /warehouse/copy") :][1:5]
    assert copied == [
        "id <- parts.id      direct    identity",
        "id <- texts.id      direct    identity",
        "*  <- parts.p       indirect  filter",
        "*  <- texts.name    indirect  filter",
    ]


@pytest.mark.parametrize("how", ["stored as orc", "stored as textfile", "using parquet"])
def test_table_as_select_is_one_execution(spark, lineage, how):
    """The command and the insert inside, of Hive's own or of Spark's writer."""
    name = "made_" + how.split()[-1]
    statement = "create table NAME as select name as n from parts where p = 'x'"
    assert lineage(spark, statement.replace("NAME", f"{name} {how}")) == [
        "reads   file /warehouse/parts   id int, name string, p string   rows=1",
        f"writes  file /warehouse/{name}   create   rows=1 files=1",
        "n <- parts.name    direct    identity",
        "* <- parts.p       indirect  filter",
    ]


def test_loaded_files_are_the_table_s_origin(spark, lineage, folder):
    """LOAD DATA moves a folder's files into one partition: every column but the partition's is theirs."""
    spark.sql("create table loads like parts")
    statements = (
        "load data local inpath 'FOLDER/arrived' overwrite into table loads partition (p = 'l')",
        "insert overwrite local directory 'FOLDER/exported' select name, p from loads",
    )
    assert lineage(spark, *(statement.replace("FOLDER", str(folder)) for statement in statements)) == [
        "reads   file /arrived   id int, name string",
        "reads   file /warehouse/loads   id int, name string, p string   rows=3",
        "writes  file /exported   overwrite   rows=3 files=1",
        "writes  file /warehouse/loads   overwrite",
        "to      file /exported",
        "name <- arrived.name    direct    identity",
        "name <- loads.name      direct    identity",
        "p    <- loads.p         direct    identity",
        "to      file /warehouse/loads",
        "p    <- (no field)",
        "id   <- arrived.id      direct    identity",
        "name <- arrived.name    direct    identity",
    ]


def test_definitions_are_outputs(spark, lineage):
    """Tables made, renamed, emptied and dropped; a partition is a change of its table."""
    spark.sql("create table old (id int) stored as orc")
    composed = lineage(
        spark,
        "create table if not exists texts (id int)",
        "create table fresh like texts",
        "alter table old rename to new",
        "alter table parts drop partition (p = 'x')",
        "truncate table texts",
        "create view seen as select id from texts",
        "drop table fresh",
    )
    assert composed == [
        "reads   file /warehouse/texts   id int, name string",
        "writes  file /warehouse/new   rename of /warehouse/old",
        "writes  file /warehouse/parts   alter",
        "writes  file /warehouse/texts   truncate",
        "writes  file:/warehouse default.seen   create",
        "to      file:/warehouse default.seen",
        "id <- texts.id    direct    identity",
    ]


def test_several_inserts_of_one_scan(spark, lineage):
    """FROM ... INSERT ... INSERT: each target has its own filter."""
    spark.sql("create table low (id int) stored as orc")
    spark.sql("create table high (id int) stored as orc")
    composed = lineage(
        spark,
        "from parts insert into low select id where id <= 1"
        " insert overwrite table high select id where name = 'b'",
    )
    low, high = composed.index("to      file /warehouse/low"), composed.index("to      file /warehouse/high")
    assert composed[high + 1 : low] == [
        "id <- parts.id      direct    identity",
        "*  <- parts.name    indirect  filter",
    ]
    assert composed[low + 1 :] == [
        "id <- parts.id    direct    identity",
        "*  <- parts.id    indirect  filter",
    ]


def test_analyze_reads(spark, lineage):
    """Statistics are counted from the rows, and nothing is written."""
    statement = "analyze table parts compute statistics for columns id"
    assert lineage(spark, statement) == ["reads   file /warehouse/parts   id int, name string, p string"]


@pytest.mark.parametrize("how", ["using parquet", "stored as orc", "row format delimited"])
def test_a_directory_is_written_by_hives_catalog(spark, folder, how):
    """INSERT OVERWRITE DIRECTORY in a session with Hive: the place has no name in the catalog."""
    place = folder / how.split()[-1]
    with capture_lineage(spark) as captured:
        spark.sql(f"insert overwrite directory '{place}' {how} select * from texts")  # noqa: S608
    (output,) = captured.lineage.outputs
    assert output.dataset.id.name == str(place)
    assert output.dataset.identity.catalog.type == "hive"
    assert output.dataset.identity.symlinks == ()


def test_each_directory_of_several_inserts_is_named(spark, folder):
    """FROM ... INSERT OVERWRITE DIRECTORY ... INSERT OVERWRITE DIRECTORY: two outputs, and no gap."""
    low, high = folder / "several" / "low", folder / "several" / "high"
    with capture_lineage(spark) as captured:
        spark.sql(
            f"from texts insert overwrite directory '{low}' using parquet select *"
            f" insert overwrite directory '{high}' using parquet select *"
        )
    assert {output.dataset.id.name for output in captured.lineage.outputs} == {str(low), str(high)}
    assert {output.dataset.identity.catalog.type for output in captured.lineage.outputs} == {"hive"}
    assert captured.lineage.gaps == ()


def test_the_metastore_is_known_wherever_its_address_was_given(spark, folder):
    """To the builder it may be given without `spark.hadoop.`: the context's settings don't have it then."""
    # Nothing listens there: the catalog that was opened before is asked, only the address is read again.
    spark._jsparkSession.sharedState().hadoopConf().set("hive.metastore.uris", "thrift://meta:9083")
    try:
        with capture_lineage(spark) as captured:
            spark.table("texts").collect()
    finally:
        spark._jsparkSession.sharedState().hadoopConf().unset("hive.metastore.uris")
    (read,) = captured.lineage.inputs
    assert [str(link.namespace) for link in read.dataset.identity.symlinks] == ["hive://meta:9083"]
