"""`spark-lineage changes`: what changed between two times is what two graphs of the events say."""

from __future__ import annotations

import json
import random
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from graph.estate import SHOP, dataset, edges, run, task
from warehouse.histories import graph_of, history
from warehouse.plain_tables import plain_warehouse

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns
from airflow_provider_spark_lineage.openlineage.graph.changes import compared
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.warehouse.asking import loaded_tables, rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.changes_between import changes_between, changes_in
from airflow_provider_spark_lineage.openlineage.warehouse.past import Past
from airflow_provider_spark_lineage.openlineage.warehouse.retention import retain
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    CURRENT,
    StoredTables,
    publish,
    read_tables,
)

Documents = list[dict[str, Any]]


def times_of(chance: random.Random, days: str) -> list[int]:
    """Return two times: the begins of days, or whole and half hours of them."""
    hour = f"T{chance.randrange(24):02}:{chance.choice(['00', '30'])}:00Z"
    texts = [f"2026-01-0{chance.choice(days)}{each}" for each in ("T00:00:00Z", hour)]
    return sorted(map(instant_ns, texts))


def rebuilt(documents: Documents, times: list[int], without: list[JobName] = ()) -> tuple[Any, ...]:
    """Return the changes between two graphs, without some jobs, and the names that are not followed."""
    graphs = [graph_of(documents, as_of=time) for time in times]
    some = [
        Current(
            tuple(write for write in graph.writes if write.job not in without),
            tuple(read for read in graph.reads if read.job not in without),
            {job: last for job, last in graph.runs.items() if job not in without},
        )
        for graph in graphs
    ]
    names = sorted({name for graph in graphs for name in graph.contradictions})
    return [each.document() for each in compared(*some)], names


def found_in(path: Path, times: list[int]) -> tuple[Any, ...]:
    found = changes_in(Past(loaded_tables(path)), *times)
    return [each.document() for each in found.changes], found.contradictions, found.left_out


@pytest.mark.parametrize("seed", range(100))
def test_changes_are_those_between_two_graphs(tmp_path, seed):
    """Runs are under way at both times, names move, tables are dropped, runs fail and are tried again."""
    documents = history(seed)
    path = plain_warehouse(tmp_path / "w", documents)
    chance = random.Random(seed)  # noqa: S311
    times = times_of(chance, "12345")
    assert found_in(path, times) == (*rebuilt(documents, times), [])


@pytest.mark.parametrize("seed", [300, 301])
def test_jobs_that_did_not_change_are_not_read(tmp_path, seed):
    """Among many jobs, also those that nothing leads to, the changes are the same."""
    documents = history(seed, days=4, jobs=20)
    path = plain_warehouse(tmp_path / "w", documents)
    chance = random.Random(seed)  # noqa: S311
    for _ in range(3):
        times = times_of(chance, "1234")
        assert found_in(path, times) == (*rebuilt(documents, times), [])


@pytest.mark.parametrize("seed", range(10))
def test_without_their_events_jobs_that_were_under_way_are_left_out(tmp_path, seed):
    """What is known of the others stays exact."""
    documents = history(seed, days=5)
    path = plain_warehouse(tmp_path / "w", documents)
    retain(path, events_days=2, runs_days=99, today=date(2026, 1, 5))
    times = times_of(random.Random(seed), "2345")  # noqa: S311
    *found, left_out = found_in(path, times)
    assert found == [*rebuilt(documents, times, left_out)]


@pytest.mark.parametrize("seed", range(10))
def test_jobs_whose_runs_were_dropped_are_left_out(tmp_path, seed):
    """Those that have run since, so that the run which decided at a time is not current any more."""
    documents = history(seed, days=5)
    path = plain_warehouse(tmp_path / "w", documents)
    keep_current(path, documents)
    retain(path, events_days=1, runs_days=3, today=date(2026, 1, 5))
    times = times_of(random.Random(seed), "345")  # noqa: S311
    *found, left_out = found_in(path, times)
    assert found == [*rebuilt(documents, times, left_out)]


def keep_current(path: Path, documents: Documents) -> None:
    """Write the runs that decide the current lineage, as a load does; the plain tables have all."""
    current = graph_of(documents)
    ids = {each.run.id for each in (*current.writes, *current.reads)}
    ids |= {last.id for last in current.runs.values()}
    tables = loaded_tables(path)
    rows = [row for row in rows_of(tables, "runs") if row["is_counted"]]
    groups = {(row["job_id"], row["group_id"]) for row in rows if row["run_id"] in ids}
    kept = [
        {"run_id": row["run_id"], "run_date": row["event_date"]}
        for row in rows
        if (row["job_id"], row["group_id"]) in groups
    ]
    [folder] = tables.folders("current_runs")
    file = Path(folder) / "part-0.parquet"
    pq.write_table(pa.Table.from_pylist(kept, pq.read_schema(file)), file)


def named(name: str, table: str) -> dict[str, Any]:
    """Return a dataset with a symlink."""
    symlink = {"namespace": "hive", "name": table, "type": "TABLE"}
    return dataset(name, "id", symlinks={"identifiers": [symlink]}, **edges("id <- raw.id"))


def write(day: int, output: dict[str, Any], job: str = "", hour: int = 6) -> dict[str, Any]:
    job = job or f"write.{output['name']}"
    return run(job, [dataset("raw", "id")], [output], day=day, hour=hour, id=f"{job}-{day}")


def read_by_name(day: int) -> dict[str, Any]:
    """Return a run that reads a table by its name, and says the same every day."""
    table = {"namespace": "hive", "name": "db.t", "facets": {}}
    facet = {"fields": {"id": {"inputFields": [{"namespace": "hive", "name": "db.t", "field": "id"}]}}}
    copy = dataset("copy", "id", columnLineage=facet)
    return run("copy", [table], [copy], day=day, id=f"copy-{day}")


def instance(day: int, index: int, source: str, state: str = "COMPLETE") -> dict[str, Any]:
    parent = {"parent": {"run": {"runId": f"dag-{day}"}, "job": {"namespace": "jobs", "name": "etl"}}}
    output = dataset("mapped", f"c{index}", **edges(f"c{index} <- {source}.id"))
    facets = {**task("etl", "m", map_index=index), **parent}
    id_ = f"m-{day}-{index}"
    return run(
        "etl.m", [dataset(source, "id")], [output], day=day, hour=index, id=id_, state=state, facets=facets
    )


@pytest.mark.parametrize(
    ("documents", "kinds"),
    [
        pytest.param(
            [write(1, named("/a", "db.t")), read_by_name(1), write(3, named("/b", "db.t")), read_by_name(3)],
            {"dataset_added", "sources_changed"},
            id="a table that moved, read by its name",
        ),
        pytest.param(
            [read_by_name(1), write(3, named("/a", "db.t"))],
            {"dataset_added", "dataset_removed", "sources_changed"},
            id="a name whose table is known later",
        ),
        pytest.param(
            [
                *(write(1, dataset("/a", "id", **edges("id <- raw.id"))), read_by_name(1)),
                *(write(3, named("/a", "db.t")), read_by_name(3)),
            ],
            {"dataset_removed", "sources_changed"},
            id="a name that a job says later, which changes nothing else",
        ),
        pytest.param(
            [
                write(1, dataset("out", "id:int", **edges("id <- raw.id")), "one"),
                write(1, dataset("out", "id:date", **edges("id <- raw.id")), "two")
                | {"eventTime": "2026-01-01T07:00:00Z"},
                write(3, dataset("out", "id:int", **edges("id <- raw.id")), "one"),
            ],
            {"type_changed"},
            id="two writers in turn, each with its schema",
        ),
        pytest.param(
            [
                *(instance(1, index, "first") for index in (1, 2)),
                instance(3, 1, "third", "FAIL"),
                instance(3, 2, "second"),
            ],
            {"dataset_added", "sources_changed"},
            id="instances of a mapped task, of which one failed",
        ),
        pytest.param(
            [
                run(
                    "stop",
                    [dataset("first", "id")],
                    [dataset("out", "id", **edges("id <- first.id"))],
                    id="1",
                ),
                run("stop", [dataset("second", "id")], day=3, state="FAIL", ours=False, id="2"),
            ],
            {"dataset_added"},
            id="a run that failed, so that the reads of the one before count, too",
        ),
    ],
)
def test_what_is_the_same_by_its_hash_may_have_another_meaning(tmp_path, documents, kinds):
    """Names move, and of several writers another one is the last; what is read depends on runs before."""
    path = plain_warehouse(tmp_path / "w", documents)
    times = [instant_ns(f"2026-01-0{day}T00:00:00Z") for day in (2, 4)]
    changes, *_ = found = found_in(path, times)
    assert found == (*rebuilt(documents, times), [])
    assert {each["kind"] for each in changes} == kinds


@pytest.mark.parametrize(("day", "is_followed"), [(2, True), (3, True), (4, False), (6, False)])
def test_a_name_is_followed_until_it_is_used_in_turn(tmp_path, day, is_followed):
    """The table of names has only the last time of each statement, so the events say what was between."""
    documents = [
        write(number, named(name, "db.t")) for number, name in enumerate(["/a", "/b", "/a", "/c", "/a"], 1)
    ]
    path = plain_warehouse(tmp_path / "w", documents)
    times = [instant_ns(f"2026-01-0{each}T00:00:00Z") for each in (day, day)]
    assert found_in(path, times) == (*rebuilt(documents, times), [])
    assert found_in(path, times)[1] == ([] if is_followed else [("hive", "db.t")])
    retain(path, events_days=1, runs_days=99, today=date(2026, 1, 5))
    # Without the events it is not known, and the report names it.
    assert found_in(path, times)[1] == ([] if day == 2 else [("hive", "db.t")])


def over_midnight() -> Documents:
    """Return a DAG run over midnight: one task ends before it, and one is under way."""
    facet = {"airflowDagRun": {"dag": {"dag_id": "shop"}, "dagRun": {"run_id": "r", "clear_number": 0}}}
    parent = {"parent": {"run": {"runId": "dag"}, "job": {"namespace": "jobs", "name": "shop"}}}
    early = dataset("early", "id", **edges("id <- raw.id"))
    late = dataset("late", "id", **edges("id <- early.id"))
    events = [
        run("shop", day=1, hour=22, state="START", id="dag", facets=facet, ours=False),
        run("shop.early", [dataset("raw", "id")], [early], day=1, hour=23, id="1", facets=parent),
        run("shop.late", [early, dataset("side")], day=1, hour=23, state="START", id="2", facets=parent),
        run("shop.late", [early], [late], day=2, hour=1, id="2", facets=parent),
        run("shop", day=2, hour=2, id="dag", facets=facet, ours=False),
    ]
    return [
        *events,
        run("shop.early", [dataset("raw", "id")], [early], day=3, hour=23, id="3"),
        run("other", [dataset("x")], [dataset("y")], day=3, hour=1),
    ]


def test_a_run_that_goes_on_has_written_nothing_yet(tmp_path):
    """Its row has what it did later, and no more what START named; a task that had ended has written."""
    path = plain_warehouse(tmp_path / "w", over_midnight())
    times = [instant_ns(f"2026-01-0{day}T00:00:00Z") for day in (2, 3)]
    changes, _, left_out = found_in(path, times)
    assert [(each["kind"], each["name"]) for each in changes] == [
        ("dataset_removed", "side"),
        ("dataset_added", "late"),
    ]
    assert left_out == []


def test_a_run_whose_events_are_gone_is_left_out_and_the_ended_ones_are_not(tmp_path):
    """The row of a task that had ended suffices, although the run of its DAG went on."""
    path = plain_warehouse(tmp_path / "w", over_midnight())
    retain(path, events_days=1, runs_days=99, today=date(2026, 1, 3))
    done = invoke(path, "2026-01-02", "2026-01-04")
    assert done.exit_code == 2
    sentence = (
        "Not compared, because `warehouse retain` dropped the runs or events that show their lineage"
        " at FROM or TO: jobs/shop.late.\n"
    )
    assert done.stdout == f"2 added\n\nadded\n  x: is new\n  y: is new\n\n{sentence}"
    assert done.stderr == f"spark-lineage: {sentence}"
    document = json.loads(invoke(path, "2026-01-02", "2026-01-04", "--format", "json").stdout)
    assert document["left_out"] == [{"namespace": "jobs", "name": "shop.late"}]
    markdown = invoke(path, "2026-01-02", "2026-01-04", "--format", "markdown").stdout
    assert "jobs/shop.late" in markdown


def shop_events() -> Documents:
    """Return events of a shop whose report loses a column on the second day, and its customers a mask."""
    text = json.dumps(SHOP).replace("2026-01-01", "2026-01-02").replace("-1-", "-2-")
    later = json.loads(text)
    clean = later[0]["outputs"][0]["facets"]
    clean["columnLineage"]["fields"]["email_hash"]["inputFields"][0]["transformations"][0]["masking"] = False
    clean["schema"]["fields"][1]["type"] = "string"
    return [*SHOP, *later]


def shop(path: Path) -> Path:
    return plain_warehouse(path, shop_events())


def invoke(path: Path, *words: str) -> Any:
    return CliRunner().invoke(main, ["changes", "--warehouse", str(path), *words])


def test_the_forms_and_statuses_are_those_of_diff(tmp_path):
    """The same words for the same change, whoever compares."""
    path = shop(tmp_path / "w")
    text = invoke(path, "2026-01-02", "2026-01-03")
    assert text.exit_code == 1
    assert text.stdout == (
        "2 breaking\n\nbreaking\n"
        "  orders.amount: is string instead of double\n      used by shop.report\n"
        "  orders.email_hash: shows s3://lake/raw/orders.email, which was masked\n      used by shop.report\n"
    )
    assert invoke(path, "2026-01-02", "2026-01-03", "--fail-on", "never").exit_code == 0
    document = json.loads(invoke(path, "2026-01-02", "--format", "json").stdout)
    assert [each["kind"] for each in document["changes"]] == ["type_changed", "unmasked"]
    assert invoke(path, "2026-01-02", "--format", "markdown").stdout.startswith(
        "### Data flow\n\n2 breaking\n"
    )
    same = invoke(path, "2026-01-02", "2026-01-02T00:30:00Z")
    assert (same.exit_code, same.stdout) == (0, "The data flow is the same.\n")


def test_a_date_is_its_first_moment_in_utc(tmp_path):
    """What happened on the date TO is not in it, and in another zone the moment is another one."""
    path = shop(tmp_path / "w")
    assert invoke(path, "2026-01-01T12:00:00Z", "2026-01-02").stdout == "The data flow is the same.\n"
    assert invoke(path, "2026-01-02T02:00:00+01:00").exit_code == 0
    assert invoke(path, "2026-01-02T01:59:00+01:00").exit_code == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["2026-01-03", "2026-01-02"],
            "FROM (2026-01-03) is after TO (2026-01-02): give the earlier time first",
        ),
        (["2999-01-03"], "FROM (2999-01-03) is after TO (now): give the earlier time first"),
        (
            ["2025-12-31"],
            "FROM is before the first event in {path} (2026-01-01T01:00:00Z): give a later time.",
        ),
        (
            ["yesterday"],
            "FROM yesterday is not an RFC 3339 date-time with an offset: give a date (2026-01-31) or a time"
            " (2026-01-31T06:00:00Z)",
        ),
        (
            ["2026-01-02", "2026-02-30"],
            "TO 2026-02-30 is not a date and time that exists: give a date (2026-01-31) or a time"
            " (2026-01-31T06:00:00Z)",
        ),
        ([], "Missing argument 'FROM': see `main changes --help`"),
    ],
)
def test_times_that_do_not_fit_are_one_sentence(tmp_path, words, sentence):
    """With the cure, and the status 2."""
    path = shop(tmp_path / "w")
    done = invoke(path, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"spark-lineage: {sentence.format(path=path)}\n"


def test_a_time_whose_runs_were_dropped_is_refused(tmp_path):
    """The sentence names the first date that is whole; of two retentions that of the later one."""
    path = shop(tmp_path / "w")
    keep_current(path, shop_events())
    retain(path, events_days=0, runs_days=0, today=date(2026, 1, 1))
    retain(path, events_days=99, runs_days=99, today=date(2026, 1, 3))
    with pytest.raises(BadInputError, match=r"FROM is before 2026-01-02, and `warehouse retain` has dropped"):
        changes_between(path, instant_ns("2026-01-01T12:00:00Z"), instant_ns("2026-01-03T00:00:00Z"))


def test_a_folder_that_cannot_be_asked_is_one_sentence(tmp_path):
    """Without a warehouse, with one that has no runs, and with one of a newer release."""
    none = invoke(tmp_path / "none", "2026-01-01")
    assert (none.exit_code, none.stdout) == (2, "")
    assert none.stderr == (
        f"spark-lineage: {tmp_path / 'none'} has no warehouse: `spark-lineage warehouse load` makes one.\n"
    )
    (tmp_path / "w").mkdir()
    publish(StoredTables(tmp_path / "w", "1"))
    empty = invoke(tmp_path / "w", "2026-01-01")
    assert empty.exit_code == 2
    assert empty.stderr == (
        f"spark-lineage: {tmp_path / 'w'} has no runs yet: load events with `spark-lineage warehouse load`.\n"
    )
    file = tmp_path / "w" / CURRENT
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 2}))
    newer = invoke(tmp_path / "w", "2026-01-01")
    assert newer.exit_code == 2
    assert "the warehouse has format 2, and this release reads 1" in newer.stderr


@pytest.mark.parametrize("text", [None, b"not parquet"])
@pytest.mark.parametrize(
    "table", ["runs", "run_inputs", "run_outputs", "lineage_versions", "datasets", "dataset_schemas", "jobs"]
)
def test_a_file_that_is_gone_or_broken_is_one_sentence(tmp_path, table, text):
    """Not another answer, and not the status of a change."""
    path = shop(tmp_path / "w")
    file = next(Path(loaded_tables(path).folders(table)[0]).glob("*.parquet"))
    file.unlink()
    if text is not None:
        file.write_bytes(text)
    done = invoke(path, "2026-01-02", "2026-01-03")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"spark-lineage: {path} cannot be read (")
    assert done.stderr.endswith("delete the folder of the warehouse, and load the events again.\n")


def test_a_file_in_place_of_a_warehouse_is_one_sentence(tmp_path):
    """With the cure."""
    (tmp_path / "w").write_text("")
    done = invoke(tmp_path / "w", "2026-01-02")
    assert done.stderr == f"spark-lineage: {tmp_path / 'w'} is a file: give a folder for the warehouse.\n"


def mapped(
    dag: int, index: int, source: str, when: tuple[int, int], state: str = "COMPLETE"
) -> dict[str, Any]:
    """Return an event of an instance of a mapped task, in a run of its DAG that has no events of its own."""
    parent = {"run": {"runId": f"dag-{dag}"}, "job": {"namespace": "jobs", "name": "etl"}}
    column = f"c{index}"
    output = dataset("out", column, **edges(f"{column} <- {source}.id"))
    facets = {**task("etl", "m", map_index=index), "parent": parent}
    return run(
        "etl.m",
        [dataset(source, "id")],
        [output],
        day=when[0],
        hour=when[1],
        id=f"m-{dag}-{index}",
        state=state,
        facets=facets,
    )


@pytest.mark.parametrize("end", ["21:00", "22:00", "22:30"])
def test_an_instance_under_way_has_the_others_of_its_group(tmp_path, end):
    """Also if another run of its DAG ended in between."""
    documents = [
        mapped(1, 0, "a", (1, 13)),
        mapped(2, 0, "b", (2, 7)),
        mapped(1, 1, "c", (2, 20), "START"),
        mapped(1, 1, "c", (2, 22)),
    ]
    path = plain_warehouse(tmp_path / "w", documents)
    times = [instant_ns("2026-01-02T00:00:00Z"), instant_ns(f"2026-01-02T{end}:00Z")]
    assert found_in(path, times) == (*rebuilt(documents, times), [])


@pytest.mark.parametrize("seed", range(8))
def test_of_two_writers_at_one_time_the_same_one_is_the_last(tmp_path, seed):
    """Whatever the order in which their runs are read."""

    def writer(job: str, column: str, day: int, name: str) -> dict[str, Any]:
        output = dataset("out", column, **edges(f"{column} <- raw.id"))
        return run(job, [dataset("raw", "id")], [output], day=day, id=f"{name}{seed}")

    documents = [writer("one", "a", 1, "x"), writer("one", "a", 3, "y"), writer("two", "b", 3, "z")]
    path = plain_warehouse(tmp_path / "w", documents)
    times = [instant_ns(f"2026-01-0{day}T00:00:00Z") for day in (2, 4)]
    assert found_in(path, times) == (*rebuilt(documents, times), [])


def test_the_dates_that_retention_kept_are_read_again(tmp_path):
    """A load that follows publishes them, too."""
    publish(StoredTables(tmp_path, "1", kept_from={"runs": "2026-01-02"}))
    assert read_tables(tmp_path).kept_from == {"runs": "2026-01-02"}
