"""Keys with addresses: which instance and which try of a task an expectation is about."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_provider_spark_lineage.openlineage.testing.keys import parse_key
from airflow_provider_spark_lineage.testing import RELATIONS, Event, Events, Expected, Report, compare


def task(
    index: int | None, tried: int = 1, kind: str = "START", dag: str = "my.dag", task: str = "group.task"
) -> dict[str, Any]:
    """An event of one instance and try; the job is not called as the task, so only the facet has them."""
    facet = {
        "dag": {"dag_id": dag},
        "task": {"task_id": task},
        "taskInstance": {"map_index": -1 if index is None else index, "try_number": tried},
    }
    run = {"runId": f"{dag}.{task}/{index}/{tried}", "facets": {"airflow": facet}}
    return {
        "eventType": kind,
        "run": run,
        "job": {"name": "renamed"},
        "inputs": [{"name": f"{index}/{tried}"}],
    }


def child(of: dict[str, Any], name: str) -> dict[str, Any]:
    parent = {"run": {"runId": of["run"]["runId"]}, "job": {"name": "my.dag.group.task"}}
    run = {"runId": f"{name} of {of['run']['runId']}", "facets": {"parent": parent}}
    return {"eventType": "START", "run": run, "job": {"name": name}, "inputs": of["inputs"]}


def check(expected: dict[str, Any], *events: dict[str, Any], **options: Any) -> Report:
    return compare(Expected.of(expected, **options), Events.of(events), without=RELATIONS)


def of(text: str) -> dict[str, Any]:
    return {"inputs": [{"name": text}]}


def entries(report: Report) -> list[tuple[str, str, str]]:
    return [(entry.kind.value, entry.key, entry.reason) for entry in report.differences]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("dag.task.event.start", ("dag.task", "start", None, None)),
        ("my.dag.a.b[0].event.fail", ("my.dag.a.b", "fail", 0, None)),
        ("dag.task#12.event.start", ("dag.task", "start", None, 12)),
        ("dag.task[10]#2.event.complete", ("dag.task", "complete", 10, 2)),
        ("dag.event.event.start", ("dag.event", "start", None, None)),
        ("dag.event.complete", ("dag", "complete", None, None)),
        ("etl [daily].event.start", ("etl [daily]", "start", None, None)),
        ("c#.event.start", ("c#", "start", None, None)),
    ],
)
def test_keys_are_parsed_and_printed(text, parts):
    """Only numbers in an address make an address; everything before it is the name, dots and all."""
    key = parse_key(text)
    assert (key.subject, key.type, key.map_index, key.try_number) == parts
    assert str(key) == text


def test_an_address_chooses_by_the_facet():
    """Each expectation is compared with its own instance and try, in whatever order events come."""
    events = [task(index, tried) for index in (2, 0, 1) for tried in (2, 1)]
    expected = {
        f"my.dag.group.task[{index}]#{tried}.event.start": of(f"{index}/{tried}")
        for index in range(3)
        for tried in (1, 2)
    }
    assert check(expected, *events).summary == "6 events match, 0 differ"
    expected["my.dag.group.task[1]#2.event.start"] = of("0/1")
    report = check(expected, *events)
    assert {(entry.kind.value, entry.key, entry.where) for entry in report.differences} == {
        ("changed", "my.dag.group.task[1]#2.event.start", "event 5, map_index 1, try 2")
    }


def test_an_address_may_leave_something_open():
    """`[0]` are all tries of an instance, `#1` all instances of a try."""
    events = [task(index, tried) for index in (0, 1) for tried in (1, 2)]
    name = "my.dag.group.task"
    for address, wanted in (("[0]", ["0/1", "0/2"]), ("#2", ["0/2", "1/2"])):
        report = check({f"{name}{address}.event.start": [of(text) for text in wanted]}, *events)
        assert report.matched == 2
        left = [entry.actual["inputs"][0]["name"] for entry in report.differences]
        assert sorted([*left, *wanted]) == ["0/1", "0/2", "1/1", "1/2"]


def test_a_plain_key_is_about_all_instances_and_tries():
    """Without an address every event of that task and type is meant, beside keys with one."""
    events = [task(0), task(1), task(1, 2)]
    plain = {"my.dag.group.task.event.start": [of("0/1"), of("1/1"), of("1/2")]}
    both = {**plain, "my.dag.group.task[1]#2.event.start": of("1/2")}
    assert check(plain, *events).summary == "3 events match, 0 differ"
    assert check(both, *events).summary == "4 events match, 0 differ"
    assert entries(check(both, *events, task(1, 2))) == [
        ("unexpected", "my.dag.group.task.event.start", "4 with this key were emitted, 3 expected")
    ]


def test_an_instance_that_nobody_expects():
    """With addresses alone, every other instance and try is unexpected, and named as it would be written."""
    report = check({"my.dag.group.task[0].event.start": {}}, task(0), task(1, 2))
    assert entries(report) == [
        (
            "unexpected",
            "my.dag.group.task.event.start",
            "no event of this instance and try is expected, `my.dag.group.task[1]#2.event.start`",
        )
    ]


def test_a_task_that_is_not_mapped_has_no_index():
    """`[0]` does not mean the only one; a try of a task that is not mapped is written alone."""
    assert check({"my.dag.group.task#1.event.start": {}}, task(None)).ok
    assert not check({"my.dag.group.task[0].event.start": {}}, task(None)).ok


def test_children_have_the_address_of_their_task():
    """A child run has no facet of instances; it belongs to the task run that is its parent."""
    tasks = [task(index, tried) for index in (0, 1) for tried in (1, 2)]
    children = [child(each, "my.dag.group.task.orders") for each in tasks]
    deeper = [child(each, "step") for each in children]
    expected = {
        f"{name}[{index}]#{tried}.event.start": of(f"{index}/{tried}")
        for name in ("my.dag.group.task", "my.dag.group.task.orders", "step")
        for index in (0, 1)
        for tried in (1, 2)
    }
    events = [*deeper, *children, *tasks]
    assert check(expected, *events).summary == "12 events match, 0 differ"
    assert check(expected, *events[1:]).summary == "11 events match, 1 differs"


def test_a_state_set_by_hand_has_the_address_of_its_run():
    """Airflow emits it without its facet: the other events of that run and job have instance and try."""
    starts = [task(index, 2) for index in (0, 1)]
    ends = [task(index, 2, "COMPLETE") for index in (0, 1)]
    other = task(0, 2, "COMPLETE")
    for event in (*starts, *ends):
        event["job"]["name"] = "my.dag.group.task"
    other["job"]["name"] = "another"
    for event in (*ends, other):
        del event["run"]["facets"]["airflow"]
    expected = {f"my.dag.group.task[{index}]#2.event.complete": of(f"{index}/2") for index in (0, 1)}
    assert check(expected, *starts, *ends).matched == 2
    assert not check({"another[0].event.complete": {}}, *starts, other).matched


def test_children_have_an_address_also_without_their_task():
    """If only certain keys are compared, the events of the task still give the try of a child."""
    first, second = task(None, 1), task(None, 2)
    key = "my.dag.group.task.q#{}.event.start"
    events = [first, child(first, "my.dag.group.task.q"), second, child(second, "my.dag.group.task.q")]
    expected = {key.format(1): of("None/1"), key.format(2): of("None/2")}
    assert check(expected, *events, scope="keys").ok
    wrong = check({**expected, key.format(2): of("None/1")}, *events, scope="keys")
    assert [entry.kind.value for entry in wrong.differences] == ["changed"] * len(wrong.differences)


def test_only_the_instance_of_a_key_is_compared():
    """A key of one instance expects nothing of the others, nor of children; they are counted and named."""
    tasks = [task(index, tried) for index in (0, 1) for tried in (1, 2)]
    events = [*tasks, *(child(each, "my.dag.group.task.q") for each in tasks), task(None, task="other")]
    name = "my.dag.group.task"
    report = check({f"{name}[1]#2.event.start": of("1/2")}, *events, scope="keys")
    assert (report.ok, report.matched, report.skipped) == (True, 1, {"my.dag": 8})
    assert report.text().splitlines()[:-1] == [
        "8 events of keys with no expectation, not compared:",
        f"  {name}.q.event.start",
        f"  {name}[0]#1.event.start",
        f"  {name}[0]#2.event.start",
        f"  {name}[1]#1.event.start",
        "  my.dag.other.event.start",
    ]
    of_instance = check({f"{name}.q[1].event.start": [of("1/1"), of("1/2")]}, *events, scope="keys")
    assert (of_instance.ok, of_instance.matched) == (True, 2)
    # A key without an address is about all instances, and so is the file about the whole DAG.
    every = {f"{name}.event.start": [of(f"{index}/{tried}") for index in (0, 1) for tried in (1, 2)]}
    assert check({**every, f"{name}[1].event.start": [{}, {}]}, *events, scope="keys").matched == 6
    assert len(entries(check({f"{name}[1]#2.event.start": {}}, *events, scope="dags"))) == 8


def test_expectations_of_an_instance_are_compared_by_keys():
    """Leaving the other instances out must not leave out the instance of the key."""
    key = "my.dag.group.task[1].event.start"
    events = [task(0), task(1)]
    assert not check({key: of("0/1")}, *events, scope="keys").ok
    assert entries(check({key: {}}, task(0), scope="keys")) == [
        ("missing", key, "no event with this key was emitted")
    ]
    assert entries(check({key: {}}, *events, task(1), scope="keys")) == [
        ("unexpected", key, "2 with this key were emitted, 1 expected")
    ]


def test_many_keys_that_are_not_compared_are_cut():
    """A mapped task of a thousand instances must not hide the summary."""
    events = [task(index) for index in range(30)]
    text = check({"my.dag.group.task[7].event.start": {}}, *events, scope="keys").text()
    assert text.count("my.dag.group.task[") == 20
    assert text.splitlines()[-2] == "  and 9 more"


def test_a_child_of_itself_has_no_address():
    """A parent facet that leads round in a circle ends nowhere."""
    first, other = child(task(0), "a"), child(task(0), "b")
    first["run"]["runId"], other["run"]["runId"] = "1", "2"
    first["run"]["facets"]["parent"]["run"]["runId"], other["run"]["facets"]["parent"]["run"]["runId"] = (
        "2",
        "1",
    )
    assert [entry.kind.value for entry in check({"a[0].event.start": {}}, first, other).differences] == [
        "missing",
        "unexpected",
        "unexpected",
    ]


def test_a_job_whose_name_looks_like_an_address():
    """No Airflow id can have brackets; a job that was emitted with them is meant as it is called."""
    event = {"eventType": "START", "run": {}, "job": {"name": "etl[1]"}}
    assert check({"etl[1].event.start": {}}, event).ok
    assert not check({"etl[2].event.start": {}}, event).ok


@pytest.mark.parametrize("value", [0, -1, True, "1", 1.0, None])
def test_wrong_numbers_of_tries_are_refused(value):
    """Tries count from 1, as integers; anything else is not the number of a try."""
    event = task(None)
    event["run"]["facets"]["airflow"]["taskInstance"]["try_number"] = value
    assert Event(event).try_number is None
    assert not check({"my.dag.group.task#1.event.start": {}}, event).ok


def test_ids_with_dots_do_not_name_another_dag():
    """A file about the task `eu.load` of DAG `shop` does not concern a DAG `shop.eu`, and vice versa."""
    shop, other = task(None, dag="shop", task="eu.load"), task(None, dag="shop.eu", task="clean")
    report = check({"shop.eu.load.event.start": {}}, shop, other, scope="dags")
    assert (report.ok, report.skipped) == (True, {"shop.eu": 1})
    report = check({"shop.eu.clean.event.start": {}}, shop, other, scope="dags")
    assert (report.ok, report.skipped) == (True, {"shop": 1})


def test_dag_events_and_children_by_name():
    """A DAG run is named by the DAG, a child with a name of its own by that name."""
    dag = {
        "eventType": "COMPLETE",
        "run": {"facets": {"airflowDagRun": {"dag": {"dag_id": "my.dag"}}}},
        "job": {"name": "my.dag"},
    }
    events = [dag, task(None), child(task(None), "app.step")]
    keys = ("my.dag.event.complete", "my.dag.group.task.event.start", "app.step.event.start")
    assert check({key: {} for key in keys}, *events, scope="dags").ok


def test_a_child_run_in_a_triggered_dag_is_of_that_dag():
    """The root of all that it runs is in the DAG that triggered it; the parents come first."""
    root = {"job": {"name": "a"}, "run": {"runId": "a"}}
    dag_run = {"job": {"name": "b"}, "run": {"runId": "b"}, "root": root}
    trigger, load = task(None, dag="a", task="trig"), task(None, dag="b", task="load")
    query, by_hand = child(load, "b.load.query.1"), task(None, kind="COMPLETE", dag="b", task="load")
    by_hand["job"]["name"] = "b.load"
    by_hand["run"]["facets"] = {"parent": dag_run}
    load["run"]["facets"]["parent"] = dag_run
    query["run"]["facets"]["parent"]["root"] = root
    events = [query, by_hand, trigger, load]
    assert check({"a.trig.event.start": {}}, *events, scope="dags").skipped == {"b": 3}
    report = check({"b.load.event.start": {}, "b.load.event.complete": {}}, *events, scope="dags")
    assert entries(report) == [
        ("unexpected", "b.load.query.1.event.start", "no event with this key is expected")
    ]
    assert Events.of([query]).dag_id_of(Event(query)) == "a"
