"""View documents: what the browser draws, from the events of our tasks and of OpenLineage's Java agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from viewer.views import EVENTS, GOLDEN, events_of, view_of

from airflow_provider_spark_lineage.events.model import Event, Events
from airflow_provider_spark_lineage.planned.lineage import PLANNED
from airflow_provider_spark_lineage.viewer.composed import NO_LINEAGE, compose
from airflow_provider_spark_lineage.viewer.document import document_of
from airflow_provider_spark_lineage.viewer.listing import MAX_BYTES, NO_DATASET, listing
from airflow_provider_spark_lineage.viewer.runs import RunEvents


def dataset(name: str, **facets: Any) -> dict[str, Any]:
    return {"namespace": "file", "name": name, "facets": facets}


def event(kind: str = "COMPLETE", *, run: str = "1", job: str = "etl", **more: Any) -> dict[str, Any]:
    facets = more.pop("facets", {})
    time = more.pop("time", "2026-01-01T00:00:00Z")
    return {
        "eventType": kind,
        "eventTime": time,
        "job": {"namespace": "ns", "name": job, "facets": more.pop("job_facets", {})},
        "run": {"runId": run, "facets": facets},
        **more,
    }


def view(*events: dict[str, Any], children: tuple[RunEvents, ...] = ()) -> dict[str, Any]:
    return document_of(Events.of(events), children)


STOPPED = "Airflow asked the task to stop: what it did after that is not in this event"

OURS = {"sparkLineage_gaps": {"gaps": []}}
"""Run facets by which an event is one of this package."""


def roles(document: dict[str, Any]) -> dict[str, str]:
    """Return what happened to each dataset, by its label."""
    words = ("read", "written", "unfinished")
    return {each["label"]: " ".join(word for word in words if each[word]) for each in document["datasets"]}


def named(document: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the flows of a document by the labels of their ends."""
    labels = [each["label"] for each in document["datasets"]]
    return {(labels[flow["from"]], labels[flow["to"]]) for flow in document["flows"]}


def columns(target: str, *sources: str) -> dict[str, Any]:
    """Return the columnLineage facet of a column `x` that comes from columns `x` of other datasets."""
    reads = [{"namespace": "file", "name": source, "field": "x"} for source in sources]
    return {"columnLineage": {"fields": {target: {"inputFields": reads}}}}


@pytest.mark.parametrize("name", EVENTS)
def test_the_documents_of_real_events_are_as_recorded(name):
    """`python tests/viewer/views.py` writes them again, for review."""
    assert view_of(name) == (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", EVENTS)
def test_every_position_is_one_of_a_dataset_or_a_task(name):
    """Flows, edges, executions and gaps refer to datasets and tasks by position."""
    for run in listing(events_of(name), title=name)["runs"]:
        document = run["answer"]["document"]
        if document is None:
            continue
        positions = {None, *range(len(document["datasets"]))}
        tasks = {None, *range(len(document["tasks"]))}
        used = [each[end] for each in document["flows"] + document["edges"] for end in ("from", "to")]
        used += [place for each in document["executions"] for place in each["reads"] + each["writes"]]
        used += [gap["dataset"] for gap in document["gaps"]]
        assert set(used) <= positions
        assert {each["task"] for key in ("flows", "edges", "executions") for each in document[key]} <= tasks


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


def test_columns_without_a_schema_are_the_columns_of_edges():
    """Events of other producers may have no schema."""
    document = view(event(inputs=[dataset("/a")], outputs=[dataset("/b", **columns("y", "/a"))]))
    assert [(each["columns"], each["has_schema"]) for each in document["datasets"]] == [
        ([{"name": "x", "type": ""}], False),
        ([{"name": "y", "type": ""}], False),
    ]


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
    """What it wrote does not come from what another execution read."""
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
    document = view(event(inputs=names, outputs=names))
    assert document["flows"] == []
    assert ["no line is drawn" in gap["reason"] for gap in document["gaps"]] == [True]


def test_the_lines_of_unfinished_writes_are_limited_too():
    """A run that failed, or has no end, has as many of them."""
    names = [dataset(f"/{number}") for number in range(2_000)]
    document = view(event("START", inputs=names, outputs=names), event("FAIL"))
    assert document["flows"] == []
    assert ["no line is drawn" in gap["reason"] for gap in document["gaps"]] == [True]


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


def test_each_failure_has_its_own_fragment():
    """The same failure in two events is one."""
    first, second = ({"message": name, "fragment": f"line of {name}"} for name in ("m1", "m2"))
    document = view(
        event("OTHER", facets={"sparkLineage_failures": {"failures": [first]}}),
        event("FAIL", facets={"sparkLineage_failures": {"failures": [first, second]}}),
    )
    assert [(each["message"], each["fragment"]) for each in document["failures"]] == [
        ("m1", "line of m1"),
        ("m2", "line of m2"),
    ]


def test_a_later_part_without_a_schema_keeps_that_of_the_earlier():
    """And a check that failed before stays."""
    check = {"assertion": "not_null", "success": False, "column": "c"}
    before = {
        **dataset("/x", schema={"fields": [{"name": "c", "type": "int"}]}),
        "inputFacets": {"dataQualityAssertions": {"assertions": [check]}},
    }
    document = view(event("OTHER", facets=OURS, inputs=[before]), event(facets=OURS, inputs=[dataset("/x")]))
    [read] = document["datasets"]
    assert read["columns"] == [{"name": "c", "type": "int"}]
    assert len(read["checks"]) == 1


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


def test_lineage_from_a_text_is_marked_as_planned():
    gaps = {"sparkLineage_gaps": {"gaps": [{"where": "text", "reason": PLANNED}]}}
    assert view(event(facets=gaps))["planned"]
    assert not view(event())["planned"]


def test_only_our_events_claim_to_be_complete():
    """Other producers do not say where their lineage ends, so nothing follows from the absence of gaps."""
    runs = listing(events_of("java_agent"), title="")["runs"]
    java = [run["answer"]["document"] for run in runs]
    assert not any(document["reports_gaps"] for document in java)
    ours = view(event(facets={"sparkLineage_executions": {"executions": []}}))
    assert ours["reports_gaps"]
    assert not any(view(event(kind, facets=OURS))["reports_gaps"] for kind in ("RUNNING", "FAIL", "OTHER"))
    assert not view(event())["reports_gaps"]


def test_checks_and_metrics_are_at_their_dataset():
    checked = {
        **dataset("/in"),
        "inputFacets": {
            "dataQualityAssertions": {
                "assertions": [{"assertion": "unique", "success": False, "column": "id"}]
            },
            "dataQualityMetrics": {"rowCount": 3, "columnMetrics": {"id": {"min": 1.5, "max": 7}}},
        },
    }
    [read] = view(event(inputs=[checked]))["datasets"]
    assert read["checks"] == [{"passed": False, "text": "failed  unique   id"}]
    assert read["metrics"] == ["rows 3", "id: min 1.5, max 7"]


def test_only_addresses_of_the_web_are_links():
    """A document is untrusted input, and a link is the one thing of it that can be followed."""
    links = ["javascript:alert(1)", "http://driver:4040", "data:text/html,x", 7, "https://history/1"]
    facet = {"sparkLineage_application": {"applications": [{"links": links}, {"links": "http://x"}]}}
    document = view(event(facets=facet))
    assert [link["href"] for link in document["links"]] == ["http://driver:4040", "https://history/1"]


def test_tasks_are_joined_at_the_datasets_between_them():
    """What one task writes and the next reads is one dataset; its flows name their tasks."""
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


def test_a_later_change_of_a_table_keeps_what_was_counted():
    """ALTER adds no rows and removes none."""
    documents = [
        view(event(run=str(n), job=f"d.{n}", time=f"2026-01-0{n}T00:00:00Z", outputs=[output]))
        for n, output in enumerate(
            (written("/x", 5), {**dataset("/x", lifecycleStateChange={"lifecycleStateChange": "ALTER"})}), 1
        )
    ]
    [table] = compose(documents, "d")["datasets"]
    assert (table["writes"], table["change"]) == ({"rows": 5}, "")
    documents[0]["run"]["began"] = documents[0]["run"]["ended"] = "2026-01-03T00:00:00Z"
    [table] = compose(documents, "d")["datasets"]
    assert (table["writes"], table["change"]) == ({"rows": 5}, "")


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
    """Whether others are the same rows, nobody knows."""
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
    """What that task read and wrote is unknown."""
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
    assert {run["key"] for run in shown} == {"task", "child"}
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
    assert [run["previous"] for run in listing(Events.of(events), title="t")["runs"]] == [[], []]


def airflow(task: str, attempt: int) -> dict[str, Any]:
    """Return the run facets of a task's try."""
    return {
        "airflow": {
            "dag": {"dag_id": "d"},
            "dagRun": {"run_id": "r"},
            "task": {"task_id": task},
            "taskInstance": {"try_number": attempt},
        },
        "parent": {"run": {"runId": "parent"}, "job": {"name": "d"}},
    }


def test_the_tasks_of_a_run_are_joined_by_their_last_tries():
    """What the first try did is not what the run did; it has an entry of its own."""
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


def written(name: str, rows: int, change: str = "", **facets: Any) -> dict[str, Any]:
    """An output with the number of its rows."""
    if change:
        facets["lifecycleStateChange"] = {"lifecycleStateChange": change}
    return {**dataset(name, **facets), "outputFacets": {"outputStatistics": {"rowCount": rows}}}


def part(kind: str, source: str, rows: int, gap: str, change: str = "") -> dict[str, Any]:
    """An event of one process of a task: an execution, a gap, and rows appended to `/x`."""
    facets = {
        "sparkLineage_gaps": {"gaps": [{"where": "task", "reason": gap}]},
        "sparkLineage_executions": {
            "executions": [{"number": 1, "name": source, "outputs": [dataset("/x")]}]
        },
    }
    return event(
        kind,
        facets=facets,
        inputs=[dataset(source)],
        outputs=[written("/x", rows, change, **columns("x", source))],
    )


@pytest.mark.parametrize(
    ("change", "rows", "sources"),
    [("", 105, {"a", "c"}), ("OVERWRITE", 5, {"c"})],
    ids=["appends", "overwrites"],
)
def test_what_a_task_did_before_it_deferred_itself_is_in_its_document(change, rows, sources):
    """It ended in another process, whose event does not know it: gaps, executions, columns and counts."""
    document = view(
        event("START"), part("OTHER", "/a", 100, "first"), part("COMPLETE", "/c", 5, "second", change)
    )
    labels = [each["label"] for each in document["datasets"]]
    assert {labels[edge["from"]] for edge in document["edges"]} == sources
    assert [each["writes"] for each in document["datasets"] if each["written"]] == [{"rows": rows}]
    assert [gap["reason"] for gap in document["gaps"]] == ["first", "second"]
    assert [each["name"] for each in document["executions"]] == ["/a", "/c"]
    assert document["run"]["state"] == "complete"


def test_a_task_that_was_asked_to_stop_and_went_on_has_everything_in_its_end_event():
    """The event that was sent in between counts for nothing then, but for all if no other one knows."""
    asked = part("OTHER", "/a", 100, STOPPED)
    went_on = view(asked, part("COMPLETE", "/a", 100, "known"))
    assert [each["writes"] for each in went_on["datasets"] if each["written"]] == [{"rows": 100}]
    assert [gap["reason"] for gap in went_on["gaps"]] == ["known"]
    killed = view(asked, event("FAIL"))
    assert (roles(killed), len(killed["gaps"])) == ({"a": "read", "x": "written"}, 1)


def test_a_composed_run_of_nothing_is_empty():
    assert compose([], "d")["datasets"] == []


def test_previous_runs_are_those_of_the_same_job_newest_first():
    events = [event(run=str(n), time=f"2026-01-0{n}T00:00:00Z", outputs=[dataset("/x")]) for n in (1, 2, 3)]
    runs = listing(Events.of([*events, event(run="9", job="other", outputs=[dataset("/y")])]), title="t")[
        "runs"
    ]
    assert {run["key"]: run["previous"] for run in runs} == {"3": ["2", "1"], "2": ["1"], "1": [], "9": []}


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
    assert sorted(run["key"] for run in listed["runs"]) == ["a2", "b2"]
    assert "2 older runs" in listed["notes"][0]
    assert len(json.dumps(listed)) < 1.1 * MAX_BYTES


def test_a_run_without_datasets_says_so():
    [run] = listing(Events.of([event()]), title="t")["runs"]
    assert run["answer"]["document"] is None
    assert run["answer"]["reason"]["sentence"] == NO_DATASET


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
PATHS = [
    ("run", "facets", "sparkLineage_gaps"),
    ("run", "facets", "sparkLineage_gaps", "gaps"),
    ("run", "facets", "sparkLineage_executions", "executions"),
    ("run", "facets", "sparkLineage_application", "applications"),
    ("run", "facets", "sparkLineage_application", "applications", 0, "links"),
    ("run", "facets", "sparkLineage_resources", "applications", 0, "runMs"),
    ("run", "facets", "sparkLineage_failures", "failures"),
    ("run", "facets", "airflow"),
    ("run", "facets", "parent"),
    ("job", "facets", "lineage", "entries"),
    ("inputs",),
    ("outputs",),
    ("outputs", 0),
    ("outputs", 0, "facets"),
    ("outputs", 0, "facets", "columnLineage"),
    ("outputs", 0, "facets", "columnLineage", "fields"),
    ("outputs", 0, "facets", "columnLineage", "dataset"),
    ("outputs", 0, "facets", "schema", "fields"),
    ("outputs", 0, "outputFacets", "outputStatistics"),
    ("eventTime",),
    ("eventType",),
]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(path=st.sampled_from(PATHS), junk=JUNK, wrapped=st.booleans())
def test_any_value_anywhere_gives_a_document(path, junk, wrapped):
    """A forged event costs what it says, and nothing else."""
    forged = json.loads(json.dumps(dict(events_of("shop").items[3].document)))
    at = forged
    for part in path[:-1]:
        at = at.setdefault(part, {}) if isinstance(at, dict) else at[part]
    at[path[-1]] = [junk] if wrapped else junk
    document = document_of([Event(forged)])
    assert json.loads(json.dumps(document)) == document
    compose([document, document], "all")
