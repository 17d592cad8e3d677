"""Rows from events, ids and the files of a warehouse, without Spark."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from itertools import permutations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph.estate import SHOP, dataset, edges, run
from warehouse import producers
from warehouse.histories import comparable, graph_of, history
from warehouse.plain_tables import plain_warehouse

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.reader import files_of
from airflow_provider_spark_lineage.openlineage.warehouse.asking import StoredVersion, current_lineage
from airflow_provider_spark_lineage.openlineage.warehouse.derive import derived, event_rows, raw_of
from airflow_provider_spark_lineage.openlineage.warehouse.invariants import findings_of
from airflow_provider_spark_lineage.openlineage.warehouse.load import load
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    CURRENT,
    StoredTables,
    loading,
    publish,
    read_tables,
    remove_unused,
)
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES
from airflow_provider_spark_lineage.openlineage.warehouse.workers import derive


def rows_of(*documents):
    tables = {}
    for table, row in derived([raw_of(each) for each in documents]):
        tables.setdefault(table, []).append(row)
    return tables


def test_a_job_that_says_the_same_has_one_version():
    """The version depends neither on the run nor on the order of keys in the event."""
    event = run("etl.copy", [dataset("a")], [dataset("b", "x y", **edges("x <- a.x", "y <- a.y"))], hour=1)
    later = json.loads(json.dumps(event, sort_keys=True)) | {"eventTime": "2026-01-02T01:00:00Z"}
    later["run"] = {**later["run"], "runId": "later"}
    fields = later["outputs"][0]["facets"]["columnLineage"]["fields"]
    later["outputs"][0]["facets"]["columnLineage"]["fields"] = dict(reversed(fields.items()))
    outputs = rows_of(event, later)["run_outputs"]
    assert len(outputs) == 2
    assert len({row["lineage_id"] for row in outputs}) == 1


def test_versions_are_read_as_they_were_derived():
    """Also edges of all rows, and an output without any."""
    events = [
        run("a", [dataset("x")], [dataset("y", "c d", **edges("c <- x.c", "* <- x.d", "d <- x.c"))]),
        run("b", [dataset("x")], [dataset("z", "c")]),
        run("c", [dataset("y")], [dataset("w", "c", **edges("c <- y.c"))]),
    ]
    rows = rows_of(*events)
    names = {row["dataset_id"]: (row["namespace"], row["name"]) for row in rows["names"]}
    versions = {row["lineage_id"]: StoredVersion.of(row, names) for row in rows["versions"]}
    assert {len(version.edges) for version in versions.values()} == {0, 1, 3}
    [edge] = next(version.edges for version in versions.values() if len(version.edges) == 1)
    assert edge == ("c", ("s3://lake", "y"), "c", "DIRECT", "IDENTITY", False)
    batch = pa.RecordBatch.from_pylist(rows["versions"])
    assert dict(StoredVersion.in_batch(batch, names)) == versions
    assert dict(StoredVersion.in_batch(batch.slice(1), names)) == dict([*versions.items()][1:])


def test_the_rows_of_runs_do_not_depend_on_the_order_of_events():
    """Also if events have one time, or none."""
    events = [
        run("a", [dataset("x")], [dataset("y")], id="1", state="START"),
        run("a", [dataset("x")], [dataset("y")], id="1", state="FAIL", ours=False),
        run("a", [dataset("x")], [dataset("y")], id="1") | {"eventTime": "never"},
    ]
    first = rows_of(*events)
    assert first["runs"][0]["state"] == "fail"
    for order in permutations(events):
        assert rows_of(*order) == first


def test_a_child_that_repeats_its_task_has_a_run_and_no_rows_of_datasets():
    """The rule of the graph: executions of a task are in the task."""
    parent = {
        "parent": {"run": {"runId": "shop.clean-1-1"}, "job": {"namespace": "jobs", "name": "shop.clean"}}
    }
    child = SHOP[0] | {
        "run": {"runId": "child", "facets": {**SHOP[0]["run"]["facets"], **parent}},
        "job": {"namespace": "jobs", "name": "shop.clean.execution"},
    }
    rows = rows_of(SHOP[0], child)
    assert {row["run_id"]: row["is_counted"] for row in rows["runs"]} == {
        "shop.clean-1-1": True,
        "child": False,
    }
    assert {row["run_id"] for row in rows["run_inputs"] + rows["run_outputs"]} == {"shop.clean-1-1"}


def test_events_of_every_producer_have_rows(tmp_path):
    """No line of theirs is bad."""
    rows = []
    for file in files_of(producers.copied(tmp_path / "events")):
        lines = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for number, line in enumerate(lines.splitlines(), 1):
            rows += event_rows(line, file.name, number)
    assert [row["problem"] for row in rows if row.get("problem")] == []
    jobs = {row["job_name"] for table, row in derived(row["raw"] for row in rows) if table == "runs"}
    assert {"shop.load", "shop.public.shop.mart.build.run", "shop.report"} < jobs


def test_every_row_has_the_columns_of_its_table():
    """A value that no column takes would be lost without a sign."""
    for table, rows in rows_of(*history(1)).items():
        if table in TABLES:
            known = {column.name for column in TABLES[table].columns}
            assert {key for row in rows for key in row} <= known, table


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "f, line 7: not JSON"),
        (b"\xff", "f, line 7: not UTF-8"),
        (b"[1]", "f, line 7: not an OpenLineage event"),
        (b"{}", "f, line 7: not an OpenLineage event"),
        (b"[" * 100_000, "f, line 7: nested too deeply"),
    ],
)
def test_what_is_no_event_is_a_problem_with_its_place(line, problem):
    """It costs its line, and never a load."""
    [row] = event_rows(line, "f", 7)
    assert row["problem"].startswith(problem)


def test_a_torn_line_gives_the_event_that_follows():
    """A writer that was killed leaves the beginning of an event in front of the next one."""
    text = json.dumps(SHOP[0])
    rows = [*event_rows((text[:100] + text).encode(), "f", 1)]
    assert [bool(row.get("problem")) for row in rows] == [True, False]


def test_texts_that_utf_8_cannot_hold_are_stored():
    """JSON can write half of a surrogate pair; a file of parquet cannot."""
    event = json.dumps(run("a\ud800b", [dataset("x")]))
    [row] = event_rows(event.encode(), "f", 1)
    assert row["job_name"] == "a?b"


def test_a_second_load_is_refused_and_names_the_first(tmp_path):
    """Two loads would each publish tables without the rows of the other."""
    (tmp_path / "events.jsonl").write_text("")
    with loading(tmp_path / "w"), pytest.raises(BadInputError, match=r"is being loaded by process \d+ on "):
        load(None, tmp_path / "events.jsonl", tmp_path / "w")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "was not written by a load"),
        ("[]", "was not written by a load"),
        ('{"format": 99}', "has format 99, and this release reads 1"),
    ],
)
def test_a_warehouse_that_cannot_be_read_is_one_sentence(tmp_path, text, sentence):
    """It names the cure, and nothing is written."""
    (tmp_path / CURRENT).write_text(text)
    with pytest.raises(BadInputError, match=sentence):
        read_tables(tmp_path)


def test_a_folder_with_other_files_is_not_made_a_warehouse(tmp_path):
    """A wrong path must not mix tables into somebody's files."""
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(BadInputError, match="has other files and no warehouse"):
        read_tables(tmp_path)
    with pytest.raises(BadInputError, match="has no warehouse"):
        current_lineage(tmp_path / "none")


def test_check_says_which_rule_the_tables_break(tmp_path):
    """A value without its row, a key twice, and a folder that somebody deleted."""
    rows = {
        "run_outputs": {"run_id": ["a"], "dataset_id": [1], "lineage_id": [7], "schema_id": [None]},
        "runs": {"run_id": ["a"]},
        "datasets": {
            "dataset_id": [1, 1],
            "canonical_id": [1, 1],
            "namespace": ["file", "file"],
            "name": ["/a", "/a"],
        },
    }
    tables = {name: {} for name in TABLES}
    for table, columns in rows.items():
        (tmp_path / "data" / table).mkdir(parents=True)
        pq.write_table(pa.table(columns), tmp_path / "data" / table / "part.parquet")
        tables[table] = {"": [f"data/{table}"]}
    publish(StoredTables(tmp_path, "1", tables))
    assert findings_of(tmp_path) == [
        "datasets: 1 row with a key that another row has.",
        "run_outputs.lineage_id: 1 value without a row in lineage_versions.",
    ]
    (tmp_path / "data" / "runs" / "part.parquet").unlink()
    (tmp_path / "data" / "runs").rmdir()
    assert findings_of(tmp_path) == [f"{tmp_path}/data/runs is gone, and {tmp_path} names it."]
    (tmp_path / "events.jsonl").write_text("")
    for use in (current_lineage, lambda path: load(None, tmp_path / "events.jsonl", path)):
        with pytest.raises(BadInputError, match=r"runs is gone, and .* needs it: delete the folder"):
            use(tmp_path)


def in_order(path, order, *tables):
    """Write the rows of some tables in the order that they have, or backwards."""
    for folder in [each for table in tables for each in read_tables(path).folders(table)]:
        [file] = Path(folder).glob("*.parquet")
        rows = pq.read_table(file)
        pq.write_table(rows.take([*range(len(rows))][::order]), file)


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_rows_in_files_changes_nothing(tmp_path, order):
    """Of two names of one dataset that have other columns, the same one counts, as in the graph."""
    symlinks = {"identifiers": [{"namespace": "hive", "name": "db.t"}]}
    named = {"namespace": "hive", "name": "db.t", "facets": dataset("t", "id:long note")["facets"]}
    both = [dataset("t", "id:int day", symlinks=symlinks), named]
    documents = [run("a", both, [dataset("out", "id")], id="1"), run("b", [], both, id="2")]
    path = plain_warehouse(tmp_path / "w", documents)
    in_order(path, order, "run_inputs", "run_outputs")
    assert comparable(current_lineage(path)) == comparable(graph_of(documents))


@pytest.mark.parametrize("order", [1, -1])
def test_a_name_that_moves_twice_in_a_microsecond_means_one_dataset_at_a_time(tmp_path, order):
    """Its intervals begin at one time in the table; their order is that of the nanoseconds."""
    symlinks = {"identifiers": [{"namespace": "hive", "name": "db.t"}]}
    documents = [
        run(name, [], [dataset(name, symlinks=symlinks)])
        | {"eventTime": f"2026-01-01T00:00:00.00000000{number}Z"}
        for number, name in enumerate("xy")
    ]
    path = plain_warehouse(tmp_path / "w", documents)
    in_order(path, order, "dataset_names")
    assert findings_of(path) == []


def test_files_of_a_load_that_died_are_removed_and_those_in_use_are_not(tmp_path):
    """Files of the current tables stay, and so do folders of others."""
    one, two = "data/20260101T000000-aa", "data/20260102T000000-bb"
    others = "data/bronze"
    for name in (f"{one}/runs/day=2026-01-01", f"{one}/staged_read", f"{two}/runs/day=2026-01-01", others):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "part").write_text("")
    snapshot = StoredTables(tmp_path, "1", {"runs": {"2026-01-01": [f"{one}/runs/day=2026-01-01"]}})
    publish(snapshot)
    remove_unused(snapshot)
    files = {str(each.relative_to(tmp_path)) for each in (tmp_path / "data").rglob("part")}
    assert files == {f"{one}/runs/day=2026-01-01/part", f"{others}/part"}


def test_a_task_says_once_what_all_runs_of_a_job_say():
    """Contents behind ids are stored once, and of the statements of a symlink the first and the last."""
    symlinks = {"identifiers": [{"namespace": "hive", "name": "db.out", "type": "TABLE"}]}
    output = dataset("out", "id", **edges("id <- raw.id"), symlinks=symlinks)
    documents = [
        run("etl.t", [dataset("raw", "id")], [output], state=state, hour=hour, id=f"{hour}")
        for hour in range(5)
        for state in ("START", "COMPLETE")
    ]
    families: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        families[document["run"]["runId"]].append(raw_of(document))
    batches = [pa.RecordBatch.from_pylist([{"texts": texts}]) for texts in families.values()]
    kinds = Counter(kind for batch in derive(iter(batches)) for kind in batch.column("kind").to_pylist())
    assert kinds["runs"] == kinds["run_outputs"] == 5
    assert (kinds["versions"], kinds["schemas"], kinds["names"], kinds["statements"]) == (1, 1, 2, 2)
