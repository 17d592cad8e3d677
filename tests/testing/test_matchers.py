"""Each matcher accepts the values of its description, and nothing else: none passes by accident."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import RELATIONS, Events, Report, compare, read_expected

UUID = "018f3a5e-7d2b-7c43-8f6a-2b1d0c9e8f7a"
TIME = "2024-05-01T10:00:00Z"
NAN, INFINITY = float("nan"), float("inf")
NOT_TEXT: list[Any] = [None, True, 0, 1.5, [], ["x"], {}, {"x": "y"}]
NOT_NUMBER: list[Any] = [None, True, False, "5", "", [], [5], {}, NAN, INFINITY, -INFINITY]

CASES: list[tuple[str, list[Any], list[Any]]] = [
    ("!any", [None, False, 0, "", [], {}, "x"], []),
    ("!string", ["x", " ", "5"], ["", *NOT_TEXT]),
    (
        "!uuid",
        [UUID, UUID.upper()],
        [
            *NOT_TEXT,
            "",
            UUID[:-1],
            f"{UUID}0",
            f" {UUID}",
            f"{UUID}\n",
            f"{{{UUID}}}",
            f"urn:uuid:{UUID}",
            UUID.replace("-", ""),
            UUID.replace("0", "g"),
            UUID.replace("0", "\u0660"),
        ],
    ),
    (
        "!datetime",
        [TIME, "2024-02-29T23:59:59.123456+05:30", "2024-05-01T10:00:00.123456789Z"],
        [
            *NOT_TEXT,
            "",
            "2024-05-01",
            "2024-05-01T10:00:00",
            "2024-05-01 10:00:00Z",
            "2023-02-29T10:00:00Z",
            "2024-13-01T10:00:00Z",
            "2024-05-01T25:00:00Z",
            f"{TIME}\n",
            f"{TIME} or so",
            "1714557600",
            "\u0662024-05-01T10:00:00Z",
        ],
    ),
    ('!regex "a+"', ["a", "aaa"], ["", "ab", "ba", "a\n", "A", *NOT_TEXT]),
    ('!regex "a|ab"', ["a", "ab"], ["abb"]),
    ("!number", [0, -1, 1.5, 10**30], NOT_NUMBER),
    ('!number ">= 1"', [1, 1.0, 2.5], [0, 0.999, -1, *NOT_NUMBER]),
    ('!number "> 0, < 1"', [0.5], [0, 1, *NOT_NUMBER]),
    ('!number "== -1.5"', [-1.5], [1.5, -1, *NOT_NUMBER]),
    ('!number "!= 3"', [2, 3.1], [3, 3.0, *NOT_NUMBER]),
    ("!integer", [0, -7, 10**30], [5.0, 1.5, *NOT_NUMBER]),
    ('!integer "<= 5"', [5, -1], [6, 5.0, *NOT_NUMBER]),
    ('!integer "> 9007199254740992"', [9007199254740993], [9007199254740992]),
]


def check(tmp_path: Path, matcher: str, run: dict[str, Any]) -> Report:
    file = tmp_path / "dag.yaml"
    file.write_text(f"dag.task.event.start:\n  run:\n    facets: {matcher}\n")
    event = {"eventType": "START", "run": run, "job": {"name": "dag.task"}}
    return compare(read_expected(file), Events.of([event]), without=RELATIONS)


@pytest.mark.parametrize(("matcher", "good", "bad"), CASES, ids=[case[0] for case in CASES])
def test_accepts_and_refuses(tmp_path, matcher, good, bad):
    """A matcher accepts its values and refuses all others, naming the path and a reason."""
    for value in good:
        assert check(tmp_path, matcher, {"facets": value}).ok, value
    for value in bad:
        report = check(tmp_path, matcher, {"facets": value})
        assert [entry.path for entry in report.differences] == ["run.facets"], value
        assert report.differences[0].reason


@pytest.mark.parametrize("matcher", [case[0] for case in CASES])
def test_refuses_a_key_that_is_not_there(tmp_path, matcher):
    """Every matcher but `absent` wants the key to be there."""
    assert [entry.reason for entry in check(tmp_path, matcher, {}).differences] == ["is absent"]


@pytest.mark.parametrize("value", [*NOT_TEXT, ""])
def test_absent_refuses_every_value(tmp_path, value):
    """`absent` is content with a missing key alone: null, empty and false are values."""
    assert check(tmp_path, "!absent", {}).ok
    assert [entry.reason for entry in check(tmp_path, "!absent", {"facets": value}).differences] == [
        "must be absent"
    ]


@pytest.mark.parametrize(
    ("json_form", "good", "bad"),
    [
        ('{"$match": "uuid"}', UUID, "x"),
        ('{"$match": "regex", "value": "a.c"}', "abc", "abcd"),
        ('{"$match": "integer", "value": ">= 3"}', 3, 2),
    ],
)
@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_json_form(tmp_path, json_form, good, bad, suffix):
    """`{"$match": name, "value": argument}` is the same matcher, in JSON and in YAML."""
    file = tmp_path / f"dag.{suffix}"
    file.write_text(f'{{"dag.task.event.start": {{"run": {{"facets": {json_form}}}}}}}')
    expected = read_expected(file)
    for value, matched in ((good, 1), (bad, 0)):
        event = {"eventType": "START", "run": {"facets": value}, "job": {"name": "dag.task"}}
        assert compare(expected, Events.of([event]), without=RELATIONS).matched == matched


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("!uudi", r"unknown matcher `uudi`; did you mean `uuid`\?"),
        ("!UUID", r"unknown matcher `UUID`; did you mean `uuid`\?"),
        ("!dateime", r"did you mean `datetime`\?"),
        ("!strng", r"did you mean `string`\?"),
        ("!qqqqq", "known are any, string, uuid"),
        ("!intger [1]", r"did you mean `integer`\?"),
        ("!number {a: 1}", "matcher `number` takes a string"),
        ("!regex", "matcher `regex` needs an argument"),
        ('!regex "("', "is not a regular expression"),
        ('!uuid "4"', "matcher `uuid` takes no argument, but was given `4`"),
        (f'!datetime "{TIME}"', "matcher `datetime` takes no argument, but was given"),
        ('!number "1"', "`1` is not a comparison"),
        ('!number "=> 1"', "`=> 1` is not a comparison"),
        ('!number ">= 1,"', "`` is not a comparison"),
        ('!integer ">= one"', "is not a comparison"),
        ('!integer ">= 1 2"', "`>= 1 2` is not a comparison"),
        ("{$match: uudi}", r"unknown matcher `uudi`; did you mean `uuid`\?"),
        ("{$mach: uuid}", r"unknown key `\$mach`; keys that start with `\$` are reserved"),
        ("{$match: uuid, valu: x}", "not `valu`"),
        ("{$match: regex, value: 5}", "matcher `regex` takes a string, not an integer"),
        ("{$match: 5}", r"`\$match` is the name of a matcher"),
        ("!!python/object:os.system x", "could not determine a constructor"),
        ("!!timestamp 2024-01-01", "could not determine a constructor"),
    ],
)
def test_a_wrong_matcher_is_an_error(tmp_path, written, message):
    """A matcher that cannot mean anything is an error with file, place and cure, never a literal value."""
    with pytest.raises(BadInputError, match=message) as caught:
        check(tmp_path, written, {})
    assert str(caught.value).startswith(str(tmp_path / "dag.yaml"))
