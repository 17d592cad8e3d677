"""Programs beyond plain reads and writes of tables: their datasets are named all the same."""

from __future__ import annotations

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
