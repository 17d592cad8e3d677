"""A source that this package has no row for, by both of Spark's APIs: workbooks of spark-excel."""

from __future__ import annotations

import pytest
from spark_packages import need

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.lineage.text import render

pytestmark = pytest.mark.spark

need("excel")

FIRST = "com.crealytics.spark.excel"
SECOND = "excel"


@pytest.fixture
def workbook(spark, tmp_path):
    """A workbook of three rows."""
    path = str(tmp_path / "book.xlsx")
    rows = spark.range(3).selectExpr("id", "concat('n', id) as name")
    rows.write.format(FIRST).option("header", "true").save(path)
    return path


@pytest.fixture
def lineage(spark, tmp_path):
    """Run code; return the readable lineage of all that it did."""

    def run(code):
        with capture_lineage(spark) as captured:
            code()
        assert [problem for execution in captured.executions() for problem in execution.record.problems] == []
        text = render(captured.run().lineage).replace(str(tmp_path), "")
        return [line.partition(" bytes=")[0] for line in text.splitlines()]

    return run


def read(spark, api, path):
    return spark.read.format(api).option("header", "true").schema("id long, name string").load(path)


def test_the_second_api_s_files_are_known(spark, lineage, workbook, tmp_path):
    """Any class that extends Spark's tables of files is named by its files, whoever wrote it."""
    frame = read(spark, SECOND, workbook).where("id > 0").select("name")
    assert lineage(lambda: frame.write.format(SECOND).mode("append").save(str(tmp_path / "out"))) == [
        "reads   file /book.xlsx   id bigint, name string   rows=3",
        "writes  file /out   create   rows=2",
        "name <- book.xlsx.name    direct    identity",
        "*    <- book.xlsx.id      indirect  filter",
    ]


def test_outputs_of_the_first_api_are_named_by_their_path(spark, lineage, tmp_path):
    """Spark does not say that it is a file, hence the gap."""
    spark.range(3).selectExpr("id", "concat('n', id) as name").write.parquet(str(tmp_path / "in"))
    frame = spark.read.parquet(str(tmp_path / "in")).selectExpr("id + 1 as id")
    write = frame.write.format(FIRST).option("header", "true")
    assert lineage(lambda: write.save(str(tmp_path / "out.xlsx"))) == [
        "reads   file /in   id bigint, name string   rows=3",
        "writes  file /out.xlsx   create",
        "id <- in.id    direct    transformation",
        "gap     SaveIntoDataSourceCommand#0   unknown data source; /out.xlsx is the name that Spark reports",
    ]


def test_a_table_of_the_first_api_is_named_by_its_path(spark, lineage, workbook, tmp_path):
    """The catalog keeps where the files of such a table lie."""
    spark.sql(
        f"create table book (id long, name string) using {FIRST} options (path '{workbook}', header true)"
    )
    composed = lineage(lambda: spark.sql("select name from book").write.parquet(str(tmp_path / "out")))
    spark.sql("drop table book")
    assert composed[0] == "reads   file /book.xlsx   id bigint, name string   rows=3"
    assert composed[2] == "name <- book.xlsx.name    direct    identity"
    assert "unknown data source" in composed[3]


def test_a_relation_that_tells_nothing_is_named_by_its_class(spark, lineage, workbook, tmp_path):
    """Spark forgets the options of a read by the first API, and the relation keeps them to itself: a gap."""
    composed = lineage(
        lambda: read(spark, FIRST, workbook).select("name").write.parquet(str(tmp_path / "out"))
    )
    assert composed[0].startswith(f"reads   ExcelRelation {FIRST}.ExcelRelation   ")
    assert composed[2] == f"name <- {FIRST}.ExcelRelation.name    direct    identity"
    assert "unknown data source" in composed[3]
