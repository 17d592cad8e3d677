"""`spark-lineage changes`: what changed between two times is what two graphs of the events say."""

from __future__ import annotations

import random
from datetime import date
from typing import Any

import pytest
from graph.estate import dataset, edges, run, task
from warehouse.histories import history
from warehouse.plain_tables import plain_warehouse
from warehouse.two_times import found_in, keep_current, over_midnight, rebuilt, times_of

from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns
from airflow_provider_spark_lineage.openlineage.warehouse.retention import retain
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables, publish, read_tables


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
