"""Captures: one name is one value, in every event of the comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Events,
    Expected,
    Kind,
    Report,
    compare,
    read_expected,
)
from airflow_provider_spark_lineage.testing.composite import make

START_AND_END = """
dag.task.event.start: {run: {runId: !capture run}}
dag.task.event.complete: {run: {runId: !capture run}}
"""


def event(kind: str, run_id: Any, name: str = "dag.task", **parts: Any) -> dict[str, Any]:
    return {"eventType": kind, "run": {"runId": run_id}, "job": {"name": name}, **parts}


def check(tmp_path: Path, text: str, *events: dict[str, Any]) -> Report:
    file = tmp_path / "dag.yaml"
    file.write_text(text)
    return compare(read_expected(file), Events.of(events), without=RELATIONS)


def test_the_same_value_in_two_events(tmp_path):
    """The end of a run has the id of its start, whichever was emitted first."""
    events = [event("START", "a"), event("COMPLETE", "a")]
    assert check(tmp_path, START_AND_END, *events).ok
    assert check(tmp_path, START_AND_END, *events[::-1]).ok


def test_a_conflict_names_both_events(tmp_path):
    """One difference, at the later place, which says what was captured and where."""
    report = check(tmp_path, START_AND_END, event("START", "a"), event("COMPLETE", "b"))
    assert report.summary == "1 events match, 1 differ"
    (one,) = report.differences
    assert (one.key, one.path, one.where, one.actual) == (
        "dag.task.event.complete",
        "run.runId",
        "event 2",
        "b",
    )
    assert one.reason == (
        'is not what `run` was captured as, "a" at run.runId of dag.task.event.start (event 1)'
    )
    assert 'expected  !capture "run"' in report.text()


def test_within_one_event(tmp_path):
    """Two places of one event are compared, too."""
    text = "dag.task.event.start: {run: {runId: !capture run, facets: {parent: {id: !capture run}}}}\n"
    start = event("START", "a")
    start["run"]["facets"] = {"parent": {"id": "a"}}
    assert check(tmp_path, text, start).ok
    start["run"]["facets"]["parent"]["id"] = "b"
    (one,) = check(tmp_path, text, start).differences
    assert one.path == "run.facets.parent.id"


def test_a_child_is_of_the_task_that_ran(tmp_path):
    """The parent that a child names is the run that the task's own events name."""
    text = f"""{START_AND_END}
app.step.event.start: {{run: {{facets: {{parent: {{run: {{runId: !capture run}}}}}}}}}}
"""
    events = [event("START", "a"), event("COMPLETE", "a"), event("START", "c", "app.step")]
    events[2]["run"]["facets"] = {"parent": {"run": {"runId": "a"}}}
    assert check(tmp_path, text, *events).ok
    events[2]["run"]["facets"] = {"parent": {"run": {"runId": "c"}}}
    assert [one.key for one in check(tmp_path, text, *events).differences] == ["app.step.event.start"]


@pytest.mark.parametrize("value", [None, True, False, "", [], ["a"], {}, {"a": 1}])
def test_what_cannot_be_captured(tmp_path, value):
    """Only strings and numbers tell runs apart; two empty strings or nulls are not the same run."""
    report = check(tmp_path, START_AND_END, event("START", value), event("COMPLETE", value))
    assert report.summary == "0 events match, 2 differ"


@pytest.mark.parametrize(
    ("first", "second"), [(1, True), (1, "1"), ("a", "A"), (1, 2), ("a", "a "), (0, "0")]
)
def test_values_that_are_not_the_same(tmp_path, first, second):
    """Nothing is converted."""
    assert not check(tmp_path, START_AND_END, event("START", first), event("COMPLETE", second)).ok


def test_a_captured_value_may_have_a_shape(tmp_path):
    """With `of` the value must be that too, and what is refused is not captured."""
    text = """
dag.task.event.start: {run: {runId: !capture {name: run, of: !integer ">= 5"}}}
dag.task.event.complete: {run: {runId: !capture run}}
"""
    assert check(tmp_path, text, event("START", 5), event("COMPLETE", 5)).ok
    report = check(tmp_path, text, event("START", 4), event("COMPLETE", 7))
    assert [(one.key, one.reason) for one in report.differences] == [("dag.task.event.start", "is not >= 5")]


def test_a_name_that_is_used_once(tmp_path):
    """It would be compared with nothing, and pass; mostly it is a typing error."""
    text = START_AND_END + "other.event.start: {run: {runId: !capture rnu}}\n"
    with pytest.raises(BadInputError, match=r"other\.event\.start` captures `rnu`, .* did you mean `run`\?"):
        check(tmp_path, text)
    with pytest.raises(BadInputError, match=r"captures `run`, which nothing else does"):
        check(tmp_path, "dag.event.start: {run: {runId: !capture run}}\n")
    with pytest.raises(BadInputError, match="captures `run`"):
        check(
            tmp_path,
            "dag.event.start: {run: {runId: !optional {$match: one_of, value: [!capture run, 1]}}}\n",
        )


def test_a_folder_is_one_comparison(tmp_path):
    """A name means the same in all files of a folder, where a run of one DAG may have triggered another."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(f"{name}.event.start: {{run: {{runId: !capture run}}}}\n")
    assert len(read_expected(tmp_path).events) == 2
    events = [event("START", "1", "a"), event("START", "2", "b")]
    (one,) = compare(read_expected(tmp_path), Events.of(events), without=RELATIONS).differences
    assert one.key == "b.event.start"


MAPPED = """
dag.task.event.start:
- {run: {runId: !capture first}}
- {run: {runId: !capture second}}
dag.task.event.complete:
- {run: {runId: !capture first}, inputs: [{name: one}]}
- {run: {runId: !capture second}, inputs: [{name: two}]}
"""


def test_the_choice_that_is_none_goes_first(tmp_path):
    """Which START is meant follows from the COMPLETE that only one event can be, in any order of events."""
    starts = [event("START", "a"), event("START", "b")]
    ends = [
        event("COMPLETE", "a", inputs=[{"name": "two"}]),
        event("COMPLETE", "b", inputs=[{"name": "one"}]),
    ]
    for events in (starts + ends, ends + starts, starts[::-1] + ends, ends[::-1] + starts[::-1]):
        assert check(tmp_path, MAPPED, *events).summary == "4 events match, 0 differ"


def test_wrong_events_do_not_choose_for_others(tmp_path):
    """Where nothing fits, any choice may be wrong, so what it would capture is left to the other keys."""
    text = MAPPED.replace("!capture first}}", "!capture first}, producer: p}", 1)
    text = text.replace("!capture second}}", "!capture second}, producer: p}", 1)
    starts = [event("START", "a", producer="q"), event("START", "b", producer="q")]
    ends = [
        event("COMPLETE", "a", inputs=[{"name": "two"}]),
        event("COMPLETE", "b", inputs=[{"name": "one"}]),
    ]
    report = check(tmp_path, text, *starts, *ends)
    assert [one.path for one in report.differences] == ["producer", "producer"]


def test_a_captured_value_tells_which_event_is_meant(tmp_path):
    """An event with the captured value is nearer than one of another run with fewer faults."""
    text = """
dag.task.event.start: {run: {runId: !capture run}}
dag.task.event.complete:
- {run: {facets: {of: !capture run, a: 1, b: 1}}}
"""
    near, far = event("COMPLETE", "x"), event("COMPLETE", "y")
    near["run"]["facets"] = {"of": "r", "a": 2, "b": 2}
    far["run"]["facets"] = {"of": "s", "a": 1, "b": 1}
    report = check(tmp_path, text, event("START", "r"), far, near)
    assert [one.path for one in report.differences] == ["run.facets.a", "run.facets.b", ""]


def test_the_alternative_that_matches_is_captured(tmp_path):
    """A capture among several values binds when its value is the one."""
    text = """
dag.task.event.start: {run: {runId: !one_of [none, !capture run]}}
dag.task.event.complete: {run: {runId: !one_of [none, !capture run], facets: {id: !capture run}}}
"""
    for first, second, ok in (("a", "a", True), ("none", "a", True), ("b", "a", False)):
        end = event("COMPLETE", second)
        end["run"]["facets"] = {"id": "a"}
        assert check(tmp_path, text, event("START", first), end).ok is ok


OPTIONAL = """
dag.task.event.start: {run: {runId: !optional {$match: capture, value: run}}}
dag.task.event.complete: {run: !optional {runId: !optional {$match: capture, value: run}}}
"""


def test_what_is_compared_with_nothing_differs(tmp_path):
    """A name that the events had fewer than two places for would pass whatever it was."""
    there, absent = event("COMPLETE", "a"), {**event("START", "a"), "run": {}}
    (one,) = check(tmp_path, OPTIONAL, absent, there).differences
    assert (one.key, one.path, one.actual) == ("dag.task.event.complete", "run.runId", "a")
    assert one.reason == "is captured as `run` at no other place, so it was compared with nothing"
    (one,) = check(tmp_path, OPTIONAL, absent, {**there, "run": {}}).differences
    assert one.reason == "captures `run`, which no place was there for, so nothing was compared"
    text = "dag.task.event.start: {run: {runId: !one_of [!capture run, !capture run]}}\n"
    assert check(tmp_path, text, event("START", "a")).summary == "0 events match, 1 differ"


def test_what_is_compared_with_nothing_is_said_once(tmp_path):
    """A missing or wrong event is a difference already, which the names in it add nothing to."""
    report = check(tmp_path, START_AND_END, event("START", "a"))
    assert [one.kind for one in report.differences] == [Kind.MISSING]
    text = START_AND_END.replace("complete: {", "complete: {producer: p, ")
    report = check(tmp_path, text, event("START", "a"), event("COMPLETE", True, producer="p"))
    assert [one.path for one in report.differences] == ["run.runId"]


def test_versions_leave_a_capture_alone(tmp_path):
    """What another version's event would be compared with needs no partner in this one."""
    text = START_AND_END.replace("complete: {", "complete: {when: {spark: '<4'}, ")
    file = tmp_path / "dag.yaml"
    file.write_text(text)
    events = Events.of([event("START", "a")])
    assert compare(read_expected(file), events, versions={"spark": "4.1"}, without=RELATIONS).ok


def test_the_first_choice_binds(tmp_path):
    """No other one is tried, in a list or among values; the message says that there was one."""
    start = event("START", "r")
    start["run"]["facets"] = {"v": ["one", "two"]}
    text = """
dag.task.event.start: {run: {facets: {v: %s}}}
dag.task.event.complete: {run: {runId: !capture b, facets: {v: !capture a}}}
"""
    end = event("COMPLETE", "one")
    end["run"]["facets"] = {"v": "two"}
    report = check(tmp_path, text % "!unordered [!capture a, !capture b]", start, end)
    assert {one.reason.split("; ")[1] for one in report.differences} == {
        "there was a choice there, and no other one was tried"
    }
    text = """
dag.task.event.start: {run: {runId: !one_of [!capture a, !capture b], facets: {v: !capture a}}}
dag.task.event.complete: {run: {runId: !capture b}}
"""
    start["run"]["facets"] = {"v": "other"}
    (one,) = check(tmp_path, text, start, event("COMPLETE", "r")).differences
    assert one.reason.endswith("; there was a choice there, and no other one was tried")


@pytest.mark.parametrize(
    ("inputs", "chosen"),
    [
        ("[{namespace: !capture x, name: a}, {namespace: !capture x, name: b}]", False),
        ("[{namespace: one, name: a, v: !capture x}, {namespace: two, name: b, v: !capture x}]", False),
        ("[{namespace: !capture x, name: !any }, {namespace: !capture x, name: b}]", True),
        ("[{namespace: !capture x, name: !any }, {namespace: !capture x, name: !any }]", True),
        ("[{v: !capture x}, {v: !capture x}]", True),
        ("!at_least [{namespace: !capture x, name: !regex '[ac]'}, {namespace: !capture x, name: b}]", True),
    ],
)
def test_literal_names_leave_no_choice(tmp_path, inputs, chosen):
    """The message speaks of a choice only where the names of a list let an element be another one."""
    start = event("START", "r")
    start["inputs"] = [
        {"namespace": "one", "name": "a", "v": "one"},
        {"namespace": "two", "name": "b", "v": "two"},
    ]
    if "at_least" in inputs:
        start["inputs"].append({"namespace": "three", "name": "c"})
    report = check(tmp_path, f"dag.task.event.start: {{inputs: {inputs}}}", start)
    reasons = [one.reason for one in report.differences if "captured as" in one.reason]
    assert reasons
    assert all(reason.endswith("no other one was tried") == chosen for reason in reasons)


def test_the_order_of_a_list_leaves_no_choice(tmp_path):
    """An element stands where it stands."""
    start = event("START", "r")
    start["run"]["facets"] = {"v": ["one", "two"]}
    report = check(tmp_path, "dag.task.event.start: {run: {facets: {v: [!capture x, !capture x]}}}", start)
    assert [one.reason for one in report.differences] == [
        'is not what `x` was captured as, "one" at run.facets.v[0] of dag.task.event.start (event 1)'
    ]


def test_a_capture_in_itself():
    """It would be compared with itself."""
    with pytest.raises(ValueError, match="has itself in `of`"):
        make("capture", {"name": "run", "of": make("one_of", [make("capture", "run"), 1])})


def test_a_wrong_end_among_many(tmp_path):
    """With many alike, exactly the event whose id is in no other event differs."""
    count = 40
    names = range(count)
    starts = "".join(f"- {{run: {{runId: !capture run{n}}}}}\n" for n in names)
    ends = "".join(f"- {{run: {{runId: !capture run{n}}}, inputs: [{{name: 'in{n}'}}]}}\n" for n in names)
    text = f"dag.task.event.start:\n{starts}dag.task.event.complete:\n{ends}"
    events = [event("START", f"id{n}") for n in reversed(names)]
    events += [event("COMPLETE", f"id{n}", inputs=[{"name": f"in{(n * 7) % count}"}]) for n in names]
    assert check(tmp_path, text, *events).summary == "80 events match, 0 differ"
    events[-1]["run"]["runId"] = "stray"
    report = check(tmp_path, text, *events)
    assert report.summary == "79 events match, 1 differ"
    assert "stray" in report.text()


def test_a_capture_in_a_list(tmp_path):
    """Trying which elements belong together binds nothing; the pairs that are chosen do."""
    text = """
dag.task.event.start:
  run: {facets: {v: !unordered [{id: !capture a, n: 1}, {id: !capture b, n: 2}]}}
dag.task.event.complete:
  run: {facets: {v: [!capture a, !one_of [{n: !capture a}, !capture b]]}}
"""
    start = event("START", "r")
    start["run"]["facets"] = {"v": [{"id": "two", "n": 2}, {"id": "one", "n": 1}]}
    end = event("COMPLETE", "r")
    end["run"]["facets"] = {"v": ["one", "two"]}
    assert check(tmp_path, text, start, end).ok
    end["run"]["facets"] = {"v": ["two", "one"]}
    assert check(tmp_path, text, start, end).summary == "1 events match, 1 differ"


def test_the_expectation_can_be_used_again(tmp_path):
    """A comparison leaves nothing behind in what was read."""
    (tmp_path / "dag.yaml").write_text(START_AND_END)
    expected = read_expected(tmp_path / "dag.yaml")
    for run_id in ("a", "b"):
        assert compare(
            expected, Events.of([event("START", run_id), event("COMPLETE", run_id)]), without=RELATIONS
        ).ok


def test_captures_are_for_python_too():
    """In code, the matcher stands in the mapping as it does in a file."""
    run = {"run": {"runId": make("capture", "run")}}
    expected = Expected.of({"dag.task.event.start": run, "dag.task.event.complete": run})
    assert compare(expected, Events.of([event("START", "a"), event("COMPLETE", "a")]), without=RELATIONS).ok
    assert not compare(
        expected, Events.of([event("START", "a"), event("COMPLETE", "b")]), without=RELATIONS
    ).ok
