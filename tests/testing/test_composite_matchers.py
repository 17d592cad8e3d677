"""Matchers that hold values: the values they accept, those they refuse, and the place of a difference."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import (
    ABSENT,
    RELATIONS,
    Events,
    Expected,
    Report,
    compare,
    read_expected,
)

KEY = "dag.task.event.start"
UUID = "018f3a5e-7d2b-7c43-8f6a-2b1d0c9e8f7a"


def check(tmp_path: Path, written: str, actual: Any, **variables: str) -> Report:
    file = tmp_path / "dag.yaml"
    file.write_text(f"{KEY}:\n  run:\n    facets: {written}\n")
    run = {} if actual is ABSENT else {"facets": actual}
    event = {"eventType": "START", "run": run, "job": {"name": "dag.task"}}
    return compare(read_expected(file), Events.of([event]), variables=variables, without=RELATIONS)


def refusals(report: Report) -> list[tuple[str, str]]:
    return [(entry.path.removeprefix("run.facets"), entry.reason) for entry in report.differences]


GOOD: list[tuple[str, list[Any]]] = [
    ("!optional 5", [ABSENT, 5, 5.0]),
    ("!optional '5'", [ABSENT, "5"]),
    ("!optional {a: 1}", [ABSENT, {"a": 1}, {"a": 1, "b": 2}]),
    ("!optional {$match: uuid}", [ABSENT, UUID]),
    ("!one_of [1, '1', null, !uuid , {a: 1}]", [1, "1", None, UUID, {"a": 1, "b": 2}]),
    ("!one_of [true]", [True]),
    ("!exact {}", [{}]),
    ("!exact {a: 1, b: !optional 2}", [{"a": 1}, {"b": 2, "a": 1}]),
    ("!exact {a: {b: {}}, c: !any , d: !absent }", [{"a": {"b": {}}, "c": {"x": 1}}]),
    ("!at_least [1, 2]", [[2, 1], [3, 1, 2, 2]]),
    ("!at_least [{name: a, v: 1}]", [[{"name": "b", "v": 2}, {"name": "a", "v": 1}]]),
]


@pytest.mark.parametrize(("written", "good"), GOOD, ids=[case[0] for case in GOOD])
def test_accepts(tmp_path, written, good):
    """A matcher accepts the values of its description."""
    for value in good:
        assert check(tmp_path, written, value).ok, (value, check(tmp_path, written, value).text())


GONE = "is absent"
BAD: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("!optional 5", None, [("", "is not an integer but null")]),
    ("!optional 5", "5", [("", "is not an integer but a string")]),
    ("!optional 1", True, [("", "is not an integer but a boolean")]),
    ("!optional {a: 1}", {}, [(".a", GONE)]),
    ("!optional {a: 1}", [], [("", "is not an object but a list")]),
    ("!optional {$match: uuid}", "x", [("", "is not a UUID")]),
    ("!one_of [1, 2]", 3, [("", "is none of the 2 values that it may be")]),
    ("!one_of [1, 2]", True, [("", "is none of the 2 values that it may be")]),
    ("!one_of [1, 2]", [1], [("", "is none of the 2 values that it may be")]),
    ("!one_of [1, 2]", [1, 2], [("", "is none of the 2 values that it may be")]),
    ("!one_of [1, 2]", "1", [("", "is none of the 2 values that it may be")]),
    ("!one_of [a]", None, [("", "is none of the 1 values that it may be")]),
    ("!one_of [{a: 1}]", {"a": 2}, [("", "is none of the 1 values that it may be")]),
    ("!one_of [null]", ABSENT, [("", GONE)]),
    ("!exact {}", {"a": 1}, [(".a", "is not expected in the object")]),
    ("!exact {a: 1}", {"a": 1, "b": None}, [(".b", "is not expected in the object")]),
    ("!exact {a: 1}", {}, [(".a", GONE)]),
    ("!exact {a: 1}", [], [("", "is not an object but a list")]),
    ("!exact {a: {}}", {"a": {"b": 1}}, [(".a.b", "is not expected in the object")]),
    ("!exact {a: [{n: 1}]}", {"a": [{"n": 1, "m": 2}]}, [(".a[0].m", "is not expected in the object")]),
    (
        "!exact {a: [{name: x}, {name: y}]}",
        {"a": [{"name": "y", "m": 2}, {"name": "x"}]},
        [(".a[y].m", "is not expected in the object")],
    ),
    ("!exact {a: !one_of [{}]}", {"a": {"b": 1}}, [(".a", "is none of the 1 values that it may be")]),
    (
        "[!exact {name: a}, {name: b}]",
        [{"name": "b"}, {"name": "a", "c": 1}],
        [("[a].c", "is not expected in the object")],
    ),
    ("!exact {a: !absent }", {"a": None}, [(".a", "must be absent")]),
    ("!at_least [1, 1]", [1], [("[1]", "is not in the list")]),
    ("!at_least [1]", [], [("[0]", "is not in the list")]),
    ("!at_least [1]", [True, 2], [("[0]", "is not an integer but a boolean")]),
    ("!at_least [{name: a, v: 1}]", [{"name": "a", "v": 2}, {"name": "b"}], [("[a].v", "has another value")]),
    ("!at_least [{name: a}]", [{"name": "b"}], [("[a]", "is not in the list")]),
    ("!at_least [1]", {"a": 1}, [("", "is not a list but an object")]),
]


@pytest.mark.parametrize(
    ("written", "actual", "refused"), BAD, ids=[f"{case[0]} {case[1]!r}" for case in BAD]
)
def test_refuses(tmp_path, written, actual, refused):
    """A matcher refuses everything else, and names the place inside of it that differs."""
    assert refusals(check(tmp_path, written, actual)) == refused


@pytest.mark.parametrize("written", sorted({case[0] for case in GOOD if "optional 5" not in case[0]}))
def test_only_optional_accepts_a_key_that_is_not_there(tmp_path, written):
    """Every other matcher that holds values wants the key to be there."""
    problems = refusals(check(tmp_path, written, ABSENT))
    assert problems == ([] if written.startswith("!optional") else [("", GONE)])


WRONG: list[tuple[str, str]] = [
    ("!optional", "matcher `optional` takes the value"),
    ("!optinal 5", r"unknown matcher `optinal`; did you mean `optional`\?"),
    ("!oneof [1]", r"did you mean `one_of`\?"),
    ("!atleast [1]", r"did you mean `at_least`\?"),
    ("!exakt {}", r"did you mean `exact`\?"),
    ("!one_of []", "takes a list with at least one value"),
    ("!one_of 5", "takes a list"),
    ("!one_of {a: 1}", "takes a list"),
    ("!one_of", "takes a list"),
    ("!exact [1]", "`exact` takes an object"),
    ("!exact", "`exact` takes an object"),
    ("!at_least []", "takes a list with at least one value"),
    ("!at_least 2", "takes a list"),
    ("!exact {$match: uuid}", "`exact` takes an object"),
    ("{$match: one_of}", "takes a list"),
]


@pytest.mark.parametrize(("written", "message"), WRONG, ids=[case[0] for case in WRONG])
def test_wrong_contents_of_a_matcher_are_refused(tmp_path, written, message):
    """A matcher that could accept everything, or nothing, is an error that names the file and the cure."""
    with pytest.raises(BadInputError, match=message) as caught:
        check(tmp_path, written, {})
    assert str(caught.value).startswith(str(tmp_path / "dag.yaml"))


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_json_form(tmp_path, suffix):
    """`value` holds the content behind the tag, matchers in it included."""
    matcher = {"$match": "one_of", "value": [{"$match": "exact", "value": {"a": {"$match": "uuid"}}}, None]}
    file = tmp_path / f"dag.{suffix}"
    file.write_text(json.dumps({KEY: {"run": {"facets": matcher}}}))
    for value, matched in (({"a": UUID}, 1), (None, 1), ({"a": UUID, "b": 1}, 0), ({"a": "x"}, 0)):
        event = {"eventType": "START", "run": {"facets": value}, "job": {"name": "dag.task"}}
        report = compare(read_expected(file), Events.of([event]), without=RELATIONS)
        assert report.matched == matched
        if not matched:
            assert report.as_dict()["differences"][0]["expected"] == matcher


def test_the_report_writes_matchers_as_yaml_does(tmp_path):
    """The report can be written into a file as it is."""
    written = "!one_of [a, {b: !uuid , c: !string }, [null, true]]"
    report = check(tmp_path, written, "x")
    assert f"    expected  {written}\n" in report.text()
    assert check(tmp_path, str(report.differences[0].expected), "x").text() == report.text()


def test_variables_inside_matchers(tmp_path):
    """A variable is filled in at any depth, and the resulting matcher is checked again."""
    written = "!one_of [!exact {a: '${HOST}'}, !regex '${HOST}/[0-9]', !integer '>= ${LEAST}']"
    values = {"HOST": "a+b", "LEAST": "3"}
    for good in ({"a": "a+b"}, "a+b/7", 3):
        assert check(tmp_path, written, good, **values).ok
    for bad in ({"a": "aab"}, "aab/7", 2):
        assert not check(tmp_path, written, bad, **values).ok
    with pytest.raises(BadInputError, match=r"\$\{LEAST\} has no value"):
        check(tmp_path, written, "x", HOST="a")
    with pytest.raises(BadInputError, match=r"`>= few` is not a comparison"):
        check(tmp_path, written, "x", HOST="a", LEAST="few")


def test_two_matchers_on_one_value_are_not_yaml(tmp_path):
    """A tag takes no other tag; the JSON form inside of it does the same."""
    with pytest.raises(BadInputError, match="line 3: not YAML"):
        check(tmp_path, "!optional !uuid", UUID)


@pytest.mark.parametrize("part", ["inputs", "outputs"])
@pytest.mark.parametrize("one", ["any", "one_of"])
def test_datasets_are_a_set_also_with_matchers_among_them(part, one):
    """One matcher without a name does not put an order on a list that is a set by the spec."""
    names = [{"namespace": "a", "name": name} for name in "xyz"]
    held = {"$match": "any"} if one == "any" else {"$match": "one_of", "value": [names[1], names[0]]}
    expected = Expected.of({"dag.task.event.start": {part: [held, names[0], names[2]]}})

    def ok(*datasets: dict[str, Any]) -> bool:
        event = {"eventType": "START", "run": {}, "job": {"name": "dag.task"}, part: list(datasets)}
        return compare(expected, Events.of([event]), without=RELATIONS).ok

    assert all(ok(*order) for order in itertools.permutations(names))
    assert not ok(*names, names[1])
    assert not ok(names[0], names[1])
    assert not ok(names[0], names[1], {"namespace": "a", "name": "other"})
