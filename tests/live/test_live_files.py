"""Files in every format that Spark brings, by its V1 and V2 sources: names, columns and counts."""

from __future__ import annotations

import file_lineage
import pytest
from file_lineage import lines
from spark_packages import need

from airflow_provider_spark_lineage import capture_lineage

pytestmark = pytest.mark.spark

folder = file_lineage.folder
path = file_lineage.path
rows = file_lineage.rows
lineage = file_lineage.lineage
way = file_lineage.way


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("kind", ["parquet", "orc", "json", "csv"])
def test_format_is_named_by_its_folder(spark, rows, path, lineage, kind):
    """The same files are the same dataset by either of Spark's ways to read them."""
    rows.write.format(kind).save(path("in"))
    read = spark.read.format(kind).schema("id long, name string, part long").load(path("in"))
    composed = lineage(lambda: read.where("id > 0").select("name").write.format(kind).save(path("out")))
    assert lines(composed, path) == [
        "reads   file /in   id bigint, name string, part bigint",
        "writes  file /out   create",
        "name <- in.name    direct    identity",
        "*    <- in.id      indirect  filter",
    ]
    assert composed.inputs[0].statistics.rows in (2, 3)
    assert composed.inputs[0].dataset.identity.file_format == kind
    assert (composed.outputs[0].statistics.rows, composed.outputs[0].statistics.files) == (2, 1)


@pytest.mark.usefixtures("way")
def test_field_of_a_struct_column_that_was_written_before(spark, rows, path, lineage):
    """Each field has its own sources, also inside another struct and in an array of structs."""
    rows.write.parquet(path("in"))

    def steps():
        source = spark.read.parquet(path("in"))
        nested = "struct(id, struct(name, part) inner, 7 seven) st"
        source.selectExpr(nested, "array(struct(part, name)) many").write.parquet(path("mid"))
        source.selectExpr(nested, "array(struct(part, name)) many").write.mode("append").parquet(path("mid"))
        read = spark.read.parquet(path("mid"))
        read.selectExpr("st.id a", "st.inner.name b", "st.inner c", "many.part d").write.parquet(path("out"))

    composed = lineage(steps)
    (out,) = (each for each in composed.outputs if each.dataset.id.name == path("out"))
    assert [(each.column, each.field, each.kind.name) for each in out.edges] == [
        ("a", "id", "IDENTITY"),
        ("b", "name", "IDENTITY"),
        ("c", "name", "TRANSFORMATION"),
        ("c", "part", "TRANSFORMATION"),
        ("d", "part", "TRANSFORMATION"),
    ]


def test_csv_without_header_is_read_back_by_position(spark, rows, path, lineage):
    """Such a file has no names: its readers call the columns `_c0`, `_c1`, or anything else."""

    def job():
        rows.write.parquet(path("in"))
        spark.read.parquet(path("in")).select("id", "name").write.csv(path("plain"))
        spark.read.csv(path("plain")).selectExpr("_c1 as x").write.parquet(path("guessed"))
        spark.read.csv(path("plain"), schema="a long, b string").select("b").write.parquet(path("named"))

    text = lines(lineage(job), path)
    assert "x <- in.name    direct    identity" in text
    assert "b <- in.name    direct    identity" in text
    assert not [line for line in text if line.startswith("gap")]


def test_formats_that_are_only_read(spark, rows, path, lineage):
    """Whole files: their bytes, their text, and Spark's metadata of them."""
    rows.select("name").write.text(path("in"))

    def job():
        spark.read.format("binaryFile").load(path("in")).select("length").write.parquet(path("sizes"))
        spark.read.text(path("in"), wholetext=True).write.parquet(path("texts"))
        spark.read.text(path("in")).select("value", "_metadata.file_name").write.parquet(path("named"))

    text = lines(lineage(job), path)
    for line in (
        "length <- in.length    direct    identity",
        "value <- in.value    direct    identity",
        "file_name <- (no field)",
    ):
        assert line in text
    assert not [line for line in text if line.startswith("gap")]


def test_avro(spark, rows, path, lineage):
    """A format that comes as a jar of its own."""
    # By the V1 source alone: the V2 source of the jar that Maven has was built for another Spark.
    need("avro")
    rows.write.format("avro").save(path("in"))
    composed = lineage(
        lambda: spark.read.format("avro").load(path("in")).select("name").write.json(path("out"))
    )
    assert lines(composed, path) == [
        "reads   file /in   id bigint, name string, part bigint",
        "writes  file /out   create",
        "name <- in.name    direct    identity",
    ]
    assert composed.inputs[0].dataset.identity.file_format == "avro"


def test_xml(spark, rows, path, lineage):
    """Spark's own XML source reads and writes folders like the others."""
    if not hasattr(rows.write, "xml"):
        pytest.skip("XML is new in Spark 4.0")

    def job():
        rows.write.xml(path("rows"), rowTag="row")
        spark.read.xml(path("rows"), rowTag="row").select("name").write.parquet(path("out"))

    composed = lineage(job)
    assert "name <- rows.name    direct    identity" in lines(composed, path)
    assert {output.dataset.identity.file_format for output in composed.outputs} == {"xml", "parquet"}


def test_cached_rows_are_counted_once(spark, rows, path, lineage):
    """Cached rows still come from their files, which were read once."""

    def job():
        rows.write.parquet(path("in"))
        cached = spark.read.parquet(path("in")).cache()
        cached.count()
        cached.select("id").write.parquet(path("first"))
        cached.select("name").write.parquet(path("second"))
        cached.unpersist()

    composed = lineage(job)
    read = next(source for source in composed.inputs if source.dataset.id.name == path("in"))
    assert read.statistics.rows == 3
    assert [output.statistics.rows for output in composed.outputs] == [3, 3, 3]


def test_a_sort_does_not_double_its_rows(spark, rows, path, lineage):
    """Spark runs a scan again to sample the ranges of a sort, except for rows kept by an exchange."""
    rows.write.parquet(path("in"))
    read = spark.read.parquet(path("in"))
    composed = lineage(lambda: read.orderBy("name").write.parquet(path("sorted")))
    assert [each.statistics.rows for each in (*composed.inputs, *composed.outputs)] == [None, 3]
    composed = lineage(lambda: read.groupBy("name").count().orderBy("count").write.parquet(path("counted")))
    assert [each.statistics.rows for each in (*composed.inputs, *composed.outputs)] == [3, 3]


def test_bucketed_and_sorted_table(spark, rows, path, lineage):
    """The layout of files does not change the origin of their columns."""
    rows.write.parquet(path("in"))

    def job():
        writer = spark.read.parquet(path("in")).write.partitionBy("part").bucketBy(2, "id").sortBy("id")
        writer.saveAsTable("bucketed")

    (output,) = lineage(job).outputs
    assert output.dataset.identity.symlinks[0].name == "default.bucketed"
    assert [(edge.column, edge.field) for edge in output.edges] == [(n, n) for n in ("id", "name", "part")]
    assert output.statistics.rows == 3


@pytest.mark.parametrize("keep", ["checkpoint", "localCheckpoint"])
def test_frames_with_the_same_columns_that_were_kept_are_told_apart(spark, tmp_path, keep):
    """Two filters of one frame have the columns of the frame, by name and by id."""
    rows = str(tmp_path / "rows")
    spark.range(9).selectExpr("id as a", "id as b", "id as c").write.parquet(rows)
    spark.sparkContext.setCheckpointDir(str(tmp_path / "kept"))
    with capture_lineage(spark) as captured:
        read = spark.read.parquet(rows)
        first, second = (getattr(read.filter(f"{name} > 1"), keep)() for name in "ab")
        for name, frame in (("first", first), ("second", second)):
            frame.select("c").write.parquet(str(tmp_path / name))
    edges = {
        output.dataset.id.name.rsplit("/", 1)[-1]: {(edge.field, edge.column) for edge in output.edges}
        for output in captured.lineage.outputs
    }
    assert edges == {"first": {("c", "c"), ("a", "")}, "second": {("c", "c"), ("b", "")}}
    assert captured.lineage.gaps == ()
