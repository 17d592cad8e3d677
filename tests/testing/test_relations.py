"""Relations between events: every rule is seen to hold, to break, and to be turned off."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from testing.breaking import PARENT, Change, add, at, broken, double, drop, drop_facet, put, report_of
from testing.whole_run import (
    DAG_RUN,
    LOAD,
    PART_0,
    QUERY,
    SPEC,
    child,
    dag,
    facet,
    run_id,
    sketch,
    task,
    whole_run,
)

from airflow_provider_spark_lineage.errors import BadInputError, MissingExtraError
from airflow_provider_spark_lineage.testing import RELATIONS, Events, Expected, Kind, compare


def test_a_whole_run_breaks_nothing():
    """Mapping, tries, child jobs and a DAG without START are as they should be."""
    assert report_of(whole_run()).text() == "14 events match, 0 differ"


DAG_NAMED = [
    ("parents", str(number), f"run.facets.parent.{place}job.name")
    for number in range(1, 14)
    for place in (["root."] if number in (2, 4) else ["", "root."])
]
"""Places of the DAG run's job name in the events of a whole run, as a report names them."""

CASES: list[tuple[str, Change, list[tuple[str, str, str]]]] = [
    ("a terminal event alone", drop(1), [("start_first", "4", "")]),
    ("a child's terminal event alone", drop(2), [("start_first", "3", "")]),
    ("a mapped instance that was never started", drop(6), [("start_first", "8", "")]),
    (
        "an end before the start",
        put(12, "eventTime", value="2024-05-01T10:00:30Z"),
        [("start_first", "13", "eventTime")],
    ),
    (
        "an earlier hour in another offset is later",
        put(12, "eventTime", value="2024-05-01T09:30:00-01:00"),
        [("start_first", "13", "eventTime")],
    ),
    ("no end", drop(5), [("one_terminal", "1", "")]),
    ("no end of a child", drop(4), [("one_terminal", "2", "")]),
    ("no end of the second try", drop(13), [("one_terminal", "12", "")]),
    (
        "two ends",
        add(task("FAIL", "load", LOAD, 6)),
        [("one_terminal", "15", "")],
    ),
    ("two ends of the DAG", add(dag("FAIL", 31)), [("one_terminal", "15", "")]),
    (
        "the same end twice",
        double(5),
        [("one_terminal", "15", ""), ("unique_keys", "15", "")],
    ),
    (
        "another run id at the end",
        put(13, "run", "runId", value=run_id(99)),
        [("one_run_id", "13", "run.runId")],
    ),
    (
        "the run id of another task",
        lambda events: [put(number, "run", "runId", value=run_id(LOAD))(events) for number in (12, 13)],
        [("one_run_id", "12", "run.runId"), ("one_run_id", "13", "run.runId")],
    ),
    (
        "the run id of another mapped instance",
        lambda events: [
            put(number, "run", "runId", value=at(events, 6, "run", "runId"))(events) for number in (7, 8)
        ],
        [("one_run_id", "7", "run.runId"), ("one_run_id", "8", "run.runId")],
    ),
    (
        "a parent that never ran",
        put(2, *PARENT, "run", "runId", value=run_id(99)),
        [("parents", "2", "run.facets.parent.run.runId")],
    ),
    (
        "its own parent",
        put(2, *PARENT, "run", "runId", value=run_id(QUERY)),
        [("parents", "2", "run.facets.parent.run.runId")],
    ),
    (
        "another job as parent",
        put(2, *PARENT, "job", "name", value="shop.other"),
        [("parents", "2", "run.facets.parent.job.name")],
    ),
    (
        "another namespace of the parent",
        put(4, *PARENT, "job", "namespace", value="x"),
        [("parents", "4", "run.facets.parent.job.namespace")],
    ),
    (
        "another root",
        put(2, *PARENT, "root", "run", "runId", value=run_id(99)),
        [("parents", "2", "run.facets.parent.root.run.runId")],
    ),
    (
        "a task of another DAG run",
        put(6, *PARENT, "run", "runId", value=run_id(99)),
        [("parents", "6", "run.facets.parent.run.runId")],
    ),
    (
        "a task whose root is another DAG run",
        put(6, *PARENT, "root", "run", "runId", value=run_id(99)),
        [("parents", "6", "run.facets.parent.root.run.runId")],
    ),
    ("no producer", lambda events: events[2].pop("producer"), [("schemas", "3", "")]),
    ("no schema", lambda events: events[2].pop("schemaURL"), [("schemas", "3", "schemaURL")]),
    ("a time that is none", put(3, "eventTime", value="yesterday"), [("schemas", "3", "eventTime")]),
    (
        "a facet that is not valid",
        put(2, *PARENT, "job", value={}),
        [("schemas", "2", "run.facets.parent.job")] * 2,
    ),
    (
        "a schema that its document does not define",
        put(3, "schemaURL", value=f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEventx"),
        [("schemas", "3", "schemaURL")],
    ),
    (
        "a facet's schema that its document does not define",
        put(2, *PARENT, "_schemaURL", value=f"{SPEC}/facets/1-2-0/ParentRunFacet.json#/$defs/ParentRunFact"),
        [("schemas", "2", "run.facets.parent")],
    ),
    ("an end without the parent", drop_facet(5, "parent"), [("parents", "5", "run.facets.parent")]),
    ("a start without the parent", drop_facet(1, "parent"), [("parents", "1", "run.facets.parent")]),
    ("a child's end without the parent", drop_facet(4, "parent"), [("parents", "4", "run.facets.parent")]),
    (
        "a task without any parent",
        lambda events: [drop_facet(number, "parent")(events) for number in (12, 13)],
        [("parents", "12", "run.facets.parent"), ("parents", "13", "run.facets.parent")],
    ),
    ("the job of another task", put(12, "job", "name", value="shop.other"), [("one_job", "12", "job.name")]),
    (
        "a task whose events all name another job",
        lambda events: [put(number, "job", "name", value="x.y")(events) for number in (12, 13)],
        [("one_job", "12", "job.name"), ("one_job", "13", "job.name")],
    ),
    (
        "another job at the end of a child",
        put(4, "job", "name", value="shop.load.totals"),
        [("one_job", "4", "job.name")],
    ),
    (
        "another job of the DAG",
        put(14, "job", "name", value="shops"),
        [("one_job", "14", "job.name"), *DAG_NAMED],
    ),
    (
        "another namespace at the end",
        put(5, "job", "namespace", value="x"),
        [("one_job", "5", "job.namespace")],
    ),
    (
        "RUNNING twice, after another one",
        lambda events: [
            put(3, "eventTime", value="2024-05-01T10:00:03Z")(events),
            add(task("RUNNING", "load", LOAD, 4))(events),
            double(15)(events),
        ],
        [("unique_keys", "16", "")],
    ),
    ("two starts of one child run", double(2), [("unique_keys", "15", "")]),
    ("two other starts of one child run", add(child("START", QUERY, 3)), [("unique_keys", "15", "")]),
    (
        "two starts of the DAG",
        lambda events: events.extend([dag("START", 0), dag("START", 1)]),
        [("unique_keys", "16", "")],
    ),
    ("RUNNING twice, word for word", double(3), [("unique_keys", "15", "")]),
]


@pytest.mark.parametrize(("change", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_break_is_reported(change, wanted):
    """One thing wrong is reported by the rule it breaks, at the event that breaks it, and by no other."""
    events = whole_run()
    change(events)
    assert broken(events) == wanted


@pytest.mark.parametrize(("change", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_rule_can_be_turned_off(change, wanted):
    """Whoever turns a rule off by name does not hear of it, and hears of all others."""
    events = whole_run()
    change(events)
    for rule in RELATIONS:
        assert broken(events, without=(rule,)) == [entry for entry in wanted if entry[0] != rule]


FIELDS = [
    {"name": "id", "type": "long"},
    {"name": "a.b", "type": "long"},
    {"name": "plain", "type": "struct<x:long>"},
    {"name": "labels", "type": "map", "fields": [{"name": "key"}, {"name": "value"}]},
    {"name": "address", "type": "struct", "fields": [{"name": "city", "type": "string"}]},
    {
        "name": "items",
        "type": "array",
        "fields": [{"name": "_element", "type": "struct", "fields": [{"name": "sku", "type": "string"}]}],
    },
]


def checked(*columns: str | None, fields: list[Any] | None = None, place: str = "inputFacets", **more: Any):
    """Return a whole run whose task read a dataset with an assertion about each column."""
    assertions = [
        {"assertion": "min", "success": False, **({} if column is None else {"column": column}), **more}
        for column in columns
    ]
    schema = facet("SchemaDatasetFacet", "1-2-0", fields=FIELDS if fields is None else fields)
    read: dict[str, Any] = {"namespace": "file", "name": "/in", "facets": {"schema": schema}}
    found = facet("DataQualityAssertionsDatasetFacet", "1-1-0", assertions=assertions)
    read.setdefault(place, {})["dataQualityAssertions"] = found
    events = whole_run()
    events[4]["inputs"] = [read]
    return events


@pytest.mark.parametrize(
    "events",
    [
        checked("id", "ID", "a.b", "address.city", "address", "items.sku", "plain.x", "labels.x", None),
        checked("nowhere", fields=[]),
        checked("nowhere", params={"not_evaluated": "UNRESOLVED_COLUMN"}),
    ],
    ids=["columns and fields of structs", "no schema", "a check of a missing column"],
)
def test_assertions_about_columns_of_the_schema(events):
    """Fields of structs are named as in SQL; where fields are not known, nothing is claimed."""
    assert report_of(events).text() == "14 events match, 0 differ"


@pytest.mark.parametrize("place", ["inputFacets", "facets"])
@pytest.mark.parametrize("column", ["nowhere", "a", "address.street", "items.nowhere", "city"])
def test_an_assertion_about_a_column_that_is_not_in_the_schema(column, place):
    """A backend draws the result at the column, and has none of that name."""
    events = checked("id", column, place=place)
    (difference,) = report_of(events).differences
    assert (difference.rule, difference.path, difference.actual) == (
        "assertion_columns",
        f"inputs[file /in].{place}.dataQualityAssertions.assertions[1].column",
        column,
    )
    assert broken(events, without="assertion_columns") == []


def test_tasks_without_events_of_their_dag():
    """Without events of the DAG itself, its tasks agree on the DAG run; one that does not is reported."""
    events = whole_run()[:-1]
    assert broken(events) == []
    put(8, *PARENT, "run", "runId", value=run_id(99))(events)
    assert broken(events) == [("parents", "8", "run.facets.parent.run.runId")]


def test_parents_may_be_outside_of_the_compared_events():
    """A child job of a DAG that the file does not name still counts as a parent."""
    events = whole_run()
    other = child("START", 60, 3), child("COMPLETE", 60, 4)
    for event in other:
        event["job"]["name"] = "other.job"
        facets = event["run"]["facets"]
        facets["airflow"] = sketch({"dag": {"dag_id": "other"}})
        facets["parent"]["run"]["runId"] = run_id(QUERY)
        facets["parent"]["job"]["name"] = "shop.load.orders"
    expected = Expected.of({"other.job.event.start": {}, "other.job.event.complete": {}}, scope="dags")
    report = compare(expected, Events.of([*events, *other]))
    assert report.text().splitlines()[-1] == "2 events match, 0 differ"


def test_events_that_are_not_compared_are_not_related():
    """A broken run of another DAG does not concern a file without that DAG."""
    events = whole_run()
    stray = {**events[0], "job": {"namespace": "tests", "name": "other.t"}}
    stray["run"] = {"runId": run_id(70), "facets": {}}
    expected = Expected.of(
        {event.key: [{}] for event in Events.of(events[:0])} or {"shop.event.complete": {}}, scope="dags"
    )
    report = compare(expected, Events.of([events[-1], stray]))
    assert report.ok, report.text()
    assert report.skipped == {"other": 1}


def test_the_text_and_the_data_of_a_broken_relation():
    """A person reads rule, event, place and both values; a program gets the same."""
    events = whole_run()
    put(13, "run", "runId", value=run_id(99))(events)
    report = report_of(events)
    assert (
        report.text()
        == f"""\
relation    one_run_id: shop.shaky.event.complete  (event 13, try 2)
  run.runId has another run id than START, event 12 of the same try
    expected  "{run_id(6)}"
    actual    "{run_id(99)}"

14 events match, 0 differ; broken: one_run_id"""
    )
    assert not report.ok
    assert report.differing == 0
    (difference,) = report.as_dict()["differences"]
    assert (difference["kind"], difference["rule"], difference["path"]) == (
        "relation",
        "one_run_id",
        "run.runId",
    )
    assert report.as_dict()["broken"] == ["one_run_id"]


def test_several_problems_of_one_event_are_one_entry():
    """All problems of one event with the schemas are one entry."""
    events = whole_run()
    del events[0]["producer"], events[0]["eventTime"]
    report = report_of(events)
    assert [len(group) for group in report.by_event()] == [2]
    assert {entry.kind for entry in report.differences} == {Kind.RELATION}


def test_a_rule_that_does_not_exist():
    """A misspelt rule is refused with the nearest name: otherwise a rule that was to be off stays on."""
    with pytest.raises(
        BadInputError, match="`unique_key` is not a relation between events; did you mean `unique_keys`"
    ):
        report_of(whole_run(), without=("unique_key",))


def test_without_jsonschema_rs_the_cure_is_given(monkeypatch):
    """Events that cannot be checked are not good, unless the caller turns the relation off."""
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'airflow-provider-spark-lineage\[testing\]'"):
        report_of(whole_run())
    assert report_of(whole_run(), without=("schemas",)).ok


def test_a_schema_from_elsewhere_is_not_judged():
    """A facet of one's own, or of a newer spec, is not a mistake; it is reported once as unchecked."""
    events = whole_run()
    own, newer = (
        "https://example.org/MyRunFacet.json",
        "https://openlineage.io/spec/facets/9-0-0/ParentRunFacet.json",
    )
    for number in (1, 3):
        at(events, number, "run", "facets")["my"] = {"_producer": "https://example.org", "_schemaURL": own}
    at(events, 2, *PARENT)["_schemaURL"] = newer
    report = report_of(events)
    assert report.ok
    assert (
        report.text()
        == f"""\
schemas: the schema {own} is not available, so the parts of events that name it were not checked.
schemas: the schema {newer} is not available, so the parts of events that name it were not checked.
14 events match, 0 differ"""
    )


def test_a_resumed_start_word_for_word_is_not_judged():
    """Airflow 3 keeps the first start's time when a task resumes: the same START again is correct."""
    events = whole_run()
    events[0]["run"]["facets"]["airflow"]["task"]["deferrable"] = True
    double(1)(events)
    assert broken(events) == []
    events[-1]["eventTime"] = "2024-05-01T10:00:02Z"
    assert broken(events) == []


def test_a_second_start_of_a_try_is_not_judged():
    """A task may defer though its operator has no `deferrable`; mapped or not."""
    events = whole_run()
    add(task("START", "load", LOAD, 2))(events)
    add(task("START", "by.part", PART_0, 11, map_index=0))(events)
    assert broken(events) == []


def test_no_events_break_no_relation():
    """Nothing emitted is reported as missing, not as a broken chain."""
    assert {entry.kind for entry in report_of([]).differences} == {Kind.MISSING}


def test_the_dag_run_is_known_by_its_number():
    """The tests assume of these events that the DAG run is every root."""
    roots = {event.root_run_id for event in Events.of(whole_run()) if event.root_run_id}
    assert roots == {run_id(DAG_RUN)}
