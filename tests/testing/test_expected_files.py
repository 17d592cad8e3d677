"""The form of an expected file, and the refusal of a wrong one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import RELATIONS, Events, Expected, compare, read_expected

KEY = "dag.task.event.start"


def write(tmp_path: Path, text: str, name: str = "dag.yaml") -> Path:
    file = tmp_path / name
    file.write_text(text)
    return file


def value_of(tmp_path: Path, text: str) -> Any:
    file = write(tmp_path, f"{KEY}:\n  run:\n    value: {text}\n")
    return read_expected(file).events[0].document["run"]["value"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("2024-05-01", "2024-05-01"),
        ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"),
        ("1:30", "1:30"),
        ("010", "010"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        (".nan", ".nan"),
        ("True", "True"),
        ("true", True),
        ("null", None),
        ("", None),
        ("~", None),
        ("-12", -12),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("'12'", "12"),
        ('"true"', "true"),
        ("|-\n      5", "5"),
        ("{$$schema: x}", {"$schema": "x"}),
    ],
)
def test_yaml_has_the_values_of_json(tmp_path, text, value):
    """YAML's own types never turn a string of an event into a date, a boolean or a number in base 60."""
    actual = value_of(tmp_path, text)
    assert (actual, type(actual)) == (value, type(value))


def test_json_and_yaml_are_the_same(tmp_path):
    """A JSON file is an expected file like any other, also with text that is special in YAML."""
    tree = {KEY: [{"run": [1, 1.5, None, True, "\U0001f600/\t"]}, {"job": {}}]}
    text = json.dumps(tree, indent="\t")
    assert read_expected(write(tmp_path, text, "dag.json")) == read_expected(tmp_path / "dag.json")
    assert [event.document for event in read_expected(tmp_path / "dag.json").events] == tree[KEY]


def test_anchors_and_merges(tmp_path):
    """Aliases and `<<` save repetition; written keys win over merged ones."""
    text = f"""
{KEY}: &start
  eventType: START
  run: {{runId: !uuid }}
dag.task.event.complete:
  <<: *start
  eventType: COMPLETE
"""
    first, second = read_expected(write(tmp_path, text)).events
    assert second.document["eventType"] == "COMPLETE"
    assert second.document["run"] == first.document["run"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1,\nb: 2\n", r"dag.yaml, line \d: not YAML"),
        ("a: 1\n\tb: 2\n", r"line 2: not YAML"),
        ("a: *nothing", "line 1: not YAML"),
        ("a: 1\n---\nb: 2\n", "not YAML"),
        ("a: \x01", "not YAML"),
        (f"{KEY}: {{}}\n{KEY}: {{}}\n", f"line 2: the key `{KEY}` is written twice"),
        (f"{KEY}:\n  run: {{a: 1, a: 2}}\n", "the key `a` is written twice"),
        (f"{KEY}:\n  run: {{1: a}}\n", "line 2: a key is not a string"),
        (f"{KEY}:\n  run: {{!uuid x: a}}\n", "line 2: a key is not a string"),
        (f"{KEY}:\n  run: {{<<: 5}}\n", "line 2: expected a mapping or list of mappings for merging"),
        (f"{KEY}: &a\n  run: *a\n", "line 1: found unconstructable recursive node"),
        ("", "is empty, so no event is expected"),
        ("# later\n", "is empty, so no event is expected"),
        ("- a\n", "not a mapping"),
        ("{}", "expects no events"),
        (f"{KEY}:\n", "neither an event"),
        (f"{KEY}: []\n", "empty list"),
        (f"{KEY}: [{{}}, 5]\n", "neither an event"),
        (f"{KEY}: !any\n", "neither an event"),
        (f"{KEY}: {{outptus: !absent }}\n", r"`outptus`, which events do not have; did you mean `outputs`\?"),
        (f"{KEY}: {{}}\nwhn: {{spark: '<4'}}\n", "the key `whn` is not"),
        ("when: {spark: '<4'}\n", "expects no events"),
        ("dag.task: {}", r"the key `dag.task` is not `<dag_id>"),
        ("dag.task.event.COMPLETE: {}", r"does not end in an event type; did you mean `complete`\?"),
        ("dag.task.event.completed: {}", r"does not end in an event type; did you mean `complete`\?"),
        ("dag.task.event.finish: {}", r"does not end in an event type"),
    ],
)
def test_wrong_yaml(tmp_path, text, message):
    """A file without a valid meaning is refused with its name, the line if there is one, the cause."""
    file = write(tmp_path, text)
    with pytest.raises(BadInputError, match=message) as caught:
        read_expected(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def test_matchers_in_python():
    """A mapping in code means the same as in a JSON file; tuples are lists."""
    inputs = ({"name": {"$match": "regex", "value": "in/[0-9]"}}, {"name": "b"})
    expected = Expected.of({KEY: {"run": {"facets": {"$$x": {"$match": "any"}}}, "inputs": inputs}})
    start = {
        "eventType": "START",
        "run": {"facets": {"$x": 1}},
        "job": {"name": KEY.removesuffix(".event.start")},
    }

    def ok(name: str) -> bool:
        event = {**start, "inputs": [{"name": "b"}, {"name": name}]}
        return compare(expected, Events.of([event]), without=RELATIONS).ok

    assert ok("in/1")
    assert not ok("in/x")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"$match": "uudi"}, r"unknown matcher `uudi`; did you mean `uuid`\?$"),
        ({"$mach": "uuid"}, r"unknown key `\$mach`; keys that"),
        ({1: 2}, "a key is not a string"),
        ({1}, r"`\{1\}` is a set, which JSON does not have"),
        (float("nan"), "`nan` is a number, which JSON does not have"),
    ],
)
def test_wrong_values_in_python(value, message):
    """A value that JSON cannot have is refused with its place."""
    with pytest.raises(BadInputError, match=rf"^expected, \"{KEY}\"\.run\.a\[0\]: {message}"):
        Expected.of({KEY: {"run": {"a": [value]}}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"a": 1,\n}', r"dag.json, line \d: not JSON"),
        ('{"a": ', "line 1: not JSON"),
        (f'{{"{KEY}":\n {{"a": 1,\n "a": 2}}}}', "the key `a` is written twice"),
        (f'{{"{KEY}":\n {{"a": NaN}}}}', "`nan` is a number, which JSON does not have"),
        (f'{{"{KEY}": {{\n"a":\n {{"$match": "uudi"}}}}}}', r"unknown .*did you mean `uuid`\?"),
        (f'\n{{"{KEY}": [{{}},\n {{"$mach": "uuid"}}]}}', r"unknown key `\$mach`"),
        ("", r"dag\.json: is empty"),
        (" \n", r"dag\.json: is empty"),
    ],
)
def test_wrong_json(tmp_path, text, message):
    """The same holds for JSON."""
    with pytest.raises(BadInputError, match=message):
        read_expected(write(tmp_path, text, "dag.json"))


def test_unreadable_places(tmp_path):
    """A missing file, a folder without expected files and a file of another encoding are named."""
    with pytest.raises(BadInputError, match=r"nowhere\.yaml: no such file"):
        read_expected(tmp_path / "nowhere.yaml")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(BadInputError, match="has no file of expected events"):
        read_expected(tmp_path)
    (tmp_path / "dag.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInputError, match="not UTF-8"):
        read_expected(tmp_path / "dag.yaml")


def test_a_folder_is_the_union_of_its_files(tmp_path):
    """All files of a folder count; a key in two of them is an error that names both."""
    write(tmp_path, f"{KEY}: {{}}\n")
    write(tmp_path, '{"other.event.start": {}}', "other.json")
    assert [event.key for event in read_expected(tmp_path).events] == [KEY, "other.event.start"]
    write(tmp_path, f"{KEY}: {{}}\n", "again.yml")
    with pytest.raises(BadInputError, match=rf"dag\.yaml: `{KEY}` is also expected in .*again\.yml"):
        compare(read_expected(tmp_path), Events.of([]))


def run_with(value: str, expected: Any, **variables: str) -> bool:
    event = {"eventType": "START", "run": {"value": value}, "job": {"name": "dag.task"}}
    expected_events = Expected.of({KEY: {"run": {"value": expected}}})
    return compare(expected_events, Events.of([event]), variables=variables, without=RELATIONS).ok


def test_variables_are_filled_in():
    """`${NAME}` becomes the given text, as often as it is written; `$${` is a plain `${`."""
    assert run_with("/abs/in and /abs", "${DATA}/in and ${DATA}", DATA="/abs")
    assert run_with("${DATA} $5 ${", "$${DATA} $5 ${", DATA="/abs")
    assert not run_with("${DATA}", "${DATA}", DATA="/abs")


def test_a_variable_is_not_filled_twice():
    """The value of a variable is text, not another template."""
    assert run_with("${B}", "${A}", A="${B}", B="x")


def test_a_variable_in_a_regex_is_literal(tmp_path):
    """A path put into a regular expression is literal, whatever signs it has."""
    file = write(tmp_path, f'{KEY}:\n  run:\n    value: !regex "${{DATA}}/part-[0-9]+"\n')
    for value, matched in (("/a+b/part-01", 1), ("/aab/part-01", 0)):
        event = {"eventType": "START", "run": {"value": value}, "job": {"name": "dag.task"}}
        assert (
            compare(
                read_expected(file), Events.of([event]), without=RELATIONS, variables={"DATA": "/a+b"}
            ).matched
            == matched
        )


def test_an_unknown_variable_is_an_error(tmp_path):
    """A variable without a value is named, with file, key and the given variables."""
    file = write(tmp_path, f"{KEY}:\n  run:\n    value: ${{DAAT}}/x\n")
    with pytest.raises(
        BadInputError, match=rf"dag\.yaml: `{KEY}`: .*\$\{{DAAT\}} has no value; given are: DATA"
    ):
        compare(read_expected(file), Events.of([]), variables={"DATA": "/abs"})


def test_a_matcher_that_a_variable_breaks(tmp_path):
    """An argument that makes no sense after filling in is an error too."""
    file = write(tmp_path, f'{KEY}:\n  run:\n    value: !number ">= ${{N}}"\n')
    with pytest.raises(BadInputError, match=r"dag\.yaml.*not a comparison"):
        compare(read_expected(file), Events.of([]), variables={"N": "many"})
    event = {"eventType": "START", "run": {"value": 7}, "job": {"name": "dag.task"}}
    assert compare(read_expected(file), Events.of([event]), without=RELATIONS, variables={"N": "7"}).ok
