"""Loads by Spark: any order, any split and any repetition of events gives the same tables."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from warehouse import producers
from warehouse.histories import comparable, graph_of, history
from warehouse.plain_tables import PlainTables, comparable_tables
from warehouse.test_lineage_at import of_events, tags_of, times_in
from warehouse.two_times import found_in, rebuilt, times_of

from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.warehouse import formats, load_session, spreading
from airflow_provider_spark_lineage.openlineage.warehouse import load as loads
from airflow_provider_spark_lineage.openlineage.warehouse.asking import current_lineage, rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.folding import columns_of, read_as_json
from airflow_provider_spark_lineage.openlineage.warehouse.ids import id_of_names
from airflow_provider_spark_lineage.openlineage.warehouse.invariants import findings_of
from airflow_provider_spark_lineage.openlineage.warehouse.lineage_at import lineage_at
from airflow_provider_spark_lineage.openlineage.warehouse.load import load
from airflow_provider_spark_lineage.openlineage.warehouse.partials import PARTIALS
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import read_tables
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES
from airflow_provider_spark_lineage.openlineage.warehouse.workspace import Workspace

pytestmark = pytest.mark.spark

OF_LOADS = {"load_id", "source"}
"""Columns that say which load had an event first."""


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A session with settings that a user may have: none of them changes a row."""
    from spark_sessions import started

    conf = {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.caseSensitive": "true",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.session.timeZone": "Asia/Tokyo",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("tables")),
    }
    spark = started("warehouse", conf)
    yield spark
    spark.stop()


def contents(path: Path) -> dict[str, list[str]]:
    """Return the rows of all tables, but for what differs between loads."""
    snapshot = read_tables(path)
    # Files of Delta may have the column of their folders, too.
    columns = {
        name: [column.name for column in table.columns if column.name not in OF_LOADS]
        for name, table in TABLES.items()
    }
    return {
        table: sorted(
            repr({column: row[column] for column in columns[table]}) for row in rows_of(snapshot, table)
        )
        for table in TABLES
        if table != "loads"
    }


def written(path: Path, documents: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in documents))
    return path


class DiedError(Exception):
    """A process that ended in the middle."""


@pytest.mark.parametrize("seed", range(50))
def test_any_order_split_repetition_and_crash_gives_the_same_tables(spark, tmp_path, monkeypatch, seed):
    """A plain model has the same tables, and the graph of the same events the same current lineage."""
    documents = history(seed)
    if seed % 2:
        # As a date with many rows, and as more ids than a join sends to every task.
        monkeypatch.setattr(spreading, "ROWS_OF_A_TASK", 7)
        monkeypatch.setattr(spreading, "MOST_SENT", 3)
    load(spark, written(tmp_path / "whole" / "events.jsonl", documents), tmp_path / "a")
    assert comparable(current_lineage(tmp_path / "a")) == comparable(graph_of(documents))
    tables = read_tables(tmp_path / "a")
    loaded = comparable_tables({table: [*rows_of(tables, table)] for table in TABLES})
    model = comparable_tables(PlainTables(documents).rows)
    assert loaded.keys() == model.keys()
    assert [table for table in model if loaded[table] != model[table]] == []
    load_in_parts(spark, tmp_path, monkeypatch, documents, seed)
    assert_same(tmp_path / "a", tmp_path / "b")
    times = times_of(random.Random(seed), "12345")  # noqa: S311
    assert found_in(tmp_path / "b", times) == (*rebuilt(documents, times), [])
    for some in times_in(seed, "12345"):
        lineage = lineage_at(tmp_path / "b", **some, with_tags=True)
        known, tags = of_events(documents, some)
        assert (comparable(lineage.current), tags_of(lineage)) == (comparable(known), tags)
    # The files of loads before the last one, and of the load that died, are gone.
    assert len([*(tmp_path / "b" / "data").iterdir()]) <= len(read_tables(tmp_path / "b").tables) + 3


def load_in_parts(  # noqa: PLR0917
    spark: Any,
    tmp_path: Path,
    monkeypatch: Any,
    documents: list[dict[str, Any]],
    seed: int,
    parts: int = 3,
    **options: Any,
) -> None:
    """Load events shuffled, in parts, some of them twice, and by a load that dies first."""
    chance = random.Random(seed)  # noqa: S311
    others = chance.sample(documents, len(documents)) + chance.sample(documents, len(documents) // 4)
    cut = sorted(chance.sample(range(len(others)), parts - 1))
    for number, (begin, end) in enumerate(zip([0, *cut], [*cut, len(others)], strict=True)):
        part = written(tmp_path / "parts" / f"{number}.jsonl", others[begin:end])
        if number == 1:
            before = contents(tmp_path / "b")
            table = chance.choice([*TABLES])
            with monkeypatch.context() as patch:
                die_at(patch, table)
                with contextlib.suppress(DiedError):
                    load(spark, part, tmp_path / "b", **options)
                    # It may live alone if it has nothing new for this table.
                    after = contents(tmp_path / "b")
                    assert after[table] == before[table], table
                    before = after
            assert contents(tmp_path / "b") == before, table
        load(spark, part, tmp_path / "b", **options)


def assert_same(one: Path, other: Path) -> None:
    """Assert that two warehouses have the same rows, which fit together."""
    whole, found = contents(one), contents(other)
    assert [table for table in whole if found[table] != whole[table]] == []
    assert findings_of(one) == findings_of(other) == []


STAGES = ("staged_read", "staged_derived", *TABLES)
"""What a load writes, and where it may die."""


def test_a_date_with_many_rows_is_written_by_several_tasks(spark, tmp_path, monkeypatch):
    """No task has all rows of a date, and the tables are those of tasks that had."""
    events = written(tmp_path / "events.jsonl", history(5, days=1, jobs=8))
    load(spark, events, tmp_path / "whole")
    monkeypatch.setitem(load_session.SETTINGS, "spark.sql.shuffle.partitions", "16")
    monkeypatch.setattr(spreading, "ROWS_OF_A_TASK", 4)
    load(spark, events, tmp_path / "spread")
    assert_same(tmp_path / "whole", tmp_path / "spread")
    for table in ("events", "runs", "run_outputs", PARTIALS):
        [folder] = read_tables(tmp_path / "spread").folders(table, ["2026-01-01"])
        rows = [parquet.read_metadata(file).num_rows for file in Path(folder).glob("*.parquet")]
        # Two slices may be in one task: their hashes decide.
        assert max(rows) < sum(rows), (table, rows)


def test_a_load_that_died_at_any_step_is_repeated(spark, tmp_path, monkeypatch):
    """A reader sees the tables of before, and the next load makes those of a load that did not die."""
    documents = history(11, days=2, jobs=3)
    half = len(documents) // 2
    first, second = (
        written(tmp_path / f"{number}.jsonl", part)
        for number, part in enumerate((documents[half:], documents[:half]))
    )
    load(spark, first, tmp_path / "w")
    before = contents(tmp_path / "w")
    for stage in STAGES:
        with monkeypatch.context() as patch:
            die_at(patch, stage)
            with pytest.raises(DiedError):
                load(spark, second, tmp_path / "w")
        assert contents(tmp_path / "w") == before, stage
    with monkeypatch.context() as patch:
        patch.setattr(loads, "publish", dying)
        with pytest.raises(DiedError):
            load(spark, second, tmp_path / "w")
    assert contents(tmp_path / "w") == before
    load(spark, second, tmp_path / "w")
    load(spark, written(tmp_path / "all.jsonl", documents), tmp_path / "whole")
    assert contents(tmp_path / "w") == contents(tmp_path / "whole")
    assert findings_of(tmp_path / "w") == []


def dying(*_: Any) -> None:
    raise DiedError


def test_events_of_every_producer_are_loaded(spark, tmp_path):
    """Of this package, the Java agent, dbt and Airflow's SQL operators: no line is bad."""
    events = producers.copied(tmp_path / "events")
    summary = load(spark, events, tmp_path / "w")
    known = read_events(events)
    assert (summary.bad_lines, summary.events) == (0, len(known.items))
    assert findings_of(tmp_path / "w") == []
    documents = [event.document for event in known.items]
    assert comparable(current_lineage(tmp_path / "w")) == comparable(graph_of(documents))


def die_at(patch: Any, stage: str) -> None:
    """End a load before it writes a stage, or after it wrote a table whose files nothing names yet."""
    path, named = Workspace.path, formats.WrittenTables._named

    def path_or_end(self: Any, name: str) -> Path:
        if name == stage:
            raise DiedError
        return path(self, name)

    def named_or_end(self: Any, name: str, parts: Any) -> None:
        if name == stage:
            raise DiedError
        named(self, name, parts)

    patch.setattr(Workspace, "path", path_or_end)
    patch.setattr(formats.WrittenTables, "_named", named_or_end)


def test_lines_that_are_no_events_are_counted_and_kept(spark, tmp_path):
    """A load never fails by them, and the other lines of their file are loaded."""
    good = [json.dumps(each) for each in history(0, days=1, jobs=2)]
    lines = [good[0], "{not json", "", json.dumps({"no": "event"}), *good[1:]]
    folder = tmp_path / "events [1]"
    folder.mkdir()
    (folder / "a {b}.jsonl").write_text("\n".join(lines))
    with gzip.open(folder / "b.jsonl.gz", "wb") as file:
        file.write(b"\xff\xfe\n" + good[0].encode())
    summary = load(spark, folder, tmp_path / "w")
    assert (summary.files, summary.bad_lines) == (2, 3)
    assert (summary.events, summary.new_events) == (len(good) + 1, len(set(good)))
    rejected = [
        json.loads(line)
        for file in Path(summary.rejected).glob("part-*")
        for line in file.read_text().splitlines()
    ]
    places = sorted(each["problem"].partition(":")[0] for each in rejected)
    first, packed = folder / "a {b}.jsonl", folder / "b.jsonl.gz"
    assert places == [f"{first}, line 2", f"{first}, line 4", f"{packed}, line 1"]
    [row] = rows_of(read_tables(tmp_path / "w"), "loads")
    assert row["bad_lines"] == 3


def test_files_are_read_once_and_the_users_session_stays(spark, tmp_path):
    """A file is read again after it grew, and its earlier events are not stored twice."""
    documents = history(3, days=1, jobs=2)
    events = written(tmp_path / "events" / "events.jsonl", documents[:-1])
    before = dict(spark.conf.getAll) if hasattr(type(spark.conf), "getAll") else {}
    assert load(spark, events.parent, tmp_path / "w").new_events > 0
    assert load(spark, events.parent, tmp_path / "w").files == 0
    written(events, documents)
    again = load(spark, events.parent, tmp_path / "w")
    assert (again.files, again.new_events) == (1, 1)
    assert type(spark).getActiveSession()._jsparkSession.equals(spark._jsparkSession)
    assert (dict(spark.conf.getAll) if before else {}) == before
    assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"


def test_a_text_of_any_length_costs_no_row(spark):
    """As the message of an error: a run without its row would leave versions without their job."""
    derived = spark.sql(
        """SELECT 'runs' AS kind, concat('{"error_message": "', repeat('m', 20000001), '"}') AS payload"""
    )
    query = read_as_json(columns_of("runs", "error_message"), "runs")
    [row] = spark.sql(query, derived=derived).selectExpr("length(error_message) AS size").collect()
    assert row.size == 20_000_001


def test_ids_are_those_of_spark(spark):
    """Whoever joins tables by `xxhash64` of names finds their rows, with any length of names."""
    chance = random.Random(1)  # noqa: S311
    letters = "abc/.:_-é漢😀 \x00"
    names = [
        tuple("".join(chance.choices(letters, k=chance.randrange(80))) for _ in range(2)) for _ in range(500)
    ]
    names.append(("".join(chance.choices(letters, k=3000)), "content of a version"))
    frame = spark.createDataFrame(names, "a STRING, b STRING").selectExpr("a", "b", "xxhash64(a, b) AS id")
    assert [row.id for row in frame.collect()] == [id_of_names(row.a, row.b) for row in frame.collect()]
