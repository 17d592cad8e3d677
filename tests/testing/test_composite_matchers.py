"""Matchers that hold values: what each accepts, what it refuses, and where it says a difference is."""

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
    update_expected,
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
    return [(one.path.removeprefix("run.facets"), one.reason) for one in report.differences]


URL = "s3://user@My-Bucket:9000/a/b%20c?x=1&y=2&y=3&z=#end"

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
    ("!unordered [1, 2, 2]", [[2, 1, 2], [1, 2, 2]]),
    ("!unordered [!integer , 1]", [[1, 7], [7, 1], [1, 1]]),
    ("!unordered [{v: 1}, {v: 2}]", [[{"v": 2}, {"v": 1, "w": 3}]]),
    ("!at_least [1, 2]", [[2, 1], [3, 1, 2, 2]]),
    ("!at_least [{name: a, v: 1}]", [[{"name": "b", "v": 2}, {"name": "a", "v": 1}]]),
    ("!at_least {min: 2}", [[1, None], [1, 2, 3]]),
    ("!at_least {min: 2, of: !integer }", [[1, "x", 2], [1, 2, 3]]),
    ("!url {scheme: s3}", [URL, "S3://b"]),
    ("!url {host: my-bucket, user: user, port: 9000, path: /a/b%20c, fragment: end}", [URL]),
    ("!url {scheme: S3, host: My-Bucket}", ["s3://my-bucket/x", "S3://MY-BUCKET"]),
    ("!url {query: {x: '1', y: ['2', '3'], z: ''}}", [URL]),
    ("!url {query: x=1&y=2&y=3&z=}", [URL]),
    ("!url {query: !exact {x: '1'}}", ["http://h/?x=1"]),
    ("!url {port: !absent , query: !absent }", ["http://h/p", "file:/tmp/x"]),
    ("!url {port: !optional 80}", ["http://h", "http://h:80"]),
    ("!url {scheme: 'jdbc:postgresql', host: db, port: 5432, path: /x}", ["jdbc:postgresql://db:5432/x"]),
    ("!url {user: container, host: a.dfs.core.windows.net}", ["abfss://container@a.dfs.core.windows.net/p"]),
    ("!exact {u: !url {host: h}}", [{"u": "http://h/p"}]),
]


@pytest.mark.parametrize(("written", "good"), GOOD, ids=[case[0] for case in GOOD])
def test_accepts(tmp_path, written, good):
    """A matcher accepts what it says."""
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
    ("!exact {a: !url {host: h}}", {"a": "http://i"}, [(".a.host", "has another value")]),
    ("!unordered [1, 2]", [1], [("[1]", "is not in the list")]),
    ("!unordered [1, 2]", [1, 2, 2], [("[2]", "is not expected in the list")]),
    ("!unordered [1]", [True], [("[0]", "is not an integer but a boolean")]),
    ("!unordered [1, 2]", [2, 3], [("[1]", "has another value")]),
    (
        "!unordered [{v: 1, w: 1}, {v: 2, w: 2}]",
        [{"v": 2, "w": 2}, {"v": 1, "w": 3}],
        [("[1].w", "has another value")],
    ),
    ("!unordered [1]", {"0": 1}, [("", "is not a list but an object")]),
    ("!unordered [1]", "1", [("", "is not a list but a string")]),
    ("!at_least [1, 1]", [1], [("[1]", "is not in the list")]),
    ("!at_least [1]", [], [("[0]", "is not in the list")]),
    ("!at_least [1]", [True, 2], [("[0]", "is not an integer but a boolean")]),
    ("!at_least [{name: a, v: 1}]", [{"name": "a", "v": 2}, {"name": "b"}], [("[a].v", "has another value")]),
    ("!at_least [{name: a}]", [{"name": "b"}], [("[a]", "is not in the list")]),
    ("!at_least [1]", {"a": 1}, [("", "is not a list but an object")]),
    ("!at_least {min: 2}", [1], [("", "has 1 elements, not at least 2")]),
    ("!at_least {min: 1}", {"a": 1}, [("", "is not a list but an object")]),
    ("!at_least {min: 1}", "ab", [("", "is not a list but a string")]),
    (
        "!at_least {min: 2, of: !integer }",
        [1, True, "2"],
        [("", "has 1 elements that match, not at least 2")],
    ),
    ("!url {scheme: s3}", "s3a://b", [(".scheme", "has another value")]),
    ("!url {scheme: s3}", "b", [("", "is not a URL")]),
    ("!url {scheme: s3}", "s3:", [("", "is not a URL")]),
    ("!url {scheme: s3}", "", [("", "is not a URL")]),
    ("!url {scheme: s3}", "s3://b\n", [("", "is not a URL")]),
    ("!url {scheme: s3}", "s3://b /c", [("", "is not a URL")]),
    ("!url {scheme: s3}", " s3://b", [("", "is not a URL")]),
    ("!url {scheme: http}", "http://h:99999/", [("", "is not a URL (Port out of range 0-65535)")]),
    ("!url {scheme: s3}", None, [("", "is not a string but null")]),
    ("!url {scheme: s3}", {"scheme": "s3"}, [("", "is not a string but an object")]),
    ("!url {port: '9000'}", URL, [(".port", "is not a string but an integer")]),
    ("!url {port: 80}", "http://h", [(".port", GONE)]),
    ("!url {port: !absent }", URL, [(".port", "must be absent")]),
    ("!url {host: my-bucket}", "s3://my-bucket.evil.org", [(".host", "has another value")]),
    ("!url {path: /a}", "http://h/a/", [(".path", "has another value")]),
    ("!url {query: {x: '1'}}", "http://h/?x=2", [(".query.x", "has another value")]),
    ("!url {query: {x: '1'}}", "http://h/", [(".query", GONE)]),
    ("!url {query: {x: '1'}}", "http://h/?x=1&x=1", [(".query.x", "is not a string but a list")]),
    ("!url {query: !exact {x: '1'}}", "http://h/?x=1&y=2", [(".query.y", "is not expected in the object")]),
    ("!url {query: x=1}", "http://h/?x=1&y=2", [(".query", "has another value")]),
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
    found = refusals(check(tmp_path, written, ABSENT))
    assert found == ([] if written.startswith("!optional") else [("", GONE)])


WRONG: list[tuple[str, str]] = [
    ("!optional", "line 3: matcher `optional` needs a value"),
    ("!optinal 5", r"line 3: unknown matcher `optinal`; did you mean `optional`\?"),
    ("!oneof [1]", r"did you mean `one_of`\?"),
    ("!atleast [1]", r"did you mean `at_least`\?"),
    ("!exakt {}", r"did you mean `exact`\?"),
    ("!one_of []", "`one_of` takes a list with at least one element"),
    ("!one_of 5", "`one_of` takes a list"),
    ("!one_of {a: 1}", "`one_of` takes a list"),
    ("!one_of", "`one_of` takes a list"),
    ("!exact [1]", "`exact` takes an object"),
    ("!exact", "`exact` takes an object"),
    ("!unordered []", "`unordered` takes a list with at least one element"),
    ("!unordered x", "`unordered` takes a list"),
    ("!at_least []", "`at_least` takes a list with at least one element"),
    ("!at_least 2", "`at_least` takes a list"),
    ("!at_least {mni: 2}", r"`at_least` has the key `mni`; did you mean `min`\?"),
    ("!at_least {of: 2}", "takes a list of elements, or"),
    ("!at_least {min: 0}", "takes a list of elements, or"),
    ("!at_least {min: true}", "takes a list of elements, or"),
    ("!at_least {min: '2'}", "takes a list of elements, or"),
    ("!at_least {min: 1, of: !capture x}", "takes no `capture` in `of`"),
    ("!url s3://b", "`url` takes an object of scheme, user, host"),
    ("!url {}", "`url` takes an object"),
    ("!url {hots: h}", r"`url` has the key `hots`; did you mean `host`\?"),
    ("!capture", "`capture` takes a name such as `run`"),
    ("!capture 5", "`capture` takes a name"),
    ("!capture 'two words'", "`capture` takes a name"),
    ("!capture {of: !uuid }", "`capture` takes a name"),
    ("!capture {name: a, off: !uuid }", r"`capture` has the key `off`; did you mean `of`\?"),
    ("[!optional 5]", "has `!optional` as an element of a list or in another matcher"),
    ("!one_of [!absent , 5]", "has `!absent` as an element of a list or in another matcher"),
    ("!one_of [{a: !unordered [!absent ]}]", "has `!absent` as an element"),
    ("!optional {$match: absent}", "has `!absent` as an element of a list or in another matcher"),
    ("!at_least {min: 1, of: !absent }", "has `!absent` as an element of a list or in another matcher"),
    ("{a: !capture {name: x, of: !absent }, b: !capture x}", "has `!absent` as an element"),
    ("!exact {a: !optional [!absent ]}", "has `!absent` as an element"),
    ("!exact {$match: uuid}", "`exact` takes an object"),
    ("{$match: one_of}", "`one_of` takes a list"),
    ("{$match: url, value: x}", "`url` takes an object"),
]


@pytest.mark.parametrize(("written", "message"), WRONG, ids=[case[0] for case in WRONG])
def test_what_a_matcher_may_not_hold(tmp_path, written, message):
    """A matcher that could accept everything, or nothing, is an error that names the file and the cure."""
    with pytest.raises(BadInputError, match=message) as caught:
        check(tmp_path, written, {})
    assert str(caught.value).startswith(str(tmp_path / "dag.yaml"))


@pytest.mark.parametrize("name", ["run", "job", "inputs", "outputs"])
@pytest.mark.parametrize("written", ["!absent", "!optional {a: 1}"])
def test_a_misspelt_key_cannot_be_absent(tmp_path, name, written):
    """Of a key that no event has it would always be true that it is absent."""
    file = tmp_path / "dag.yaml"
    item = (
        f"\n    facetz: {written}\n" if name in ("run", "job") else f"\n  - name: a\n    facetz: {written}\n"
    )
    file.write_text(f"{KEY}:\n  {name}:{item}")
    with pytest.raises(
        BadInputError, match=rf"of `{name}\.facetz` that it may be absent; did you mean `facets`"
    ):
        read_expected(file)


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_json_form(tmp_path, suffix):
    """`value` holds what stands behind the tag, matchers in it included."""
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
    """What a person reads can be written into a file as it is."""
    written = '!one_of ["a", {"b": !uuid , "c": !integer ">= 1"}, !exact {"d": [null, 1.5, true]}]'
    report = check(tmp_path, written, "x")
    assert f"    expected  {written}\n" in report.text()
    assert check(tmp_path, str(report.differences[0].expected), "x").text() == report.text()


def test_variables_inside_matchers(tmp_path):
    """A variable is filled in at any depth, and what it makes of a matcher is checked again."""
    written = "!one_of [!url {host: '${HOST}'}, !regex '${HOST}/[0-9]', !datetime '${NOW} ± 5s']"
    values = {"HOST": "a+b", "NOW": "2024-05-01T10:00:00Z"}
    for good in ("http://a+b/x", "a+b/7", "2024-05-01T10:00:03Z"):
        assert check(tmp_path, written, good, **values).ok
    for bad in ("http://aab/x", "aab/7", "2024-05-01T10:00:06Z"):
        assert not check(tmp_path, written, bad, **values).ok
    with pytest.raises(BadInputError, match=r"\$\{NOW\} has no value"):
        check(tmp_path, written, "x", HOST="a")
    with pytest.raises(BadInputError, match=r"`soon` is not an RFC 3339 date-time"):
        check(tmp_path, written, "x", HOST="a", NOW="soon")


def test_two_matchers_on_one_value_are_no_yaml(tmp_path):
    """A tag takes no other tag; the JSON form inside of it does the same."""
    with pytest.raises(BadInputError, match="line 3: not YAML"):
        check(tmp_path, "!optional !uuid", UUID)


@pytest.mark.parametrize("part", ["inputs", "outputs"])
@pytest.mark.parametrize("one", ["any", "one_of"])
def test_datasets_are_a_set_whatever_stands_among_them(part, one):
    """One matcher without a name does not make an order out of what is a set by the spec."""
    names = [{"namespace": "a", "name": name} for name in "xyz"]
    held = {"$match": "any"} if one == "any" else {"$match": "one_of", "value": [names[1], names[0]]}
    expected = Expected.of({"dag.task.event.start": {part: [held, names[0], names[2]]}})

    def ok(*found: dict[str, Any]) -> bool:
        event = {"eventType": "START", "run": {}, "job": {"name": "dag.task"}, part: list(found)}
        return compare(expected, Events.of([event]), without=RELATIONS).ok

    assert all(ok(*found) for found in itertools.permutations(names))
    assert not ok(*names, names[1])
    assert not ok(names[0], names[1])
    assert not ok(names[0], names[1], {"namespace": "a", "name": "other"})


def test_an_update_keeps_datasets_in_any_order(tmp_path):
    """What the comparison takes for the same set, an update does not turn around."""
    file = tmp_path / "dag.yaml"
    text = f"{KEY}:\n  inputs:\n  - !any\n  - {{name: a}}  # a\n  outputs:\n  - {{name: old}}\n"
    file.write_text(text)
    event = {"eventType": "START", "run": {}, "job": {"name": "dag.task"}}
    inputs, outputs = [{"name": "a"}, {"name": "b"}], [{"name": "new"}]
    update_expected(file, Events.of([{**event, "inputs": inputs, "outputs": outputs}]))
    assert file.read_text() == text.replace("old", "new")
