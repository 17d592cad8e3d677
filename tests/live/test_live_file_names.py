"""Datasets that are read by wildcards, by folders of them and by lists of files: their names and counts."""

from __future__ import annotations

import os
import pathlib

import file_lineage
import pytest
from file_lineage import lines
from gap_kinds import gap_kinds

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.runs.executions import executions

pytestmark = pytest.mark.spark

folder = file_lineage.folder
path = file_lineage.path
rows = file_lineage.rows
lineage = file_lineage.lineage
way = file_lineage.way


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
@pytest.mark.parametrize("name", ["a,b", "a, b", "a]b", "a.,"])
def test_any_character_may_be_in_the_name_of_a_folder(spark, rows, path, lineage, name):
    """A comma does not end a path, so both datasets have their counts."""
    rows.write.parquet(path(name))
    rows.limit(2).write.parquet(path("plain"))
    odd, plain = spark.read.parquet(path(name)), spark.read.parquet(path("plain"))
    composed = lineage(lambda: odd.unionByName(plain).write.parquet(path("out")))
    counts = {read.dataset.id.name: read.statistics.rows for read in composed.inputs}
    assert counts == {path(name): 3, path("plain"): 2}


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
