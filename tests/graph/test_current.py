"""What is current in events of many runs, and which dataset a name means."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from graph.estate import current, dataset, edges, run, task, wrote

from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph


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


def test_a_later_event_does_not_name_the_task_of_a_run():
    """At a time, events after it are not known, also if they are of the task that a run belongs to."""
    parent = {"parent": {"run": {"runId": "task"}, "job": {"namespace": "jobs", "name": "etl.t"}}}
    execution = run("etl.t.x", [dataset("a")], [dataset("b", **edges("x <- a.x"))], hour=10, facets=parent)
    above = run("etl.t", hour=12, id="task", facets=task("etl", "t"))
    for hour, dag in ((11, ""), (13, "etl")):
        found = current(execution, above, as_of=instant_ns(f"2026-01-01T{hour}:00:00Z"))
        assert [write.run.dag_id for write in found.writes] == [dag]


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


def test_the_instances_of_a_mapped_task_are_one_run_also_if_two_dag_runs_overlap():
    """A backfill runs side by side with the schedule: each DAG run has all of its instances."""

    def instance(index, column, dag_run, hour):
        parent = {"parent": {"run": {"runId": dag_run}, "job": {"namespace": "jobs", "name": "etl"}}}
        facets = {**task("etl", "copy", map_index=index), **parent}
        return copied("a", "b", column, facets=facets, hour=hour, id=f"{dag_run}-{index}")

    events = [instance(0, "x", "new", 1), instance(0, "old", "other", 2), instance(1, "y", "new", 3)]
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


FILTERED = ("x <- a.x", "x <- a.day INDIRECT FILTER", "y <- a.y", "y <- a.day INDIRECT FILTER")


def test_what_decides_the_rows_at_every_column_decides_those_of_the_dataset():
    """A producer without edges of a dataset repeats them; a filter of one column alone is its own."""
    repeated = run("all", [dataset("a")], [dataset("b", "x y", **edges(*FILTERED))], ours=False)
    alone = run("one", [dataset("a")], [dataset("c", "x y", **edges(*FILTERED[:3]))], ours=False)
    assert wrote(current(repeated, alone)) == {
        ("all", "b"): {("x", "a.x"), ("y", "a.y"), (None, "a.day")},
        ("one", "c"): {("x", "a.x"), ("y", "a.y"), ("x", "a.day")},
    }


def test_a_column_without_a_schema_is_known_by_what_decides_its_rows():
    """A constant has no other edge; where a schema has the column, the edge of the dataset is enough."""
    constant = FILTERED[0], FILTERED[1], FILTERED[3]
    bare = run("bare", [dataset("a")], [dataset("b", **edges(*constant))], ours=False)
    described = run("described", [dataset("a")], [dataset("c", "x y", **edges(*constant))], ours=False)
    found = current(bare, described)
    assert wrote(found) == {
        ("bare", "b"): {("x", "a.x"), (None, "a.day"), ("y", "a.day")},
        ("described", "c"): {("x", "a.x"), (None, "a.day")},
    }
    graph = LineageGraph.of(found)
    fields = {name: set(graph.fields_of((namespace, name))) for namespace, name in graph.datasets}
    assert fields["b"] == fields["c"] == {"x", "y"}


def test_a_facet_without_edges_says_nothing_of_the_columns():
    """Another producer could not tell; only this package's silence means that there are none."""
    empty = run("sql", [dataset("a")], [dataset("b", "x", columnLineage={"fields": {}})], ours=False)
    [write] = current(empty).writes
    assert [gap["kind"] for gap in write.gaps] == ["no_column_lineage"]


def test_a_renamed_dataset_without_a_schema_has_a_gap():
    """Its columns are those of the former dataset, and the event does not name them."""
    change = {
        "lifecycleStateChange": "RENAME",
        "previousIdentifier": {"namespace": "s3://lake", "name": "old"},
    }
    [write] = current(run("etl.rename", [], [dataset("new", lifecycleStateChange=change)])).writes
    assert [gap["kind"] for gap in write.gaps] == ["no_column_lineage"]


def test_what_has_no_name_is_no_dataset():
    """Two outputs without a name are not one dataset that joins their jobs."""
    nameless = {"facets": edges("x <- a.x")}
    events = [run("one", [dataset("a")], [nameless]), run("two", [{"name": 5}], [dataset("c", "x")])]
    assert {name for _, name in current(*events).datasets} == {"a", "c"}


def test_the_instances_of_two_dag_runs_at_a_time_are_two_runs():
    """The last run that wrote has all of its instances, whatever ran between them."""

    def instance(index, dag_run, hour):
        parent = {"parent": {"run": {"runId": dag_run}, "job": {"namespace": "jobs", "name": "etl"}}}
        facets = {**task("etl", "copy", map_index=index), **parent}
        column = f"{dag_run}_{index}"
        return run(
            "etl.copy",
            [dataset(f"in_{index}")],
            [dataset("b", column, **edges(f"{column} <- in_{index}.x"))],
            facets=facets,
            hour=hour,
            id=f"{dag_run}-{index}",
        )

    found = current(instance(0, "a", 1), instance(0, "b", 2), instance(1, "a", 3), instance(1, "b", 4))
    assert wrote(found) == {("etl.copy", "b"): {("b_0", "in_0.x"), ("b_1", "in_1.x")}}
    assert {read.input[1] for read in found.reads} == {"in_0", "in_1"}


def test_a_run_that_failed_hides_no_reader():
    """It may have stopped before it read the rest."""
    whole, failed = (
        run("mail", [dataset("a"), dataset("b")], hour=1),
        run("mail", [dataset("a")], hour=2, state="FAIL"),
    )
    assert {read.input[1] for read in current(whole, failed).reads} == {"a", "b"}


def test_the_run_of_another_producer_is_run_again_by_the_task_above_it():
    """An application that a task started is cleared with the task."""
    above = run("etl.spark", facets=task("etl", "spark"), id="task")
    parent = {"parent": {"run": {"runId": "task"}, "job": {"namespace": "jobs", "name": "etl.spark"}}}
    child = run("app.insert", [dataset("a")], [dataset("b")], ours=False, facets=parent, hour=7)
    job = current(above, child).writes[0].run
    assert (job.dag_id, job.task_id, job.logical_date, job.id) == (
        "etl",
        "spark",
        "2026-01-01T00:00:00+00:00",
        "app.insert-1-7",
    )


def test_former_facets_have_one_kind_for_all_sources_of_a_field():
    """`transformationType` is read as the kinds of today."""
    facet = {
        "fields": {
            column: {
                "inputFields": [{"namespace": "s3://lake", "name": "a", "field": "x"}],
                "transformationType": kind,
            }
            for column, kind in (("x", "IDENTITY"), ("y", "MASKED"), ("z", ""))
        }
    }
    [write] = current(run("old", [dataset("a")], [dataset("b", columnLineage=facet)], ours=False)).writes
    assert {(edge.column, edge.subtype, edge.masking) for edge in write.edges} == {
        ("x", "IDENTITY", False),
        ("y", "TRANSFORMATION", True),
        ("z", "", False),
    }


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


def twice(catalog, **more):
    """Return a run with an output, or an input, by its location and, without facets, by its name."""
    identifiers = [{"namespace": catalog, "name": "db.t", "type": "TABLE"}]
    whole = dataset("t", "x", symlinks={"identifiers": identifiers}, **edges("x <- a.x"))
    named = [whole, {"namespace": catalog, "name": "db.t"}]
    return run("load", [dataset("a")], named, **more), run("read", named, [dataset("b")], hour=7, **more)


@pytest.mark.parametrize("catalog", ["hive", "trino"], ids=["before", "after"])
@pytest.mark.parametrize("ours", [True, False], ids=["ours", "foreign"])
def test_a_dataset_that_a_run_names_twice_keeps_its_columns(catalog, ours):
    """A name without facets takes nothing from the other name of the same dataset."""
    found = current(*twice(catalog, ours=ours))
    [write] = [each for each in found.writes if each.job.name == "load"]
    assert (write.fields, len(write.edges), write.gaps) == ((("x", "string"),), 1, ())
    assert [(each.input[1], each.fields) for each in found.reads if each.job.name == "read"] == [
        ("t", (("x", "string"),))
    ]


def test_a_schema_that_names_a_column_twice_has_it_once():
    """As some producers write joins; the columns beside it keep their edges."""
    found = current(
        run("load", [dataset("a")], [dataset("t", "x x y", **edges("x <- a.x", "y <- a.y"))], ours=False),
        run("read", [dataset("t")], [dataset("b", "y", **edges("y <- t.y"))], hour=7),
    )
    graph = LineageGraph.of(found)
    [reached] = [
        {graph.node(node)[1:] for node in graph.reach([graph.node_of(a, "y")], by_rows=False).nodes}
        for a in graph.datasets
        if a[1] == "a"
    ]
    assert reached == {("a", "y"), ("t", "y"), ("b", "y")}
    assert [graph.fields_of(each) for each in graph.datasets if each[1] == "t"] == [("x", "y")]


def test_runs_that_say_the_same_hold_their_edges_once():
    """A year of events has each edge thousands of times; the memory is that of one."""
    [write] = current(*(copied("a", "b", day=day) for day in (1, 2, 3))).writes
    [edge], [first] = write.edges, write.first_seen
    assert edge is first
