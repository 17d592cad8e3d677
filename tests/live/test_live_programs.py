"""Programs beyond plain reads and writes of tables: their datasets are named all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_provider_spark_lineage import capture_lineage

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def numbers(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("data") / "numbers")
    spark.range(4).selectExpr("id", "double(id) as x").coalesce(1).write.parquet(path)
    return path


def names(datasets):
    return [(each.dataset.id.namespace, each.dataset.id.name) for each in datasets]


@pytest.mark.parametrize("older", [True, False])
def test_a_dataset_that_the_program_makes_folder_by_folder_is_no_input(spark, numbers, tmp_path, older):
    """Its rows are those of the folders, unless another folder was there before."""
    made, out = str(tmp_path / "made"), str(tmp_path / "out")
    if older:
        spark.range(1).selectExpr("id", "double(id) as x").write.parquet(f"{made}/day=0")
    with capture_lineage(spark) as captured:
        for day in (1, 2):
            spark.read.parquet(numbers).write.mode("overwrite").parquet(f"{made}/day={day}")
        spark.read.parquet(made).select("x").write.parquet(out)
    sources = {numbers, made} if older else {numbers}
    assert {name for _, name in names(captured.lineage.inputs)} == sources
    read = next(output for output in captured.lineage.outputs if output.dataset.id.name == out)
    assert {edge.source.name for edge in read.edges} == sources


def test_a_statement_that_only_reads_has_inputs(spark, numbers):
    """Rows that a program fetches or walks through are read, whichever method does it; nothing is written."""
    frame = spark.read.parquet(numbers)
    reads = {
        "collect": frame.collect,
        "toPandas": frame.toPandas,
        "toLocalIterator": lambda: list(frame.toLocalIterator()),
        "foreach": lambda: frame.foreach(lambda row: None),
        "foreachPartition": lambda: frame.foreachPartition(lambda rows: None),
        "take": lambda: frame.take(1),
        "show": frame.show,
        "first": frame.first,
        "isEmpty": frame.isEmpty,
        "rdd": lambda: frame.rdd.map(len).sum(),
    }
    for name, read in reads.items():
        with capture_lineage(spark) as captured:
            read()
        assert names(captured.lineage.inputs) == [("file", numbers)], name
        assert captured.lineage.outputs == (), name
        assert captured.lineage.gaps == (), name


def test_rows_that_may_be_literals_later_are_a_gap(spark, numbers, tmp_path):
    """Whichever method fetches rows, the gap names the dataset and the line, once."""
    frame = spark.read.parquet(numbers).selectExpr("id")
    ways = {
        "collect": lambda: frame.agg({"id": "max"}).collect()[0][0],
        "first": lambda: frame.first()[0],
        "head": lambda: frame.head().id,
        "take": lambda: frame.take(1)[0].id,
        "tail": lambda: frame.tail(1)[0].id,
        "toPandas": lambda: frame.toPandas()["id"][0],
        "toLocalIterator": lambda: next(frame.toLocalIterator()).id,
        "rdd": lambda: frame.rdd.map(len).max(),
    }
    for name, read in ways.items():
        with capture_lineage(spark) as captured:
            spark.sparkContext.setJobDescription("nightly" if name == "collect" else None)
            value = read()
            frame.where(f"id = {value}").write.parquet(str(tmp_path / name))
        [gap] = captured.lineage.gaps
        line = f"{Path(__file__).name}:{read.__code__.co_firstlineno}"
        assert gap.reason.startswith(f"the program collected rows of {numbers} at {line}: "), name
        assert f"later writes to {tmp_path / name} may" in gap.reason, name


def test_rows_that_are_only_shown_leave_no_gap(spark, numbers, tmp_path, capsys):
    """Prints, tests and counts put nothing into what is written."""
    frame = spark.read.parquet(numbers)
    with capture_lineage(spark) as captured:
        print(frame.collect(), frame.count(), frame.rdd.map(len).max())
        frame.show()
        rows = frame.take(2)
        for row in rows:
            print(f"{row.id} {row.x:.2f}")
        assert len(rows) == 2 or frame.isEmpty()
        frame.where("id = 3").write.parquet(str(tmp_path / "out"))
    assert captured.lineage.gaps == ()
    assert "0 0.00" in capsys.readouterr().out


def test_a_source_written_in_python_is_written_under_its_name(spark, numbers):
    """The options that place the data are its name; those that may be secrets are nowhere."""
    source = pytest.importorskip("pyspark.sql.datasource", reason="Python data sources are new in Spark 4.0")

    class Sink(source.DataSourceWriter):
        def write(self, iterator):
            list(iterator)
            return source.WriterCommitMessage()

    class Shop(source.DataSource):
        @classmethod
        def name(cls):
            return "shop"

        def schema(self):
            return "id bigint, x double"

        def writer(self, schema, overwrite):
            return Sink()

    spark.dataSource.register(Shop)
    with capture_lineage(spark) as captured:
        write = spark.read.parquet(numbers).write.format("shop").option("table", "numbers")
        write.option("pin", "hunter2").mode("append").save()
    assert names(captured.lineage.outputs) == [("shop", "numbers")]
    assert captured.lineage.gaps == ()
    (execution,) = captured.executions()
    assert "hunter2" not in str(execution.record.to_json())


def columns_of(captured, column):
    (output,) = captured.lineage.outputs
    return {(edge.field, edge.part) for edge in output.edges if edge.column == column}


def test_a_field_that_was_dropped_or_replaced_is_no_source(spark, numbers, tmp_path):
    """The names of a struct's fields are recorded, also if it is made in the same expression."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

    struct = F.struct(F.col("id").alias("k"), F.upper("x").alias("l"))
    frame = spark.read.parquet(numbers).select(
        struct.dropFields("k").alias("direct"),
        F.when(F.col("x") > 1, struct).withField("k", F.lit(1)).dropFields("l").alias("chosen"),
        F.transform(F.array(struct), lambda each: each.dropFields("l")).alias("listed"),
    )
    with capture_lineage(spark) as captured:
        frame.write.parquet(str(tmp_path / "made"))
    assert columns_of(captured, "direct") == {("x", "")}
    assert columns_of(captured, "chosen") == {("x", "")}
    assert columns_of(captured, "listed") == {("id", "")}
    stored = spark.read.parquet(str(tmp_path / "made")).select(F.col("chosen").dropFields("none").alias("s"))
    with capture_lineage(spark) as captured:
        stored.write.parquet(str(tmp_path / "stored"))
    assert columns_of(captured, "s") == {("chosen", "k")}


@pytest.mark.parametrize(
    ("statement", "has_gap"),
    [
        ("execute immediate 'select id, :m as m from numbers' using most as m", True),
        ("execute immediate 'select id, ? + 1 as m from numbers' using most * 2", True),
        ("execute immediate 'select * from values (1, :m) as t (id, m)' using most as m", True),
        ("execute immediate 'select id, most as m from numbers'", False),
    ],
)
def test_a_value_that_execute_immediate_puts_into_its_text(spark, numbers, tmp_path, statement, has_gap):
    """The column has the variable's source, or a gap of its own; the other columns of the query do not."""
    if tuple(map(int, spark.version.split(".")[:2])) < (4, 0):
        pytest.skip("EXECUTE IMMEDIATE is new in Spark 4.0")
    spark.read.parquet(numbers).createOrReplaceTempView("numbers")
    with capture_lineage(spark) as captured:
        spark.sql("declare or replace variable most double")
        spark.sql("set variable most = (select max(x) from numbers)")
        spark.sql(statement).write.parquet(str(tmp_path / "out"))
        spark.sql("drop temporary variable most")
    gaps = [gap for gap in captured.lineage.gaps if "EXECUTE IMMEDIATE" in gap.reason]
    is_known = columns_of(captured, "m") == {("x", "")}
    # Before Spark 4.1, the plan has the variable itself.
    assert is_known != any("`m`" in gap.reason for gap in gaps)
    assert is_known or has_gap
    assert all("`most`" in gap.reason for gap in gaps)
