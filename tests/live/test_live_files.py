"""Files in every format that Spark brings, by its V1 and V2 sources: names, columns and counts."""

from __future__ import annotations

import os
import pathlib

import pytest
from gap_kinds import gap_kinds
from spark_packages import need

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Kind, Mode
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.runs.executions import executions

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def path(folder, request):
    """Return places in a folder of the test's own."""
    own = folder / request.node.name.replace("[", "-").replace("]", "")
    return lambda name: str(own / name)


@pytest.fixture
def rows(spark):
    return spark.range(3).selectExpr("id", "concat('n', id) as name", "id % 2 as part").coalesce(1)


@pytest.fixture
def lineage(recorded, path):
    """Run code; return the lineage of all that it did."""

    def run(code):
        with recorded() as records:
            code()
        assert [problem for record in records for problem in record.problems] == []
        return compose(execution.lineage for execution in executions(records))

    return run


def lines(lineage, path, *, counts=False):
    """The readable lineage with the places of one test."""
    text = render(lineage).replace(path(""), "")
    return [line if counts else line.partition("   rows=")[0] for line in text.splitlines()]


@pytest.fixture(params=["", None], ids=["v2", "v1"])
def way(spark, request):
    """Set one of Spark's two ways to read files."""
    if request.param is not None:
        spark.conf.set("spark.sql.sources.useV1SourceList", request.param)
    yield request.param
    spark.conf.unset("spark.sql.sources.useV1SourceList")


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
def test_globs_and_partitions(spark, rows, path, lineage):
    """Folders below a glob are a dataset each; those of one partitioned dataset are one."""
    rows.write.parquet(path("many/one"))
    rows.write.parquet(path("many/two"))
    rows.write.partitionBy("part").parquet(path("parted"))
    many = spark.read.parquet(path("many/*")).select("id")
    parted = spark.read.parquet(path("parted/part=1")).select("id")
    composed = lineage(lambda: many.union(parted).write.parquet(path("out")))
    assert lines(composed, path) == [
        "reads   file /many/one   id bigint, name string, part bigint",
        "reads   file /many/two   id bigint, name string, part bigint",
        "reads   file /parted   id bigint, name string",
        "writes  file /out   create",
        "id <- one.id       direct    identity",
        "id <- two.id       direct    identity",
        "id <- parted.id    direct    identity",
    ]
    assert composed.inputs[2].dataset.identity.locations == (f"file:{path('parted/part=1')}",)


@pytest.fixture
def json_files(path):
    """Write JSON files with one row each."""

    def write(*names):
        for name in names:
            file = pathlib.Path(path(name))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text('{"id": 1}\n')

    return write


def inputs_of(composed, path):
    """Name, rows, and the part that events state, of each input."""
    return [
        (
            read.dataset.id.name.replace(path(""), ""),
            read.statistics.rows,
            [place.replace(f"file:{path('')}/", "") for place in read.dataset.identity.part.shown],
        )
        for read in composed.inputs
    ]


@pytest.mark.usefixtures("way")
def test_files_by_a_wildcard_are_named_by_the_pattern(spark, path, lineage, json_files):
    """The name does not depend on how many files the pattern matches today."""
    json_files("in/t_1.json", "two/t_1.json", "two/t_2.json", "deep/a/c.json", "deep/b/d.json")
    inputs = {}
    for pattern in ("in/t_*.json", "two/t_?.json", "two/{t_1,t_2}.json", "deep/*/[cd].json"):
        frame = spark.read.schema("id long").json(path(pattern))
        composed = lineage(lambda frame=frame: frame.write.json(path(f"out-{len(inputs)}")))
        inputs[pattern] = inputs_of(composed, path)
    assert inputs == {
        "in/t_*.json": [("/in", 1, ["in/t_*.json"])],
        "two/t_?.json": [("/two", 2, ["two/t_?.json"])],
        "two/{t_1,t_2}.json": [("/two", 2, ["two/{t_1,t_2}.json"])],
        "deep/*/[cd].json": [("/deep", 2, ["deep/*/[cd].json"])],
    }


def test_pattern_of_each_way_to_name_files(spark, path, lineage, json_files):
    """Spark keeps the pattern of one path as an option, of SQL in the text, and of several paths nowhere."""
    json_files("in/t_1.json", "x/a/t_2.json")
    reader = spark.read.schema("id long")
    pattern = path("in/t_*.json")
    sql = "with x as (select * from json.`PATTERN`) select id + 1 as id from x".replace("PATTERN", pattern)
    ways = {
        "option": lambda: spark.read.format("json").schema("id long").option("path", pattern).load(),
        "list of one": lambda: reader.json([pattern]),
        "text": lambda: spark.read.text(pattern),
        "binary": lambda: spark.read.format("binaryFile").load(pattern).select("length"),
        "sql": lambda: spark.sql(sql),
        "several": lambda: reader.json([pattern, path("x/*/*.json")]),
    }
    inputs = {}
    for way, read in ways.items():
        composed = lineage(lambda read=read: read().write.parquet(path(f"out-{len(inputs)}")))
        inputs[way] = [(name, shown) for name, _, shown in inputs_of(composed, path)]
    assert inputs == {
        **{way: [("/in", ["in/t_*.json"])] for way in ways},
        "several": [("/in", ["in/t_*.json"]), ("/x", ["x/*/*.json"])],
    }


@pytest.mark.usefixtures("way")
def test_folders_by_a_wildcard_are_the_datasets_of_their_writers(spark, rows, path, lineage):
    """A task that wrote them reads them back under the same names; the files of one are that one."""

    def code():
        rows.write.json(path("in/t_1.json"))
        rows.write.json(path("in/t_2.json"))
        reader = spark.read.schema("id long")
        reader.json(path("in/t_*.json")).write.json(path("all"))
        reader.json(path("in/t_1.json/*.json")).write.json(path("one"))

    composed = lineage(code)
    outputs = {output.dataset.id.name.replace(path(""), "") for output in composed.outputs}
    assert outputs == {"/in/t_1.json", "/in/t_2.json", "/all", "/one"}
    read_back = {read.dataset.id.name.replace(path(""), "") for read in composed.inputs}
    assert read_back <= {"/in/t_1.json", "/in/t_2.json"}
    assert [gap for gap in composed.gaps if gap.where != "composition"] == []


def test_very_many_matches_are_bounded(spark, path, lineage, json_files, recorded):
    """The record has some of the matches, the lineage one input, and all of the rows are counted."""
    json_files(*(f"in/{number % 60}/{number}.json" for number in range(1200)))
    reader = spark.read.schema("id long")
    frame = reader.json(path("in/*/*"))
    with recorded() as records:
        frame.coalesce(1).write.json(path("out"))
    probed = [fact["probed"] for record in records for fact in record.facts]
    (facts,) = [facts for facts in probed if facts.get("path_count")]
    assert (facts["path_count"], len(facts["paths"]), len(facts["is_file"])) == (1200, 1000, 1000)
    composed = compose(execution.lineage for execution in executions(records))
    assert inputs_of(composed, path) == [("/in", 1200, ["in/*/*"])]
    composed = lineage(lambda: reader.json(path("in/*/")).coalesce(1).write.json(path("out-2")))
    assert inputs_of(composed, path) == [("/in", 1200, ["in/*"])]
    assert gap_kinds(composed)[0] == "several_datasets"


DAYS = [("20240101", "20240102"), ("2024-01-01", "2024-01-02"), ("2024/01/01", "2024/01/02"), ("d=1", "d=2")]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("by", ["path", "directory"])
def test_folders_of_a_dataset_have_the_rows_written_there(spark, rows, path, lineage, by):
    """Each day has its own source and its own rows, also where one query joins two of them."""
    rows.write.parquet(path("a"))
    rows.limit(2).write.parquet(path("b"))

    def write(source, place):
        frame = spark.read.parquet(path(source))
        if by == "path":
            frame.write.mode("overwrite").parquet(path(place))
        else:
            query = "INSERT OVERWRITE DIRECTORY '{}' USING parquet SELECT * FROM {{rows}}"
            spark.sql(query.format(path(place)), rows=frame)

    for number, days in enumerate(DAYS):

        def job(number=number, days=days):
            for source, day in zip("ab", days, strict=True):
                write(source, f"days{number}/{day}")
            left, right = (spark.read.parquet(path(f"days{number}/{day}")) for day in days)
            left.select("name").write.parquet(path(f"one{number}"))
            both = left.alias("l").join(right.alias("r"), right.id < 0, "left")
            both.selectExpr("l.name x", "r.name y").write.parquet(path(f"two{number}"))

        text = lines(lineage(job), path, counts=True)
        assert [line for line in text if line.startswith(("name", "x ", "y "))] == [
            "name <- a.name    direct    identity",
            "name <- b.name    direct    identity",
            "name <- a.name    direct    identity",
            "x <- a.name    direct    identity",
            "y <- b.name    direct    identity",
        ]
        assert [line.split()[2] for line in text if line.startswith("reads")] == ["/a", "/b"]
        (days_written,) = (line for line in text if line.startswith(f"writes  file /days{number} "))
        assert {"rows=5", "files=2"} < set(days_written.split())


def test_reads_of_different_days_add(spark, rows, path, lineage):
    """One after the other, or by one query; a repeated read of a day does not count again."""
    rows.write.parquet(path("days/20240101"))
    rows.limit(2).write.parquet(path("days/20240102"))
    first, second = (spark.read.parquet(path(f"days/2024010{day}")) for day in (1, 2))
    for number, queries in enumerate(
        [(first, second, first), (first.union(second),), (first.union(second), second)]
    ):

        def job(queries=queries, number=number):
            for query in queries:
                query.write.mode("overwrite").parquet(path(f"out{number}"))

        (read,) = lineage(job).inputs
        assert (read.statistics.rows, read.statistics.files) == (5, 2)


def test_folder_below_the_base_path_is_read_alone(spark, rows, path, lineage):
    """The option `basePath` gives the folder's column; other folders are not read."""
    rows.write.parquet(path("a"))
    rows.select("id").write.parquet(path("b"))

    def job():
        spark.read.parquet(path("a")).write.partitionBy("part").parquet(path("d"))
        spark.read.parquet(path("b")).write.mode("overwrite").parquet(path("d/part=1"))
        based = spark.read.option("basePath", path("d"))
        based.parquet(path("d/part=1")).select("id").write.parquet(path("out"))

    composed = lineage(job)
    out = next(output for output in composed.outputs if output.dataset.id.name == path("out"))
    assert [edge.source.name for edge in out.edges] == [path("b")]


def test_counts_of_a_scan_of_several_datasets_are_those_of_none(spark, rows, path, lineage):
    """Spark cuts the list of files of a scan; the first dataset in it does not have all of the rows."""
    names = ["many/one/orders", "many/two/orders", "x" * 120 + "1/orders", "x" * 120 + "2/orders"]
    for name in names:
        rows.write.parquet(path(name))
    files = [str(file) for name in names[:2] for file in pathlib.Path(path(name)).glob("part-*")]
    for number, paths in enumerate([files, [path(name) for name in names[2:]]]):
        composed = lineage(
            lambda paths=paths, n=number: spark.read.parquet(*paths).write.parquet(path(f"o{n}"))
        )
        assert [read.statistics.rows for read in composed.inputs] == [None, None]
        assert composed.outputs[0].statistics.rows == 6


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


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", ["a,b", "a, b", "a]b", "a.,"])
def test_any_character_may_be_in_the_name_of_a_folder(spark, rows, path, lineage, name):
    """A comma does not end a path, so both datasets have their counts."""
    rows.write.parquet(path(name))
    rows.limit(2).write.parquet(path("plain"))
    odd, plain = spark.read.parquet(path(name)), spark.read.parquet(path("plain"))
    composed = lineage(lambda: odd.unionByName(plain).write.parquet(path("out")))
    counts = {read.dataset.id.name: read.statistics.rows for read in composed.inputs}
    assert counts == {path(name): 3, path("plain"): 2}


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


def test_many_files_by_list_are_their_folder(spark, path, lineage):
    """A program that lists files itself reads the one dataset that they are."""
    os.makedirs(path("in"))
    names = [f"{path('in')}/{number}.json" for number in range(1000)]
    for name in names:
        pathlib.Path(name).write_text('{"id": 1}')
    composed = lineage(
        lambda: spark.read.schema("id long").json(names).where("id > 0").write.json(path("out"))
    )
    assert lines(composed, path)[0] == "reads   file /in   id bigint"
    assert (composed.inputs[0].statistics.rows, composed.inputs[0].statistics.files) == (1000, 1000)


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


def _stream(spark, source):
    return spark.readStream.schema("id long, name string, part long").parquet(source)


def _run(writer, state):
    writer.trigger(availableNow=True).option("checkpointLocation", state).start().awaitTermination()


def _in_batches(spark, source, target, state):
    def write(rows, _):
        rows.write.mode("append").parquet(target)

    _run(_stream(spark, source).writeStream.foreachBatch(write), state)


APPENDING = {
    "path": lambda spark, source, target, _: spark.read.parquet(source).write.mode("append").parquet(target),
    "twice": lambda spark, source, target, _: [
        spark.read.parquet(source).write.mode("append").parquet(target) for _ in range(2)
    ],
    "partitions": lambda spark, source, target, _: (
        spark.read.parquet(source).write.mode("append").partitionBy("part").parquet(target)
    ),
    "no rows": lambda spark, source, target, _: (
        spark.read.parquet(source).where("id < 0").write.mode("append").parquet(target)
    ),
    "sink": lambda spark, source, target, state: _run(
        _stream(spark, source).writeStream.format("parquet").option("path", target), state
    ),
    "batches": _in_batches,
}
"""Name -> a way to append to a folder."""


@pytest.mark.parametrize("way", APPENDING)
def test_an_append_to_a_folder_without_data_creates_it(spark, rows, path, lineage, way):
    """The folder is not an input, and what is read from it comes from what was appended.

    A folder that has data already is both, also if the append is read after a later one has ended.
    """
    append = APPENDING[way]
    rows.write.parquet(path("in"))

    def job():
        append(spark, path("in"), path("new"), path("state"))
        spark.read.schema("id long, name string").parquet(path("new")).write.parquet(path("out"))

    composed = lineage(job)
    assert [read.dataset.id.name for read in composed.inputs] == [path("in")]
    assert {output.dataset.id.name: output.mode for output in composed.outputs} == {
        path("new"): Mode.CREATE,
        path("out"): Mode.CREATE,
    }
    assert {edge.source.name for output in composed.outputs for edge in output.edges} == {path("in")}
    if way == "sink":
        # Spark reads a folder with a stream's log by the log.
        return

    def again():
        append(spark, path("in"), path("new"), path("state2"))
        append(spark, path("in"), path("new"), path("state3"))
        spark.read.schema("id long, name string").parquet(path("new")).write.parquet(path("out2"))

    composed = lineage(again)
    assert [read.dataset.id.name for read in composed.inputs] == [path("in"), path("new")]
    assert {output.dataset.id.name: output.mode for output in composed.outputs} == {
        path("new"): Mode.APPEND,
        path("out2"): Mode.CREATE,
    }


def test_an_overwrite_of_partitions_in_a_new_folder_is_whole(spark, rows, path, lineage):
    """No row is older, so the folder is not an input; partitions that stay are."""
    rows.write.parquet(path("in"))

    def job(where):
        frame = spark.read.parquet(path("in")).where(where).write.mode("overwrite").partitionBy("part")
        frame.option("partitionOverwriteMode", "dynamic").parquet(path("new"))
        spark.read.parquet(path("new")).write.mode("overwrite").parquet(path("out"))

    first, second = lineage(lambda: job("id >= 0")), lineage(lambda: job("part = 1"))
    assert [read.dataset.id.name for read in first.inputs] == [path("in")]
    assert [read.dataset.id.name for read in second.inputs] == [path("in"), path("new")]


def test_streams_in_a_row_lead_to_the_first_source(spark, rows, path, lineage):
    """The folder between two streams is created by the first one."""
    rows.write.parquet(path("in"))

    def job():
        for source, target in (("in", "between"), ("between", "out")):
            writer = _stream(spark, path(source)).writeStream.format("parquet").option("path", path(target))
            _run(writer, path(f"state-{target}"))

    composed = lineage(job)
    assert [read.dataset.id.name for read in composed.inputs] == [path("in")]
    (last,) = (output for output in composed.outputs if output.dataset.id.name == path("out"))
    assert {edge.source.name for edge in last.edges} == {path("in")}


def test_an_append_to_a_table_without_data_creates_its_rows(spark, rows, path, lineage):
    """A table that `saveAsTable` makes, and one that was there without rows."""
    rows.write.parquet(path("in"))
    spark.sql("create table was_there (id bigint, name string, part bigint) using parquet")

    def job():
        source = spark.read.parquet(path("in"))
        source.write.mode("append").saveAsTable("is_new")
        source.write.insertInto("was_there")
        spark.table("is_new").union(spark.table("was_there")).write.parquet(path("out"))

    composed = lineage(job)
    assert [read.dataset.id.name for read in composed.inputs] == [path("in")]
    assert {output.mode for output in composed.outputs} == {Mode.CREATE}
    assert {edge.source.name for output in composed.outputs for edge in output.edges} == {path("in")}


@pytest.mark.parametrize("by", ["path", "table"])
def test_an_overwrite_with_other_columns_leaves_its_own(spark, rows, path, lineage, by):
    """Names and types are those that a reader finds at the end."""
    rows.write.parquet(path("in"))

    def job():
        source = spark.read.parquet(path("in"))
        for columns in (("id", "part as v", "name"), ("string(id) as id", "name")):
            writer = source.selectExpr(*columns).write.mode("overwrite")
            writer.parquet(path("out")) if by == "path" else writer.saveAsTable("written_twice")

    (output,) = lineage(job).outputs
    assert [(column.name, column.type) for column in output.dataset.fields] == [
        ("id", "string"),
        ("name", "string"),
    ]
    assert {(edge.column, edge.field, edge.kind) for edge in output.edges} == {
        ("id", "id", Kind.TRANSFORMATION),
        ("name", "name", Kind.IDENTITY),
    }
