"""View documents of one run, from the events of our tasks and of OpenLineage's Java agent."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from viewer.view_events import (
    OURS,
    columns,
    dataset,
    event,
    part,
    roles,
    view,
)
from viewer.views import EVENTS, GOLDEN, events_of, view_of

from airflow_provider_spark_lineage.openlineage.events.model import Event, Events
from airflow_provider_spark_lineage.openlineage.events.runs import RunEvents
from airflow_provider_spark_lineage.openlineage.viewer.composed import compose
from airflow_provider_spark_lineage.openlineage.viewer.datasets import labels_of
from airflow_provider_spark_lineage.openlineage.viewer.document import document_of
from airflow_provider_spark_lineage.openlineage.viewer.listing import answer_of, listing


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


def test_columns_without_a_schema_are_the_columns_of_edges():
    """Events of other producers may have no schema."""
    document = view(event(inputs=[dataset("/a")], outputs=[dataset("/b", **columns("y", "/a"))]))
    assert [(each["columns"], each["has_schema"]) for each in document["datasets"]] == [
        ([{"name": "x", "type": ""}], False),
        ([{"name": "y", "type": ""}], False),
    ]


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


@pytest.mark.parametrize("text", ["Test failed.\nQuery: ...", "AirflowException: Test failed.\nQuery: ..."])
@pytest.mark.parametrize("success", [False, True])
def test_the_message_of_a_check_operator_is_left_out_where_its_checks_failed(
    success: bool, text: str
) -> None:
    """It lists the same results in another form. Without a failed check, it is all that there is."""
    assertion = {"assertion": "not_null", "success": success, "column": "c"}
    read = {**dataset("/x"), "inputFacets": {"dataQualityAssertions": {"assertions": [assertion]}}}
    message = {"errorMessage": {"message": text, "programmingLanguage": "python"}}
    document = view(event("FAIL", facets=message, inputs=[read]))
    assert [each["message"] for each in document["failures"]] == ([text] if success else [])


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


def test_lineage_from_a_text_is_marked_as_planned():
    gaps = {"sparkLineage_gaps": {"gaps": [{"where": "text", "kind": "planned", "reason": "any words"}]}}
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
    assert read["checks"] == [
        {
            **dict.fromkeys(("severity", "expected", "found", "problem"), ""),
            "status": "failed",
            "name": "unique",
            "column": "id",
        }
    ]
    assert read["metrics"] == ["rows 3", "id: min 1.5, max 7"]


def test_only_addresses_of_the_web_are_links():
    """A document is untrusted input, and a link is the one thing of it that can be followed."""
    links = ["javascript:alert(1)", "http://driver:4040", "data:text/html,x", 7, "https://history/1"]
    facet = {"sparkLineage_application": {"applications": [{"links": links}, {"links": "http://x"}]}}
    document = view(event(facets=facet))
    assert [link["href"] for link in document["links"]] == ["https://history/1"]


def test_the_page_of_a_driver_is_a_link_while_the_run_goes_on():
    """It is gone afterwards; that of a history server stays."""
    application = {
        "applicationId": "app-1",
        "sparkVersion": "4.1",
        "links": ["http://driver:4040", "https://history/app-1"],
    }
    facets = {
        "sparkLineage_application": {"applications": [application]},
        "spark_applicationDetails": {"applicationId": "app-1", "master": "local"},
    }
    running, ended = view(event("RUNNING", facets=facets)), view(event(facets=facets))
    assert [link["href"] for link in running["links"]] == application["links"]
    assert [link["href"] for link in ended["links"]] == ["https://history/app-1"]
    assert ended["facts"] == [{"name": "app", "text": "app-1 · Spark 4.1 on local · https://history/app-1"}]


def test_checks_of_no_dataset_are_in_the_document():
    """Those of `@task.spark_check` are in the run facet `test`; a composed document names their task."""
    tests = [{"name": "rows", "status": "fail", "severity": "warn", "expected": ">0", "actual": "0"}]
    document = view(event(facets={"test": {"tests": tests}}))
    [check] = document["checks"]
    assert (check["status"], check["name"], check["found"], check["task"]) == ("failed", "rows", "0", None)
    assert document["facts"] == []
    whole = compose([view(event(run="2")), document], "all")
    assert [each["task"] for each in whole["checks"]] == [whole["tasks"].index(whole["tasks"][1])]


def test_what_a_task_launched_is_known_without_a_dataset():
    """Its application and its gap are shown; the composed document does not say that there is no lineage."""
    facets = {
        "sparkLineage_launch": {"applications": [{"type": "python", "main": "s3://code/job.py"}]},
        "sparkLineage_gaps": {"gaps": [{"where": "s3://code/job.py", "reason": "it could not be read"}]},
    }
    document = view(event(facets=facets))
    assert document["facts"] == [{"name": "started", "text": "python · s3://code/job.py"}]
    assert answer_of(document)["document"] is document
    whole = compose([document, view(event(run="2", outputs=[dataset("/x")]))], "all")
    assert [(gap["reason"], gap["task"]) for gap in whole["gaps"]] == [("it could not be read", 0)]
    assert whole["tasks"][0]["note"] == "no dataset is known"


def test_a_gap_of_an_output_that_is_named_nowhere_else_keeps_its_name():
    """As one that was dropped later: its gap has no position in the document."""
    gap = {"where": "read#1", "reason": "unknown", "output": {"namespace": "file", "name": "/gone"}}
    [shown] = view(event(facets={"sparkLineage_gaps": {"gaps": [gap]}}))["gaps"]
    assert (shown["dataset"], shown["where"]) == (None, "file /gone read#1")


def test_an_execution_has_its_statement_or_its_line():
    """Of our facet, and of the runs of other producers."""
    times = {"startedAt": "2026-01-01T00:00:00Z", "endedAt": "2026-01-01T00:00:01Z", "failed": False}
    entries = [
        {**times, "number": 1, "name": "command", "statement": "insert into a select 1"},
        {**times, "number": 2, "name": "collect", "codeLine": "job.py:3"},
    ]
    document = view(event(facets={"sparkLineage_executions": {"executions": entries}}))
    assert [each["statement"] for each in document["executions"]] == ["insert into a select 1", "job.py:3"]
    child = RunEvents(Events.of([event(run="2", job_facets={"sql": {"query": "select 1"}})]))
    assert [each["statement"] for each in view(event(), children=(child,))["executions"]] == ["select 1"]


def test_an_append_is_known_of_this_package_only():
    """OpenLineage has no state for it: another producer may have left out the state."""
    counted = {**dataset("/x"), "outputFacets": {"outputStatistics": {"rowCount": 2}}}
    stated = dataset("/y")
    changes = [
        {
            each["label"]: each["change"]
            for each in view(event(outputs=[counted, stated], facets=facets))["datasets"]
        }
        for facets in (OURS, {})
    ]
    assert changes == [{"x": "append", "y": ""}, {"x": "", "y": ""}]


@pytest.mark.parametrize(
    ("ids", "labels"),
    [
        ([("postgres://a:1", "shop.eu.orders")], ["orders"]),
        (
            [("postgres://a:1", "shop.eu.orders"), ("postgres://a:1", "shop.us.orders")],
            ["orders · eu", "orders · us"],
        ),
        (
            [("mysql://a:1", "shop.orders"), ("mysql://b:1", "shop.orders")],
            ["orders · mysql://a:1", "orders · mysql://b:1"],
        ),
        ([("kafka://a:1", "shop.orders")], ["shop.orders"]),
        (
            [("s3://a", "orders.csv"), ("s3://b", "orders.csv")],
            ["orders.csv · s3://a", "orders.csv · s3://b"],
        ),
    ],
    ids=["table", "schemas", "hosts", "topic", "buckets"],
)
def test_a_label_begins_with_the_own_name(ids, labels):
    """The place follows where the name is not enough, the host last."""
    assert [*labels_of(ids).values()] == labels


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
    asked = part("OTHER", "/a", 100, "any words", kind_of_gap="task_stopped")
    went_on = view(asked, part("COMPLETE", "/a", 100, "known"))
    assert [each["writes"] for each in went_on["datasets"] if each["written"]] == [{"rows": 100}]
    assert [gap["reason"] for gap in went_on["gaps"]] == ["known"]
    killed = view(asked, event("FAIL"))
    assert (roles(killed), len(killed["gaps"])) == ({"a": "read", "x": "written"}, 1)


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
    for key in path[:-1]:
        at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
    at[path[-1]] = [junk] if wrapped else junk
    document = document_of([Event(forged)])
    assert json.loads(json.dumps(document)) == document
    compose([document, document], "all")
