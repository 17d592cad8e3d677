"""Comparison of events: subsets, sets, the best assignment, scope, and the report."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from testing.sketches import KEY, check, compare, paths, start

from airflow_provider_spark_lineage.openlineage.testing.matchers import make
from airflow_provider_spark_lineage.testing import (
    ABSENT,
    Events,
    Expected,
    Report,
    read_expected,
)


def test_objects_are_a_subset():
    """Fields that the expectation does not name may be there."""
    assert check({"run": {}}, start(run={"facets": {"airflow": 1}}, producer="x")).ok
    assert check({}, start()).ok


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, True),
        (True, 1),
        (0, False),
        ("5", 5),
        (5, "5"),
        (None, ABSENT),
        (None, 0),
        ("", None),
        ([], {}),
        ({}, []),
    ],
)
def test_values_are_never_converted(expected, actual):
    """Python's idea of equality is not JSON's: true is not 1, null is not absent."""
    run = {} if actual is ABSENT else {"v": actual}
    assert [path for path, _ in paths(check({"run": {"v": expected}}, start(run=run)))] == ["run.v"]


def test_one_and_one_point_zero_are_the_same_number():
    """JSON has one kind of number; `!integer` asks for an integer."""
    assert check({"run": {"v": 1}}, start(run={"v": 1.0})).ok


def test_identity_lists_are_sets():
    """The order is ignored if namespace and name, or the name, identify an element."""
    datasets = [{"namespace": "file", "name": name, "facets": {"x": name}} for name in "abc"]
    assert check({"inputs": datasets}, start(inputs=datasets[::-1])).ok


def test_identity_lists_are_exact():
    """Missing and unexpected elements are both reported, each by its name."""
    a, b, c = ({"namespace": "file", "name": name} for name in "abc")
    assert paths(check({"inputs": [a, b]}, start(inputs=[c, a]))) == [
        ("inputs[file b]", "is not in the list"),
        (
            "inputs[file c]",
            "is not expected in the list; the nearest missing one is file b, which differs in name",
        ),
    ]
    assert paths(check({"inputs": []}, start(inputs=[c]))) == [
        ("inputs[file c]", "is not expected in the list")
    ]
    assert paths(check({"inputs": [a]}, start(inputs=[a, a]))) == [
        ("inputs[file a]", "is not expected in the list")
    ]


def test_same_name_in_two_namespaces():
    """The namespace belongs to the identity."""
    first, other = (
        {"namespace": namespace, "name": "t", "v": namespace} for namespace in ("s3://a", "s3://b")
    )
    assert check({"inputs": [first, other]}, start(inputs=[other, first])).ok
    changed = {**other, "v": "x"}
    assert paths(check({"inputs": [first, other]}, start(inputs=[changed, first]))) == [
        ("inputs[s3://b t].v", "has another value")
    ]


def test_elements_without_identity_are_reported_one_by_one():
    """An actual element without a name does not spoil the comparison of the others."""
    a, b = ({"namespace": "file", "name": name} for name in "ab")
    report = check({"inputs": [a, b]}, start(inputs=[b, {"namespace": "file"}, a]))
    assert paths(report) == [("inputs[1]", "is not expected in the list")]


def test_an_unexpected_dataset_is_shown_by_its_name():
    """Its facets would hide which dataset it is; what differs from the nearest missing one is told."""

    def dataset(name: str, kind: str) -> dict[str, Any]:
        fields = [{"name": f"column_{number}", "type": kind} for number in range(3)]
        return {"namespace": "file", "name": name, "facets": {"schema": {"fields": fields}}}

    wanted = [dataset("/in/orders", "long"), dataset("/in/rates", "double")]
    report = check({"inputs": wanted}, start(inputs=[dataset("/in/rate", "double"), wanted[0]]))
    unexpected = report.differences[-1]
    assert unexpected.actual == {"namespace": "file", "name": "/in/rate"}
    assert unexpected.reason.endswith("the nearest missing one is file /in/rates, which differs in name")
    assert "column_0" not in report.text().partition("is not expected")[2]


@pytest.mark.parametrize("order", [*permutations("acb")])
def test_lists_without_order_are_paired_as_a_whole(order):
    """No choice for one element may leave another one without a match: all orders of the list pass."""
    patterns = [make("regex", pattern) for pattern in ("[ab]", "[bc]", "[ac]")]
    expected = {"run": {"v": make("at_least", patterns)}}
    assert check(expected, start(run={"v": [*order]})).ok
    assert not check(expected, start(run={"v": ["a", "a", "a"]})).ok
    events = [start(run={"v": each}) for each in order]
    assert check([{"run": {"v": pattern}} for pattern in patterns], *events).ok


def test_other_lists_are_exact_and_ordered():
    """Scalars, and objects without an identity, have an order and a number."""
    assert paths(check({"run": {"v": [1, 2]}}, start(run={"v": [2, 1]}))) == [
        ("run.v[0]", "has another value"),
        ("run.v[1]", "has another value"),
    ]
    assert paths(check({"run": {"v": [1]}}, start(run={"v": [1, 1]}))) == [("run.v", "has 2 elements, not 1")]
    assert paths(check({"run": {"v": [{"a": 1}, {"a": 2}]}}, start(run={"v": [{"a": 2}, {"a": 1}]}))) == [
        ("run.v[0].a", "has another value"),
        ("run.v[1].a", "has another value"),
    ]


def test_transformations_are_a_multiset():
    """The order of transformations means nothing, their number does."""
    a, b = {"type": "DIRECT", "subtype": "IDENTITY"}, {"type": "INDIRECT", "subtype": "FILTER"}
    assert check({"run": {"transformations": [a, b, b]}}, start(run={"transformations": [b, a, b]})).ok
    assert (
        len(paths(check({"run": {"transformations": [a, b, b]}}, start(run={"transformations": [a, a, b]}))))
        == 2
    )
    assert (
        len(paths(check({"run": {"transformations": [a, b]}}, start(run={"transformations": [b, a, b]}))))
        == 1
    )
    assert paths(check({"run": {"transformations": []}}, start(run={"transformations": [a]})))


def test_a_matcher_as_name(tmp_path):
    """A matcher as dataset name takes the datasets that no other name claims, if it accepts them."""
    file = tmp_path / "dag.yaml"
    file.write_text(
        f"""
{KEY}:
  inputs:
    - {{namespace: file, name: !regex "/tmp/.*", v: 1}}
    - {{namespace: file, name: /tmp/known, v: 2}}
"""
    )
    known = {"namespace": "file", "name": "/tmp/known", "v": 2}  # noqa: S108 - a name, not a file

    def report(name: str, value: int) -> Report:
        dataset = {"namespace": "file", "name": name, "v": value}
        return compare(read_expected(file), Events.of([start(inputs=[known, dataset])]))

    assert report("/tmp/x", 1).ok  # noqa: S108
    assert paths(report("/tmp/x", 3)) == [("inputs[file /tmp/x].v", "has another value")]  # noqa: S108
    reasons = [reason for _, reason in paths(report("/var/x", 1))]
    assert [reason.partition(";")[0] for reason in reasons] == [
        "is not in the list",
        "is not expected in the list",
    ]


def test_a_wrong_name_is_compared_with_the_nearest():
    """Of several elements that differ in as much, a person looks at the one with the nearest name."""

    def fields(*names: str, **more: str) -> list[dict[str, str]]:
        return [{**more, "name": "/in", "field": name} for name in names]

    wanted = {"inputs": fields("order_id", "amount")}
    report = check(wanted, start(inputs=fields("amounts", "zip", "orderid", namespace="file")))
    changed = [(entry.expected, entry.actual) for entry in report.differences]
    assert changed[:2] == [("order_id", "orderid"), ("amount", "amounts")]
    assert [entry.reason for entry in report.differences][2:] == ["is not expected in the list"]


def test_a_wrong_event_is_compared_with_the_nearest():
    """Instances come in any order: an event must not be shown beside another instance."""

    def event(name: str) -> dict[str, Any]:
        return {"inputs": [{"namespace": "file", "name": name}], "producer": "x"}

    names = ["/data/alpha", "/data/beta", "/data/gamma"]
    wrong = ["/data/gamma2", "/data/alfa", "/data/betta"]
    report = check([event(name) for name in names], *(start(**event(name)) for name in wrong))
    pairs = [(group[0].expected["name"], group[1].actual["name"]) for group in report.by_event()]
    assert pairs == [
        ("/data/alpha", "/data/alfa"),
        ("/data/beta", "/data/betta"),
        ("/data/gamma", "/data/gamma2"),
    ]


def test_a_matcher_as_name_takes_the_nearest_that_it_accepts(tmp_path):
    """Not the first: the others would differ in more. A strict name is not robbed of its only match."""
    file = tmp_path / "dag.yaml"
    file.write_text(
        f"{KEY}:\n  inputs:\n"
        "    - {namespace: file, name: !string , type: long, x: 1}\n"
        "    - {namespace: file, name: !regex 'b.*', type: int, x: 1}\n"
    )
    names = {"a": "int", "b": "long", "c": "long"}
    inputs = [
        {"namespace": "file", "name": name, "type": type_, "x": 2 + (name == "a")}
        for name, type_ in names.items()
    ]
    assert paths(compare(read_expected(file), Events.of([start(inputs=inputs)]))) == [
        ("inputs[file c].x", "has another value"),
        ("inputs[file b].type", "has another value"),
        ("inputs[file b].x", "has another value"),
        ("inputs[file a]", "is not expected in the list"),
    ]


def test_a_name_weighs_more_than_its_facets(tmp_path):
    """Two matchers as names are told apart by the names they accept, however wrong the rest is."""
    file = tmp_path / "dag.yaml"
    file.write_text(
        f"""
{KEY}:
  inputs:
    - {{name: !regex "a.*", x: 1, y: 1}}
    - {{name: !regex "b.*", x: 2, y: 2}}
"""
    )
    report = compare(
        read_expected(file),
        Events.of([start(inputs=[{"name": "a1", "x": 2, "y": 2}, {"name": "b1", "x": 1, "y": 1}])]),
    )
    assert [path for path, _ in paths(report)] == [
        f"inputs[{name}].{v}" for name in ("a1", "b1") for v in "xy"
    ]


def test_strict_expectations_choose_first():
    """A loose expectation does not use up the event that a strict one needs, in any order of the list."""
    loose, strict = {"run": {}}, {"run": {"v": 1}}
    first, second = start(run={"v": 1}), start(run={"v": 2})
    for expected in ([loose, strict], [strict, loose]):
        for events in ([first, second], [second, first]):
            assert check(expected, *events).summary == "2 events match, 0 differ"


def test_fewest_events_differ():
    """One event that differs in much is reported rather than two that differ in little each."""
    report = check(
        [{"run": {"x": 0}}, {"run": {"x": 2, "p": 0, "q": 0}}],
        start(run={"x": 0, "p": 0, "q": 0}),
        start(run={"x": 1, "p": 9, "q": 9}),
    )
    assert report.summary == "1 event matches, 1 differs"
    assert [path for path, _ in paths(report)] == ["run.x", "run.p", "run.q"]


def test_more_or_fewer_events_than_expected():
    """With several events per key both the missing and the surplus ones are counted."""
    assert check([{}, {}], start()).summary == "1 event matches, 1 differs"
    assert check([{}], start(), start(), start()).summary == "1 event matches, 2 differ"


def test_one_file_speaks_for_its_own_dags(tmp_path):
    """Events of other DAGs are counted, named and not compared; a folder speaks for all of them."""
    (tmp_path / "dag.yaml").write_text(f"{KEY}: {{}}\n")
    events = Events.of([start(), start(dag="dag2"), start("new")])
    report = compare(read_expected(tmp_path / "dag.yaml"), events)
    assert [entry.key for entry in report.differences] == ["dag.new.event.start"]
    assert report.skipped == {"dag2": 1}
    assert "1 event of DAGs with no expectation, not compared: dag2" in report.text()
    for wide in (
        compare(read_expected(tmp_path), events),
        compare(read_expected(tmp_path / "dag.yaml"), events, scope="all"),
    ):
        assert [entry.key for entry in wide.differences] == ["dag2.task.event.start", "dag.new.event.start"]


def test_child_runs_are_in_the_scope_of_their_dag(tmp_path):
    """A child run with a name of its own is not overlooked: its root has the DAG."""
    (tmp_path / "dag.yaml").write_text(f"{KEY}: {{}}\n")
    parent = {"job": {"name": "dag.task"}, "root": {"job": {"name": "dag"}}}
    child = {"eventType": "START", "run": {"facets": {"parent": parent}}, "job": {"name": "app.step"}}
    report = compare(read_expected(tmp_path / "dag.yaml"), Events.of([start(), child]))
    assert [entry.key for entry in report.differences] == ["app.step.event.start"]


def test_grandchildren_without_a_root_are_in_the_scope_of_their_dag(tmp_path):
    """Older integrations name a parent and no root: the DAG is at the end of the chain of parents."""
    (tmp_path / "dag.yaml").write_text(f"{KEY}: {{}}\n")

    def child(kind: str, run: str, parent: str) -> dict[str, Any]:
        facets = {"parent": {"run": {"runId": parent}, "job": {"name": "x"}}} if parent else {}
        return {"eventType": kind, "run": {"runId": run, "facets": facets}, "job": {"name": "spark.app"}}

    task = start(run={"runId": "1", "facets": {"airflow": {"dag": {"dag_id": "dag"}}}})
    events = [child("START", "3", "2"), child("START", "2", "1"), child("COMPLETE", "3", ""), task]
    for some in (events, events[::-1]):
        report = compare(read_expected(tmp_path / "dag.yaml"), Events.of(some))
        assert sorted(entry.key for entry in report.differences) == [
            "spark.app.event.complete",
            "spark.app.event.start",
            "spark.app.event.start",
        ]
    stray = [child("START", "7", "8"), child("START", "8", "7"), task]
    assert compare(read_expected(tmp_path / "dag.yaml"), Events.of(stray)).skipped == {"spark": 2}


def test_no_events_at_all():
    """Nothing emitted never passes, and the likely causes are listed."""
    report = check({})
    assert report.summary == "0 events match, 1 differs"
    assert not report.ok
    for cause in ("OpenLineage is not active", "log_file_path", "execution_timeout"):
        assert cause in report.text()


def test_nothing_expected_and_nothing_emitted():
    """If not one event came, an empty expectation does not make the comparison pass."""
    report = compare(Expected.of({}), Events.of([]))
    assert (report.ok, report.differences) == (False, ())
    assert "OpenLineage is not active" in report.text()


def test_problems_are_not_ok():
    """An unreadable text could have been an unexpected event, so it is never a pass."""
    events = Events(Events.of([start()]).items, ("events.jsonl, line 2: not JSON.",))
    report = compare(Expected.of({KEY: {}}), events)
    assert (report.summary, report.ok) == ("1 event matches, 0 differ", False)
    assert "unreadable  events.jsonl, line 2: not JSON." in report.text()


def test_the_text_of_a_report(tmp_path):
    """A person sees each event once, each path with expected beside actual, and the summary last."""
    file = tmp_path / "dag.yaml"
    file.write_text(
        f"""
{KEY}:
  run: {{v: !number ">= 1", odd.key: a, facet: {{x: 1, y: !uuid }}}}
  outputs: [{{namespace: file, name: /out, v: 1}}]
dag.task.event.complete: {{}}
"""
    )
    events = Events.of([start(run={"v": "5", "odd.key": None}, outputs=[]), start("extra")])
    assert (
        compare(read_expected(file), events).text()
        == f"""\
changed     dag.task.event.start  (event 1)
  run.v is not a number but a string
    expected  !number ">= 1"
    actual    "5"
  run."odd.key" is not a string but null
    expected  "a"
    actual    null
  run.facet is absent
    expected  {{x: 1, y: !uuid }}
    actual    (absent)
  outputs[file /out] is not in the list
    expected  {{namespace: file, name: /out, v: 1}}
    actual    (absent)
missing     dag.task.event.complete  (expected in {file})
  no event with this key was emitted
unexpected  dag.extra.event.start  (event 2)
  no event with this key is expected

0 events match, 3 differ"""
    )


@pytest.mark.parametrize(
    "written",
    [
        r"{namespace: file, name: !regex '/out/[0-9]+\.parquet', facets: {size: !optional 5}}",
        r"{namespace: file, name: 'yes', v: ['5', 5, null, 'null', '', ' a', 'a: b', '#', '{', l'été]}",
        r"{namespace: file, name: !one_of [a, !string ], facets: !exact {at: !datetime , $$x: 1}}",
        r"{namespace: file, name: x, facets: {schema: {fields: !at_least [{name: !any , type: !uuid }]}}}",
        r'{namespace: file, name: "a\nb", facets: {x: !optional {$match: regex, value: x+}}}',
    ],
)
def test_a_missing_expectation_is_shown_as_its_yaml(tmp_path, written):
    """A person finds a missing output in the file by the text shown, matchers and all."""
    file = tmp_path / "dag.yaml"
    file.write_text(f"{KEY}:\n  outputs: [{written}]\n")
    text = compare(read_expected(file), Events.of([start(outputs=[])])).text()
    assert f"\n    expected  {written}\n    actual    (absent)\n" in text


def test_long_values_are_cut(tmp_path):
    """A value longer than a few lines would hide where it differs."""
    text = check({"run": {"v": "x"}}, start(run={"v": "y" * 10_000})).text()
    assert "(10002 characters)" in text
    assert len(text) < 1000
