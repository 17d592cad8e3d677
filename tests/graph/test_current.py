"""What is current in events of many runs, and which dataset a name means."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from graph.estate import current, dataset, edges, run, task, wrote

from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns


def copied(source, target, column="x", **more):
    return run(
        "etl.copy",
        [dataset(source)],
        [dataset(target, column, **edges(f"{column} <- {source}.{column}"))],
        **more,
    )


def test_the_last_run_of_a_job_that_wrote_an_output_counts():
    """A later run with other columns replaces the edges; a run that wrote nothing does not."""
    before, later = copied("a", "b", "x", hour=1), copied("a", "b", "y", hour=2)
    idle = run("etl.copy", [dataset("a")], hour=3, state="FAIL")
    for events in permutations([before, later, idle]):
        assert wrote(current(*events)) == {("etl.copy", "b"): {("y", "a.y")}}


def test_times_choose_other_runs():
    """`as_of` is what was current then, `since` leaves out jobs that ended before."""
    first, second = copied("a", "b", "x", day=1), copied("a", "b", "y", day=3)
    other = run("old.job", [dataset("a")], [dataset("c", "x", **edges("x <- a.x"))], day=1)
    on_second_day = instant_ns("2026-01-02T00:00:00Z")
    assert wrote(current(first, second, other, as_of=on_second_day)) == {
        ("etl.copy", "b"): {("x", "a.x")},
        ("old.job", "c"): {("x", "a.x")},
    }
    assert wrote(current(first, second, other, since=on_second_day)) == {("etl.copy", "b"): {("y", "a.y")}}


def test_an_edge_was_seen_first_when_a_run_first_had_it():
    """Also if a run between did not have it."""
    [write] = current(*(copied("a", "b", "x" if day != 2 else "y", day=day) for day in (3, 2, 1))).writes
    assert [write.first_seen[edge] for edge in write.edges] == [instant_ns("2026-01-01T06:00:00Z")]
    assert write.run.time == "2026-01-03T06:00:00Z"


def test_the_outputs_of_a_start_and_of_a_foreign_fail_are_not_written():
    """The rule of the viewer: only what an event says to be written."""
    started = run("a.b", [dataset("x")], [dataset("y")], state="START", id="1", hour=1, ours=False)
    failed = run("a.b", [dataset("x")], [dataset("y")], state="FAIL", id="1", hour=2, ours=False)
    found = current(started, failed)
    assert found.writes == ()
    assert {read.input[1] for read in found.reads} == {"x"}


def test_the_instances_of_a_mapped_task_are_one_run():
    """Each wrote a part, and the instances of an earlier DAG run are replaced together."""

    def instance(index, column, day):
        parent = {"parent": {"run": {"runId": f"dag-{day}"}, "job": {"namespace": "jobs", "name": "etl"}}}
        facets = {**task("etl", "copy", map_index=index), **parent}
        return copied("a", "b", column, facets=facets, day=day, hour=index, id=f"{day}-{index}")

    events = [instance(0, "old", 1), instance(0, "x", 2), instance(1, "y", 2)]
    assert wrote(current(*events)) == {("etl.copy", "b"): {("x", "a.x"), ("y", "a.y")}}


def test_an_event_that_is_repeated_says_nothing_new():
    """Backends repeat requests; nothing is counted twice."""
    event = copied("a", "b")
    assert current(event) == current(event, event)


def named(location, name, **more):
    identifiers = [{"namespace": "hive", "name": name, "type": "TABLE"}]
    return run("etl.make", [], [dataset(location, "x", symlinks={"identifiers": identifiers})], **more)


def reader(name, **more):
    event = run(
        more.pop("job", "trino.read"), [], [dataset("out", "x", **edges("x <- a.x"))], ours=False, **more
    )
    source = event["outputs"][0]["facets"]["columnLineage"]["fields"]["x"]["inputFields"][0]
    source |= {"namespace": "hive", "name": name}
    return event


def sources(found):
    return {write.job.name: edge.source for write in found.writes for edge in write.edges}


def test_a_symlink_holds_from_when_it_was_said_until_it_is_said_of_another_location():
    """Two locations are never one dataset: each reader gets the one of its time."""
    events = [
        named("/a", "db.t", day=1),
        reader("db.t", day=2, job="in may"),
        named("/b", "db.t", day=3),
        reader("db.t", day=4, job="in june"),
    ]
    for order in permutations(events):
        found = current(*order)
        assert sources(found) == {"in may": ("s3://lake", "/a"), "in june": ("s3://lake", "/b")}
        assert found.aliases == {("hive", "db.t"): ("s3://lake", "/b")}


def test_a_name_that_goes_back_and_forth_is_followed_to_none():
    """Two producers contradict each other, and the answer says so."""
    events = [named("/a", "db.t", day=1), named("/b", "db.t", day=2), named("/a", "db.t", day=3)]
    found = current(*events, reader("db.t", day=4))
    assert sources(found) == {"trino.read": ("hive", "db.t")}
    assert found.contradictions == (("hive", "db.t"),)


def test_two_names_that_are_symlinks_of_each_other_are_one_dataset():
    """A catalog's own name and a location may each be said to be the other's symlink."""
    by_location = named("/a", "db.t")
    by_table = run("hive.load", [], [dataset("/other", "x")])
    by_table["outputs"][0] |= {"namespace": "hive", "name": "db.t"}
    by_table["outputs"][0]["facets"]["symlinks"] = {"identifiers": [{"namespace": "s3://lake", "name": "/a"}]}
    assert len(current(by_location, by_table).datasets) == 1


def test_a_renamed_dataset_has_the_columns_of_the_former():
    """The former name's writer is upstream of whoever reads the new name."""
    change = {
        "lifecycleStateChange": "RENAME",
        "previousIdentifier": {"namespace": "s3://lake", "name": "old"},
    }
    renamed = run("etl.rename", [], [dataset("new", "x", lifecycleStateChange=change)])
    assert wrote(current(renamed)) == {("etl.rename", "new"): {("x", "old.x")}}


def test_a_run_without_columns_has_a_gap_unless_nothing_is_missing():
    """Another producer's silence is no proof; an event of this package without gaps is complete."""
    foreign = run("dbt.model", [dataset("a")], [dataset("b", "x")], ours=False)
    own = run("task", [dataset("a")], [dataset("b", "x")])
    kinds = {write.job.name: [gap["kind"] for gap in write.gaps] for write in current(foreign, own).writes}
    assert kinds == {"dbt.model": ["no_column_lineage"], "task": []}


@pytest.mark.parametrize("seed", range(40))
def test_a_time_chooses_what_a_plain_loop_chooses(seed):
    """The newest run of a job and output that ended by then, and not before the other limit."""
    chance = random.Random(seed)  # noqa: S311
    runs = [
        (f"job{chance.randrange(3)}", f"out{chance.randrange(2)}", day, chance.choice("xyz"))
        for day in chance.sample(range(1, 29), k=12)
    ]
    events = [
        run(job, [dataset("in")], [dataset(output, column, **edges(f"{column} <- in.{column}"))], day=day)
        for job, output, day, column in runs
    ]
    chance.shuffle(events)
    for day in range(1, 29, 3):
        since, as_of = sorted((day, chance.randrange(1, 29)))
        expected = {}
        for job, output, ended, column in sorted(runs, key=lambda each: each[2]):
            if since <= ended <= as_of:
                expected[job, output] = {(column, f"in.{column}")}
        limits = {
            "since": instant_ns(f"2026-01-{since:02}T00:00:00Z"),
            "as_of": instant_ns(f"2026-01-{as_of:02}T23:00:00Z"),
        }
        assert wrote(current(*events, **limits)) == expected
