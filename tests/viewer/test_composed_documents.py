"""View documents of several runs: composed ones, and the list of a page."""

from __future__ import annotations

import json

import pytest
from viewer.view_events import (
    OURS,
    airflow,
    columns,
    dataset,
    event,
    named,
    roles,
    view,
    written,
)

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.viewer.composed import NO_LINEAGE, compose
from airflow_provider_spark_lineage.openlineage.viewer.listing import MAX_BYTES, NEWEST, NO_DATASET, listing


def test_tasks_are_joined_at_the_datasets_between_them():
    """A dataset between two tasks is there once; its flows name their tasks."""
    first = view(
        event(run="1", job="d.a", inputs=[dataset("/in")], outputs=[dataset("/mid", **columns("x", "/in"))])
    )
    second = view(
        event(
            run="2",
            job="d.b",
            time="2026-01-01T00:01:00Z",
            inputs=[dataset("/mid")],
            outputs=[dataset("/out", **columns("x", "/mid"))],
        )
    )
    bare = view(event(run="3", job="d.c", time="2026-01-01T00:02:00Z"))
    document = compose([bare, second, first], "d", below="d")
    assert named(document) == {("in", "mid"), ("mid", "out")}
    assert [(task["title"], task["note"]) for task in document["tasks"]] == [
        ("a", ""),
        ("b", ""),
        ("c", NO_LINEAGE),
    ]
    assert {flow["task"] for flow in document["flows"]} == {0, 1}
    assert [(each["read"], each["written"]) for each in document["datasets"]] == [
        (True, False),
        (True, True),
        (True, False) if document["datasets"][2]["label"] == "in" else (False, True),
    ]


def test_a_target_that_another_task_wrote_is_not_unfinished():
    """A retry, or the task of another map index, finished what the first did not."""
    failed = view(event("START", outputs=[dataset("/x")]), event("FAIL"))
    document = compose([failed, view(event(run="2", outputs=[dataset("/x")]))], "d")
    assert [(each["written"], each["unfinished"]) for each in document["datasets"]] == [(True, False)]
    assert document["run"]["state"] == "fail"


@pytest.mark.parametrize(("change", "rows"), [("", 5), ("OVERWRITE", 3)])
def test_what_two_tasks_append_adds_up(change, rows):
    """After an overwrite the dataset has what was written last, and what was appended after it."""
    outputs = [
        {
            **dataset("/x", lifecycleStateChange={"lifecycleStateChange": kind} if kind else {}),
            "outputFacets": {"outputStatistics": {"rowCount": count}},
        }
        for kind, count in (("CREATE", 2), (change, 3))
    ]
    documents = [
        view(event(run=str(n), job=f"d.{n}", time=f"2026-01-0{n}T00:00:00Z", outputs=[output]))
        for n, output in enumerate(outputs, 1)
    ]
    [written] = compose(documents, "d")["datasets"]
    assert written["writes"] == {"rows": rows}


CHANGED = {
    "alter after": ("+5 ALTER", {"rows": 5}, "append"),
    "alter before": ("ALTER +5", {"rows": 5}, "append"),
    "alter between": ("+5 ALTER +3", {"rows": 8}, "append"),
    "rename between": ("+5 RENAME +3", {"rows": 8}, "append"),
    "rename of what was written": ("=5 RENAME +3", {"rows": 8}, "overwrite"),
    "rename, and two appends": ("RENAME +5 +3", {"rows": 8}, "append"),
    "several": ("=5 ALTER +3 RENAME ALTER +1", {"rows": 9}, "overwrite"),
    "rows that nobody counted": ("+? ALTER +3", {}, "append"),
    "no rows": ("ALTER ALTER", {}, "alter"),
    "a task that also altered": ("ALTER+5 +3", {"rows": 8}, "append"),
}
"""Writes, their counts and their change together; `=5` overwrites, `+5` appends five rows."""


@pytest.mark.parametrize(("writes", "counts", "change"), CHANGED.values(), ids=CHANGED)
def test_changes_of_a_table_keep_what_was_counted(writes, counts, change):
    """ALTER and RENAME add no rows and remove none: of a dataset with rows the change of these is told."""
    change_of = {"=": "OVERWRITE", "+": "", "ALTER+": "ALTER"}
    outputs = [
        dataset("/x", lifecycleStateChange={"lifecycleStateChange": word})
        if word.isalpha()
        else written("/x", None if word[-1] == "?" else int(word[-1]), change_of[word[:-1]])
        for word in writes.split()
    ]
    documents = [
        view(event(run=str(n), facets=OURS, time=f"2026-01-0{n}T00:00:00Z", outputs=[output]))
        for n, output in enumerate(outputs, 1)
    ]
    [table] = compose(documents, "d")["datasets"]
    assert (table["writes"], table["change"]) == (counts, change)


def test_an_append_after_a_truncate_is_an_overwrite():
    """The dataset has the rows of the append alone: TRUNCATE has no count that could add to them."""
    emptied = dataset("/x", lifecycleStateChange={"lifecycleStateChange": "TRUNCATE"})
    documents = [
        view(event(run=str(n), job=f"d.{n}", time=f"2026-01-0{n}T00:00:00Z", outputs=[output]))
        for n, output in enumerate((emptied, written("/x", 5)), 1)
    ]
    [table] = compose(documents, "d")["datasets"]
    assert (table["writes"], table["change"]) == ({"rows": 5}, "overwrite")


def test_runs_are_in_the_order_of_time_whatever_its_form():
    """Producers write times of several zones."""
    overwrite = event(
        run="1", time="2026-01-01T10:00:00+02:00", job="d.a", outputs=[written("/x", 100, "OVERWRITE")]
    )
    append = event(run="2", time="2026-01-01T09:00:00Z", job="d.b", outputs=[written("/x", 5)])
    [table] = compose([view(append), view(overwrite)], "d")["datasets"]
    assert table["writes"] == {"rows": 105}


@pytest.mark.parametrize(
    ("others", "rows"), [((100,), {"rows": 100}), ((7,), {}), ((20, 30), {})], ids=["same", "other", "others"]
)
def test_rows_that_several_tasks_read_are_known_if_all_read_as_many(others, rows):
    """It is unknown whether other tasks read the same rows."""
    documents = [
        view(
            event(
                run=str(n),
                inputs=[{**dataset("/x"), "inputFacets": {"inputStatistics": {"rowCount": count}}}],
            )
        )
        for n, count in enumerate((100, *others))
    ]
    [table] = compose(documents, "d")["datasets"]
    assert table["reads"] == rows


def test_a_write_that_failed_after_another_task_had_written_is_unfinished():
    """The dataset may have a part of it."""
    done = view(event(run="1", outputs=[dataset("/x")]))
    failed = [
        event(kind, run="2", time="2026-01-02T00:00:00Z", outputs=[dataset("/x")])
        for kind in ("START", "FAIL")
    ]
    assert roles(compose([view(*failed), done], "d")) == {"x": "written unfinished"}


def test_a_run_with_a_task_without_lineage_does_not_claim_to_be_complete():
    """The datasets of that task are unknown."""
    ours = view(event(facets=OURS, outputs=[dataset("/x")]))
    assert compose([ours], "d")["reports_gaps"]
    assert not compose([ours, view(event(run="2", facets=OURS))], "d")["reports_gaps"]


def test_a_child_run_with_other_datasets_than_its_task_is_shown():
    """As the runs of OpenLineage's Java agent, below a task whose author names an inlet."""
    task = event(run="task", job="d.t", facets=airflow("t", 1), inputs=[dataset("/inlet")])
    child = event(
        run="child", job="spark", facets={"parent": {"run": {"runId": "task"}}}, inputs=[dataset("/a")]
    )
    shown = listing(Events.of([child, task]), title="t")["runs"]
    assert {run["key"] for run in shown} == {"task", "child", NEWEST}
    ours = {**child, "producer": "https://example.com/airflow-provider-spark-lineage"}
    [only] = listing(Events.of([ours, task]), title="t")["runs"]
    assert only["key"] == "task"


def test_an_earlier_try_is_not_the_previous_run():
    """Everything would look new in comparison with a try that failed."""
    first = event(run="1", facets=airflow("t", 1), outputs=[dataset("/x")])
    first["run"]["facets"]["airflow"]["dagRun"] = {"run_id": "before"}
    first["run"]["facets"]["parent"]["run"] = {"runId": "another"}
    tries = [
        event(
            kind,
            run=str(n),
            time=f"2026-01-0{n}T00:00:00Z",
            facets=airflow("t", n - 1),
            outputs=[dataset("/x")],
        )
        for n, kind in ((2, "FAIL"), (3, "COMPLETE"))
    ]
    runs = listing(Events.of([first, *tries]), title="t")["runs"]
    previous = {run["key"]: run["previous"] for run in runs}
    assert (previous["3"], previous["2"], previous["1"]) == (["1"], ["1"], [])


def test_runs_of_a_job_in_another_namespace_are_not_earlier_runs():
    events = [
        event(run="1", outputs=[dataset("/x")]),
        event(run="2", time="2026-01-02T00:00:00Z", outputs=[dataset("/x")]),
    ]
    events[1]["job"]["namespace"] = "other"
    runs = listing(Events.of(events), title="t")["runs"]
    assert [run["previous"] for run in runs if run["key"] != NEWEST] == [[], []]


def test_the_tasks_of_a_run_are_joined_by_their_last_tries():
    """The first try is not part of the run; it has an entry of its own."""
    tries = [
        event(
            kind,
            run=str(n),
            job="d.a",
            time=f"2026-01-0{n}T00:00:00Z",
            facets=airflow("a", n),
            outputs=outputs,
        )
        for n, kind, outputs in ((1, "FAIL", [dataset("/x")]), (2, "COMPLETE", [dataset("/y")]))
    ]
    other = event(run="3", job="d.b", facets=airflow("b", 1), outputs=[dataset("/z")])
    whole, *runs = listing(Events.of([*tries, other]), title="t")["runs"]
    document = whole["answer"]["document"]
    assert {each["label"] for each in document["datasets"]} == {"y", "z"}
    assert [task["title"] for task in document["tasks"]] == ["b", "a"]
    assert sorted(run["label"] for run in runs) == ["a", "a   try 2", "b"]


def test_a_composed_run_of_nothing_is_empty():
    assert compose([], "d")["datasets"] == []


def test_previous_runs_are_those_of_the_same_job_newest_first():
    events = [event(run=str(n), time=f"2026-01-0{n}T00:00:00Z", outputs=[dataset("/x")]) for n in (1, 2, 3)]
    runs = listing(Events.of([*events, event(run="9", job="other", outputs=[dataset("/y")])]), title="t")[
        "runs"
    ]
    previous = {run["key"]: run["previous"] for run in runs}
    assert previous == {NEWEST: [], "3": ["2", "1"], "2": ["1"], "1": [], "9": []}


def test_a_listing_that_is_too_large_keeps_the_newest_run_of_each_job():
    """It says so, because a page that misses runs must not look complete."""
    fields = [{"name": f"column_{n}", "type": "x" * 1000} for n in range(9_000)]
    runs = [
        event(
            run=f"{job}{n}",
            job=job,
            time=f"2026-01-0{n}T00:00:00Z",
            outputs=[dataset("/x", schema={"fields": fields})],
        )
        for job in ("a", "b")
        for n in (1, 2)
    ]
    listed = listing(Events.of(runs), title="t")
    assert {run["key"] for run in listed["runs"]} == {"a2", "b2"}
    assert "2 older runs" in listed["notes"][0]
    assert len(json.dumps(listed)) < 1.1 * MAX_BYTES


def test_a_run_without_datasets_says_so():
    [run] = listing(Events.of([event()]), title="t")["runs"]
    assert run["answer"]["document"] is None
    assert run["answer"]["reason"]["sentence"] == NO_DATASET


def test_a_listing_opens_the_newest_whole():
    """A DAG run; without one, the newest runs of all jobs together; of a single job, its newest run."""
    alone = [
        event(run="1", job="a", outputs=[dataset("/x")]),
        event(run="2", job="b", time="2026-01-02T00:00:00Z", inputs=[dataset("/x")]),
    ]
    listed = listing(Events.of(alone), title="t")
    assert listed["start"] == listed["runs"][0]["key"] == NEWEST
    assert [task["title"] for task in listed["runs"][0]["answer"]["document"]["tasks"]] == ["a", "b"]
    assert listing(Events.of(alone[:1]), title="t")["start"] == "1"
    parent = {"parent": {"run": {"runId": "p"}, "job": {"namespace": "ns", "name": "d"}}}
    below = [
        event(run=str(n), time="2026-01-03T00:00:00Z", facets=parent, inputs=[dataset("/x")]) for n in (3, 4)
    ]
    assert listing(Events.of([*alone, *below]), title="t")["start"] == "p"


def test_events_of_no_run_are_said_to_be_left_out():
    """A page that misses them must not look complete."""
    job = {"job": {"namespace": "ns", "name": "etl"}, "inputs": [dataset("/x")]}
    listed = listing(Events.of([job, event(outputs=[dataset("/y")])]), title="t")
    assert listed["notes"] == ["Not shown, because they belong to no run: 1 job event."]
