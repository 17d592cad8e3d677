"""Written and unfinished datasets of a run, and the flows between its datasets."""

from __future__ import annotations

import pytest
from viewer.view_events import (
    OURS,
    columns,
    dataset,
    event,
    named,
    roles,
    view,
)

from airflow_provider_spark_lineage.openlineage.events.flows import flows_of
from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.runs import RunEvents, runs_of


def test_an_input_of_a_column_feeds_its_output_alone():
    """Two independent copies in one run stay apart, by their columns."""
    document = view(
        event(
            inputs=[dataset("/a"), dataset("/b")],
            outputs=[dataset("/x", **columns("x", "/a")), dataset("/y", **columns("x", "/b"))],
        )
    )
    assert named(document) == {("a", "x"), ("b", "y")}


def test_the_job_facet_lineage_says_which_input_fed_which_output():
    """The facet is more precise than the columns of an event that has none."""
    entry = {"namespace": "file", "name": "/x", "inputs": [dataset("/a")]}
    other = {"namespace": "file", "name": "/y", "inputs": [dataset("/b")]}
    document = view(
        event(
            inputs=[dataset("/a"), dataset("/b")],
            outputs=[dataset("/x"), dataset("/y")],
            job_facets={"lineage": {"entries": [entry, other]}},
        )
    )
    assert named(document) == {("a", "x"), ("b", "y")}


def test_an_input_that_no_column_comes_from_feeds_every_output():
    """OpenLineage says that the run read it; a count of its rows has no column."""
    document = view(
        event(inputs=[dataset("/a"), dataset("/b")], outputs=[dataset("/x", **columns("x", "/a"))])
    )
    assert named(document) == {("a", "x"), ("b", "x")}


def test_a_dataset_that_is_read_and_overwritten_is_one_dataset_with_a_flow_to_itself():
    document = view(event(inputs=[dataset("/a")], outputs=[dataset("/a", **columns("x", "/a"))]))
    assert [(each["label"], each["read"], each["written"]) for each in document["datasets"]] == [
        ("a", True, True)
    ]
    assert document["flows"] == [{"from": 0, "to": 0, "task": None}]


def test_the_source_of_a_column_that_no_input_names_is_a_dataset():
    """An edge must not be lost because the event forgot the input."""
    document = view(event(outputs=[dataset("/b", **columns("y", "/a"))]))
    assert named(document) == {("a", "b")}


def test_the_target_of_a_failed_write_is_unfinished():
    """START names what is going to be written; FAIL does not, because it was not finished."""
    planned = dataset("/out", schema={"fields": [{"name": "x", "type": "long"}]})
    start, fail = (
        event("START", inputs=[dataset("/in")], outputs=[planned]),
        event("FAIL", inputs=[dataset("/in")]),
    )
    document = view(start, fail)
    target = document["datasets"][1]
    assert (target["label"], target["written"], target["unfinished"]) == ("out", False, True)
    assert target["columns"] == [{"name": "x", "type": "long"}]
    assert named(document) == {("in", "out")}


@pytest.mark.parametrize(
    ("kinds", "facets", "role"),
    [
        (["START"], {}, "unfinished"),
        (["START", "RUNNING"], {}, "written"),
        (["START", "COMPLETE"], {}, "written"),
        (["START", "FAIL"], {}, "unfinished"),
        (["START", "ABORT"], {}, "unfinished"),
        (["START", "FAIL"], OURS, "written"),
        (["RUNNING", "FAIL"], OURS, "written"),
    ],
)
def test_only_what_an_event_says_to_be_written_is_written(kinds, facets, role):
    """An event of this package that is not START names finished writes; others name targets."""
    document = view(*(event(kind, facets=facets, outputs=[dataset("/x")]) for kind in kinds))
    assert roles(document) == {"x": role}


@pytest.mark.parametrize("kind", ["COMPLETE", "FAIL"])
def test_what_any_event_of_another_producer_read_was_read(kind):
    """The spec's events add to each other; Airflow's API server ends a task without knowing its datasets."""
    document = view(event("START", inputs=[dataset("/a")]), event(kind, outputs=[dataset("/b")]))
    assert roles(document)["a"] == "read"


def test_the_end_event_of_this_package_is_not_mixed_with_what_was_planned():
    """START may have had the text of the job only."""
    start = event("START", facets=OURS, inputs=[dataset("/planned")], outputs=[dataset("/planned_too")])
    document = view(start, event(facets=OURS, inputs=[dataset("/a")], outputs=[dataset("/b")]))
    assert roles(document) == {"a": "read", "b": "written"}


def test_the_time_of_events_decides_not_the_order_in_which_they_are_read():
    """A folder of events is read by the names of its files."""
    late = event(time="2026-01-01T00:05:00Z", outputs=[dataset("/x")])
    early = event("FAIL", time="2026-01-01T00:02:00+00:00")
    document = view(late, early)
    assert (document["run"]["state"], roles(document)) == ("complete", {"x": "written"})


def test_an_output_that_has_no_input_gets_none():
    """The job facet `lineage` says so by an empty list."""
    entries = [
        {"namespace": "file", "name": "/x", "inputs": [dataset("/a")]},
        {"namespace": "file", "name": "/z", "inputs": []},
    ]
    outputs = [dataset("/x"), dataset("/z")]
    document = view(
        event(
            inputs=[dataset("/a"), dataset("/counted")],
            outputs=outputs,
            job_facets={"lineage": {"entries": entries}},
        )
    )
    assert named(document) == {("a", "x")}


def test_an_execution_that_read_nothing_fed_nothing():
    """Its output does not come from the input of another execution."""
    done = [
        {"number": 1, "inputs": [dataset("/a")], "outputs": [dataset("/x")]},
        {"number": 2, "inputs": [], "outputs": [dataset("/z")]},
    ]
    document = view(
        event(
            facets={"sparkLineage_executions": {"executions": done}},
            inputs=[dataset("/a")],
            outputs=[dataset("/x"), dataset("/z")],
        )
    )
    assert named(document) == {("a", "x")}


def test_flows_that_are_not_said_are_left_out_if_they_are_too_many():
    """A small event may have thousands of inputs and of outputs; a gap says that lines are missing."""
    names = [dataset(f"/{number}") for number in range(2_000)]
    document = view(event(inputs=names, outputs=[*names, dataset("/x", **columns("x", "/1"))]))
    assert named(document) == {("1", "x")}
    assert [gap["kind"] for gap in document["gaps"]] == ["limit_reached"]


def test_the_lines_of_unfinished_writes_are_limited_too():
    """A run that failed, or has no end, has as many of them."""
    names = [dataset(f"/{number}") for number in range(2_000)]
    document = view(event("START", inputs=names, outputs=names), event("FAIL"))
    assert document["flows"] == []
    assert [gap["kind"] for gap in document["gaps"]] == ["limit_reached"]


def test_lines_that_are_said_often_are_few():
    """Each of many executions reads the same tables."""
    reads = [dataset(f"/{number}") for number in range(4)]
    done = [{"number": number, "inputs": reads, "outputs": [dataset("/x")]} for number in range(2_600)]
    document = view(
        event(facets={"sparkLineage_executions": {"executions": done}}, inputs=reads, outputs=[dataset("/x")])
    )
    assert len(document["flows"]) == 4


def test_a_failed_attempt_does_not_replace_the_source_of_what_was_written():
    """The next execution wrote it from something else."""
    failed = RunEvents(
        Events.of(
            [
                event(kind, run="2", inputs=[dataset("/b")], outputs=[dataset("/x")])
                for kind in ("START", "FAIL")
            ]
        )
    )
    done = RunEvents(Events.of([event(run="3", inputs=[dataset("/a")], outputs=[dataset("/x")])]))
    document = view(
        event(inputs=[dataset("/a"), dataset("/b")], outputs=[dataset("/x")]), children=(failed, done)
    )
    assert named(document) == {("a", "x")}


def test_a_task_shows_the_unfinished_target_of_its_execution():
    """Only the events of the execution name it."""
    child = RunEvents(
        list(Events.of([event("START", run="2", outputs=[dataset("/out")]), event("FAIL", run="2")]))
    )
    document = view(event("FAIL", inputs=[dataset("/in")]), children=(child,))
    assert [each["label"] for each in document["datasets"] if each["unfinished"]] == ["out"]
    assert [(each["number"], each["state"]) for each in document["executions"]] == [(1, "fail")]


def test_an_unfinished_target_comes_from_what_its_own_write_read():
    """Another output of the task does not get the inputs of the write that failed."""
    start = event("START", run="2", inputs=[dataset("/b")], outputs=[dataset("/out")])
    child = RunEvents(list(Events.of([start, event("FAIL", run="2")])))
    document = view(
        event(
            "FAIL",
            facets=OURS,
            inputs=[dataset("/a"), dataset("/b")],
            outputs=[dataset("/x", **columns("x", "/a"))],
        ),
        children=(child,),
    )
    assert named(document) == {("a", "x"), ("b", "out")}


def test_a_target_that_was_written_after_all_is_not_unfinished():
    """The second try within one task may succeed."""
    child = RunEvents(
        list(Events.of([event("START", run="2", outputs=[dataset("/out")]), event("FAIL", run="2")]))
    )
    document = view(event(outputs=[dataset("/out")]), children=(child,))
    assert [(each["written"], each["unfinished"]) for each in document["datasets"]] == [(True, False)]


def test_an_output_with_columns_lacks_no_lines_if_every_input_feeds_another():
    """Only outputs without known sources lose their lines."""
    names = [dataset(f"/{number}") for number in range(200)]
    known = [dataset(f"/k{number}", **columns("x", f"/{number}")) for number in range(200)]
    [run] = runs_of(Events.of([event(inputs=names, outputs=[*names, *known])]))
    _, cut = flows_of(run, run.document()["outputs"], [])
    assert cut == {("file", each["name"]) for each in names}


def test_inputs_of_executions_feed_no_other_output_also_if_their_lines_are_too_many():
    """They are used, whether or not their lines are shown."""
    names = [dataset(f"/{number}") for number in range(200)]
    outputs = [dataset(f"/o{number}") for number in range(200)]
    done = [{"number": 1, "inputs": names, "outputs": outputs}]
    facets = {"sparkLineage_executions": {"executions": done}}
    document = view(event(facets=facets, inputs=[*names, dataset("/a")], outputs=[*outputs, dataset("/x")]))
    assert named(document) == {("a", "x")}
