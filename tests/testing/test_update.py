"""Expected files are written and brought up to date: with the least changes, and never for the worse."""

from __future__ import annotations

import copy
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Events,
    Report,
    Update,
    compare,
    draft_expected,
    read_expected,
    update_expected,
)

VARIABLES = {"DATA": "/in"}
KEY = "shop.totals.event.complete"
ID = "018f3a5e-7d2b-7c43-8f6a-000000000001"

Documents = list[dict[str, Any]]
Path_ = tuple[str | int, ...]


def compared(file: Path, events: Documents, **more: Any) -> Report:
    given = {"variables": VARIABLES, **more}
    return compare(read_expected(file), Events.of(events), without=RELATIONS, **given)


def update(file: Path, events: Documents, **more: Any) -> Update:
    """Update, and check what every update promises: the same events pass, and again nothing changes."""
    given = {"variables": VARIABLES, **more}
    found = update_expected(file, Events.of(events), **given)
    report = compared(file, events, **more)
    assert [one.key for one in report.differences] == list(found.kept), f"{report.text()}\n{file.read_text()}"
    content = file.read_bytes()
    again = update_expected(file, Events.of(events), **given)
    assert not again.changed, again.text()
    assert file.read_bytes() == content
    return found


def run_event(values: dict[str, Any], task: str = "task", kind: str = "START") -> dict[str, Any]:
    return {"eventType": kind, "run": {"facets": {"own": values}}, "job": {"name": f"dag.{task}"}}


def refreshed(tmp_path: Path, text: str, values: dict[str, Any], name: str = "dag.yaml", **more: Any) -> str:
    """What becomes of an expected file whose only task emits these values."""
    file = tmp_path / name
    file.write_text(text)
    update(file, [run_event(values)], **more)
    return file.read_text()


# New files.


def test_a_new_file_expects_what_was_emitted(tmp_path, shop):
    """A draft passes at once, names every event by its key, and lists what it added."""
    file = tmp_path / "new" / "shop.yaml"
    found = update(file, shop)
    assert found.created
    assert found.changed
    assert len(found.added) == len(shop)
    assert found.text().endswith(f"{file}: written, 8 added")
    assert draft_expected(Events.of(shop), variables=VARIABLES) == file.read_text()


def test_a_draft_has_matchers_for_what_varies():
    """Ids, times, applications and measured numbers become matchers, also in the middle of a text."""
    values = {
        "id": "018f3a5e-7d2b-7c43-8f6a-000000000001",
        "at": "2024-05-01T10:00:00.123Z",
        "applicationId": "local-1717171717171",
        "yarn": "application_1717171717171_0042",
        "size": 12,
        "rowCount": 3,
        "staging": "/in/tmp/018f3a5e-7d2b-7c43-8f6a-000000000001.parquet",
        "runId": "manual__2024-05-01T10:00:00+00:00",
        "_producer": "https://example.com/1.2.3",
    }
    text = draft_expected(Events.of([run_event(values)]), variables=VARIABLES)
    assert text.splitlines()[1:] == [
        "  run:",
        "    facets:",
        "      own:",
        "        id: !uuid",
        "        at: !datetime",
        "        applicationId: !regex '(app|local)-[0-9-]{10,}'",
        r"        yarn: !regex 'application_[0-9]+_[0-9]+'",
        "        size: !integer '>= 0'",
        "        rowCount: 3",
        r"        staging: !regex '${DATA}/tmp/([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\.parquet'",
        "        runId: !regex 'manual__([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
        r"(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2}))'",
    ]


def test_variables_are_put_back(tmp_path):
    """Where a variable's value stands alone, its name is written: the longest first, and URIs have theirs."""
    variables = {"DATA": "/data", "DATA_URI": "/data", "IN": "/data/in", "EMPTY": ""}
    values = {"name": "/data/in/x", "other": "/database", "uri": "file:/data/y", "odd": "${DATA} /data"}
    file = tmp_path / "dag.yaml"
    update(file, [run_event(values)], variables=variables)
    assert file.read_text() == (
        "dag.task.event.start: {run: {facets: {own: {name: '${IN}/x', other: /database,"
        " uri: 'file:${DATA_URI}/y', odd: '$${DATA} ${DATA}'}}}}\n"
    )


def test_instances_and_tries_have_keys_of_their_own(tmp_path, shop):
    """Mapped tasks and second tries are told apart by the address of their key, not by what they say."""
    update(tmp_path / "shop.yaml", shop)
    keys = [event.key for event in read_expected(tmp_path / "shop.yaml").events]
    assert keys[:3] == [
        "shop.by.part[0].event.fail",
        "shop.by.part[0].event.start",
        "shop.by.part[1].event.complete",
    ]
    again = copy.deepcopy(shop[0])
    again["run"]["facets"]["airflow"]["taskInstance"]["try_number"] = 2
    update(tmp_path / "tries.yaml", [shop[0], again])
    keys = [event.key for event in read_expected(tmp_path / "tries.yaml").events]
    assert keys == ["shop.totals#1.event.start", "shop.totals#2.event.start"]


def test_an_instance_without_an_index_shares_the_key(tmp_path, shop):
    """Where one event of a mapped task has no index, no key leaves it out: all of them say who they are."""
    unmapped = copy.deepcopy(shop[2])
    unmapped["run"]["facets"]["airflow"]["taskInstance"]["map_index"] = -1
    file = tmp_path / "shop.yaml"
    update(file, [unmapped, *shop[3:5]])
    assert {event.key for event in read_expected(file).events} == {"shop.by.part.event.start"}
    assert "{taskInstance: {map_index: 1}}" in file.read_text()


def test_columns_without_edges_are_said_to_have_none(tmp_path, shop):
    """An expected object accepts whatever it does not mention, so a draft mentions what is not there."""
    facets = shop[1]["outputs"][0]["facets"]
    del facets["columnLineage"]["fields"]["total"], facets["columnLineage"]["dataset"]
    text = draft_expected(Events.of(shop), variables=VARIABLES)
    assert "total: !absent\n" in text
    assert "dataset: !absent\n" in text


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "a ", "-", "- a", "a: b", "a #b", "#a", "'", '"', "\\", "1e3", "12", "true", "null", "~"),
        *(
            "yes",
            "2024-05-01",
            "1:30",
            "0x1f",
            "nan",
            ".inf",
            "*a",
            "&a",
            "!a",
            "%a",
            "@a",
            "`a",
            "{a}",
            "[a]",
        ),
        *(
            "${A}",
            "$${A}",
            "$",
            "a\nb",
            "a\nb\n",
            "a\n\n",
            "\na",
            " a\nb",
            "a \n b",
            "a\r\nb",
            "a\tb",
            "a: b\n# c",
        ),
        *(
            "\x00",
            "\x85",
            "\u2028",
            "\ufeffa",
            "ä",
            "\U0001f600",
            "\ud800",
            "a, b",
            "a]",
            "x" * 2000,
            "<<",
            "=",
            "?",
        ),
        *(0, -1, 1.5, 1e300, 1e-7, 10**30, True, None, [], {}, [[]], [{}], [[1, [2]], None], {"a": {}}),
        *(
            float("nan"),
            float("inf"),
            {"$match": "uuid"},
            {"<<": 1, "1": 2, "a b": 3, "$$": 4, "x" * 1500: 5},
        ),
        {"\ud800": 1},
    ],
    ids=lambda value: ascii(value)[:20],
)
@pytest.mark.parametrize("name", ["dag.yaml", "dag.json"])
def test_every_value_can_be_drafted(tmp_path, value, name):
    """Whatever JSON can say is written so that it is read back as the same, in YAML and in JSON."""
    many = {"one": value, "list": [value, "x" * 200], "description": value, "text": {"a": "y" * 200}}
    update(tmp_path / name, [run_event(many)])
    many["one"], many["text"] = "other", {"a": value, "b": ["y" * 200, {"c": value}]}
    update(tmp_path / name, [run_event(many)])


def test_events_of_any_shape_can_be_drafted(tmp_path):
    """Drafts judge no event: parts that are missing, null or not of the spec's type are expected so."""
    job = {"name": "dag.task"}
    odd: Documents = [
        {"eventType": "START", "run": {}, "job": job},
        {"eventType": "COMPLETE", "run": {"facets": None}, "job": job, "inputs": None, "outputs": [None, 5]},
        {"eventType": "FAIL", "run": {"facets": {"own": None}}, "job": {**job, "facets": []}, "inputs": [{}]},
        {"job": {**job, "facets": {"own": {"a": 1}}}, "outputs": [{"namespace": "n", "name": None}]},
        {"dataset": {"namespace": "file", "name": "/x", "facets": {"schema": {"fields": "none"}}}},
        {"eventType": "OTHER", "run": {"facets": {"parent": {"job": {}}}}, "job": {"name": "plain"}},
    ]
    for name in ("dag.yaml", "dag.json"):
        assert len(update(tmp_path / name, odd).added) == len(odd)


# Files that are there.


EXPECTED = """\
# About this DAG.
dag.task.event.start:   # emitted at once
  run:
    facets:
      # Our own facet.
      own: {kept: !regex 'a.*', changed: 1 , also: "x"}  # on one line
  job:   {name: !any }

dag.other.event.start: {inputs: []}
"""


def test_what_accepts_the_actual_value_is_not_touched(tmp_path):
    """Matchers that hold, comments, order, quotes and blanks stay; a changed value is a changed line."""
    file = tmp_path / "dag.yaml"
    file.write_text(EXPECTED)
    other = {**run_event({}, "other"), "inputs": []}
    found = update(file, [run_event({"kept": "abc", "changed": 2, "also": "x"}), other])
    assert found.refreshed == ("dag.task.event.start",)
    assert file.read_text() == EXPECTED.replace("changed: 1 ,", "changed: 2 ,")


def test_a_matcher_that_no_longer_holds_gives_way(tmp_path):
    """What replaces it is masked as in a draft."""
    text = "dag.task.event.start: {run: {facets: {own: {a: !integer '> 5', b: 1}}}}\n"
    assert refreshed(tmp_path, text, {"a": ID, "b": "/in/x"}) == (
        "dag.task.event.start: {run: {facets: {own: {a: !uuid , b: '${DATA}/x'}}}}\n"
    )


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        ("!exact {a: !any , b: 1}", {"a": 5, "b": 2}, "!exact {a: !any , b: 2}"),
        ("!exact {a: !any , b: 1}", {"a": 5, "b": 1, "c": 3}, "!exact {a: 5, b: 1, c: 3}"),
        ("{x: !optional {a: !any , b: 1}}", {"x": {"a": 5, "b": 2}}, "{x: !optional {a: !any , b: 2}}"),
        ("{x: !optional 1}", {"x": "y"}, "{x: !optional 'y'}"),
        ("{x: !optional 1}", {"x": ID}, "{x: !optional {$match: uuid}}"),
        ("{x: !optional 1}", {"x": None}, "{x: null}"),
        ("{x: !optional [1, 2]}", {"x": [1, 3]}, "{x: !optional [1, 3]}"),
        ("{x: !one_of [1, 2]}", {"x": 3}, "{x: 3}"),
        ("{x: !unordered [2, 1]}", {"x": [1, 3]}, "{x: [1, 3]}"),
    ],
)
def test_matchers_that_hold_a_value_get_another(tmp_path, before, values, after):
    """`!exact` and `!optional` stay, with what in them still holds; what only lists choices gives way."""
    text = "dag.task.event.start: {run: {facets: {own: %s}}}\n"
    assert refreshed(tmp_path, text % before, values) == text % after


def test_matchers_of_json_get_another_value(tmp_path):
    """The same in JSON's form."""
    own = {"x": {"$match": "optional", "value": {"a": 1, "b": {"$match": "any"}}}}
    text = json.dumps({"dag.task.event.start": {"run": {"facets": {"own": own}}}})
    new = refreshed(tmp_path, text, {"x": {"a": 2, "b": 3}}, "dag.json")
    assert new == text.replace('"a": 1', '"a": 2')


def test_a_capture_that_no_longer_holds_is_for_a_person(tmp_path):
    """What somebody wrote about two events at once is not taken back: the file stays, with a message."""
    file = tmp_path / "dag.yaml"
    text = "".join(
        f"dag.task.event.{kind}: {{run: {{runId: !capture run, facets: {{own: {{a: 1}}}}}}}}\n"
        for kind in ("start", "complete")
    )
    file.write_text(text)
    start, complete = run_event({"a": 2}), run_event({"a": 2}, kind="COMPLETE")
    start["run"]["runId"], complete["run"]["runId"] = "one", "two"
    with pytest.raises(BadInputError, match=r"left alone, .*captured"):
        update_expected(file, Events.of([start, complete]))
    assert file.read_text() == text
    complete["run"]["runId"] = "one"
    update(file, [start, complete])
    assert file.read_text() == text.replace("a: 1", "a: 2")


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        ("{a: 1, b: 2, c: 3}", {"b": 2}, "{b: 2}"),
        ("{a: 1, b: 2, c: 3}", {"a": 1}, "{a: 1}"),
        ("{a: [1, 2, 3]}", {"a": [1, 3]}, "{a: [1, 3]}"),
        ("{a: [1, 2]}", {"a": [0, 1, 2, 3]}, "{a: [0, 1, 2, 3]}"),
        ("{a: [!any , 2]}", {"a": [7, 2, "x"]}, "{a: [!any , 2, x]}"),
        (
            "{a: [{name: b, x: 1}]}",
            {"a": [{"name": "c", "x": 2, "y": 3}, {"name": "b", "x": 1}]},
            "{a: [{name: c, x: 2}, {name: b, x: 1}]}",
        ),
        ("{a: [1]}", {"a": []}, "{a: []}"),
        ("{a: []}", {"a": [1]}, "{a: [1]}"),
        ("{a: {b: 1}}", {"a": {"c": 1}}, "{a: {c: 1}}"),
        ("{a: !absent }", {"a": None}, "{a: null }"),
        ("{a: {}, b: 1}", {"a": {"x": 1}, "b": 2}, "{a: {}, b: 2}"),
    ],
)
def test_brackets_are_edited_inside(tmp_path, before, values, after):
    """Inside brackets, entries come and go with their commas."""
    text = "dag.task.event.start: {run: {facets: {own: %s}}}  # end\n"
    assert refreshed(tmp_path, text % before, values) == text % after


BLOCK = """\
dag.task.event.start:
  run:
    facets:
      own:
        # first
        a: 1  # one
        # second
        b:
        - name: x  # the x
          v: 1
        # about y
        - name: y
          v: 2
        c: |
          some
          text
        d: 4
"""


@pytest.mark.parametrize(
    ("values", "old", "new"),
    [
        ({"a": 2}, "a: 1  #", "a: 2  #"),
        ({"a": {"k": "v" * 200}}, "a: 1  # one", f"a:\n          k: {'v' * 200}  # one"),
        ({"a": None}, "        a: 1  # one\n", ""),
        ({"d": None}, "        d: 4\n", ""),
        ({"c": "new\ntext\n"}, "some", "new"),
        ({"c": "short"}, "c: |\n          some\n          text\n", "c: short\n"),
        ({"b": [{"name": "x", "v": 1}]}, "        - name: y\n          v: 2\n", ""),
        ({"b": [{"name": "y", "v": 2}]}, "        - name: x  # the x\n          v: 1\n", ""),
        (
            {"b": [{"name": "x", "v": 1}, {"name": "z", "v": 3}, {"name": "y", "v": 2}]},
            "          v: 1\n",
            "          v: 1\n        - {name: z, v: 3}\n",
        ),
        ({"b": [{"name": "x"}, {"name": "y", "v": 2}]}, "          v: 1\n", ""),
        ({"b": 5}, None, None),
    ],
)
def test_blocks_are_edited_by_lines(tmp_path, values, old, new):
    """Lines come and go as a whole, with their own comments; those above and around them stay."""
    emitted = {
        "a": 1,
        "b": [{"name": "x", "v": 1}, {"name": "y", "v": 2}],
        "c": "some\ntext\n",
        "d": 4,
        **values,
    }
    emitted = {key: value for key, value in emitted.items() if value is not None}
    text = refreshed(tmp_path, BLOCK, emitted)
    if old is not None:
        assert text == BLOCK.replace(old, new, 1)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark_stay(tmp_path, mark):
    """A file from another system is edited as it is."""
    file = tmp_path / "dag.yaml"
    file.write_bytes((mark + BLOCK.replace("\n", "\r\n")).encode())
    values = {"a": 2, "b": [{"name": "z", "v": 3}], "c": "some\ntext\n", "d": 4}
    update(file, [run_event(values), run_event({}, "new")])
    text = file.read_bytes().decode()
    assert text.startswith(mark + "dag.")
    assert text.count("\r\n") == text.count("\n")


def test_events_come_and_go(tmp_path):
    """New keys stand where the alphabet wants them; what was not emitted goes, with its lines only."""
    text = (
        "# top\ndag.a.event.start: {}\n\n# about c\ndag.c.event.start: {}\n\n# end\ndag.e.event.start: {}\n"
    )
    file = tmp_path / "dag.yaml"
    file.write_text(text)
    found = update(file, [run_event({}, task) for task in "abde"])
    assert (found.added, found.removed) == (
        ("dag.b.event.start", "dag.d.event.start"),
        ("dag.c.event.start",),
    )
    assert file.read_text() == (
        "# top\ndag.a.event.start: {}\n\ndag.b.event.start: {run: {facets: {own: {}}}}\n\n"
        "dag.d.event.start: {run: {facets: {own: {}}}}\n\n# about c\n\n# end\ndag.e.event.start: {}\n"
    )


def test_one_event_becomes_two_and_one_again(tmp_path):
    """A key whose event is emitted twice gets a list, in which the first stays as it is written."""
    file = tmp_path / "dag.yaml"
    file.write_text("dag.task.event.start:  # here\n  run:\n    facets: {own: {a: !any }}  # mine\n")
    update(file, [run_event({"a": 1}), run_event({"b": 2})])
    assert file.read_text() == (
        "dag.task.event.start:  # here\n- run:\n    facets: {own: {a: !any }}  # mine\n"
        "- {run: {facets: {own: {b: 2}}}}\n"
    )
    update(file, [run_event({"b": 2})])
    assert file.read_text() == "dag.task.event.start:  # here\n- {run: {facets: {own: {b: 2}}}}\n"


def test_events_of_silent_and_other_dags_stay(tmp_path):
    """What is expected of a DAG that emitted nothing stays, and of a DAG not named nothing is added."""
    file = tmp_path / "dag.yaml"
    file.write_text("dag.task.event.start: {}\nsilent.task.event.start: {}\n")
    stranger = {"eventType": "START", "run": {}, "job": {"name": "stranger.task"}}
    found = update(file, [run_event({}), stranger])
    assert (found.changed, found.kept) == (False, ("silent.task.event.start",))
    assert found.text().endswith("dag.yaml: unchanged")


def test_what_is_for_other_versions_stays(tmp_path):
    """An event that `when:` keeps for another version is neither compared nor removed."""
    text = (
        "dag.task.event.start:\n- when: {spark: '<4'}\n  run: {facets: {own: {a: 1}}}\n"
        "- when: {spark: '>=4'}\n  run: {facets: {own: {a: 2}}}\n"
        "dag.old.event.start: {when: {spark: '<4'}}\n"
    )
    new = refreshed(tmp_path, text, {"a": 3}, versions={"spark": "4.1"})
    assert new == text.replace("a: 2", "a: 3")


BESIDE_OTHERS = [
    ("<4", ">=4", "3.5"),
    ("==3.5.*", "!=3.5.*", "3.5.8"),
    ("<=3.5", ">3.5", "3.5"),
    ("!=4.1", "==4.1", "4.0"),
    # Of two ends, the one that is not met.
    (">=3.5,<4", ">=4", "3.5"),
    (">=4.2,<5", "<4.2", "4.2"),
    ("== 3.5.*, != 3.5.2", "!=3.5.*", "3.5.1"),
    ("~=3.5", "!=3.*", "3.5.1"),
    ("~=4.2", "<4.2", "4.3"),
    # What cannot be turned round.
    ("===3.5.1", "==4.1", "3.5.1"),
]
"""A range that 4.1 is not in, what is true of 4.1 and of nothing in the range, and a version in the range."""


@pytest.mark.parametrize(("old", "new", "inside"), BESIDE_OTHERS)
def test_what_is_new_beside_other_versions_leaves_them_alone(tmp_path, old, new, inside):
    """With the other version, the file expects what it did: what is new is never for it."""
    file = tmp_path / "dag.yaml"
    other = "dag.other.event.start: {}\n"
    file.write_text(f"{other}dag.task.event.start: {{when: {{spark: '{old}'}}, job: {{name: !any }}}}\n")
    always = run_event({}, "other")
    update(file, [always, run_event({"a": 2})], versions={"spark": "4.1"})
    assert file.read_text() == (
        f"{other}dag.task.event.start:\n- {{when: {{spark: '{old}'}}, job: {{name: !any }}}}\n"
        f"- {{when: {{spark: '{new}'}}, run: {{facets: {{own: {{a: 2}}}}}}}}\n"
    )
    assert not update(file, [always, run_event({"a": 1})], versions={"spark": inside}).changed


def test_what_is_new_beside_several_other_versions(tmp_path):
    """Its condition keeps it from all of them, and says no bound that another implies."""
    file = tmp_path / "dag.yaml"
    file.write_text(
        "dag.other.event.start: {}\ndag.task.event.start:\n"
        "- when: {airflow: '<3.1'}\n- when: {airflow: '>=3.1,<3.3'}\n"
        "- when: {airflow: '>=3.3', spark: '<4'}\n- when: {spark: '==3.5.*'}\n"
    )
    events = [run_event({}, "other"), run_event({"a": 2})]
    given = {"airflow": "3.3.0", "spark": "4.1"}
    update(file, events, versions=given)
    last = file.read_text().splitlines()[-1]
    assert last.startswith("- {when: {airflow: '>=3.3', spark: '>=4,!=3.5.*'}, run:")
    for others in ({"airflow": "3.0.6"}, {"airflow": "3.2"}, {"spark": "3.4"}):
        assert not update(file, events, versions={**given, **others}).changed


def test_a_release_candidate_is_new_beside_its_predecessors(tmp_path):
    """It is neither `<3.3` nor `>=3.3`: what is new is expected of this very version."""
    file = tmp_path / "dag.yaml"
    file.write_text("dag.other.event.start: {}\ndag.task.event.start: {when: {airflow: '>=3.1,<3.3'}}\n")
    events = [run_event({}, "other"), run_event({"a": 2})]
    update(file, events, versions={"airflow": "3.3.0rc1"})
    assert "- {when: {airflow: '==3.3.0rc1'}, run:" in file.read_text()
    assert not update(file, events, versions={"airflow": "3.2"}).changed


def test_what_is_new_in_two_versions_at_once(tmp_path):
    """Where no condition tells both from the others, the caller says which is meant; the file stays."""
    file = tmp_path / "dag.yaml"
    text = "dag.other.event.start: {}\ndag.task.event.start: {when: {spark: '>=3.5,<4'}}\n"
    file.write_text(text)
    events = [run_event({}, "other"), run_event({"a": 2})]
    for event, version in zip(events, ("3.4.4", "4.1.4"), strict=True):
        event["run"]["facets"]["processing_engine"] = {"name": "Spark", "version": version}
    with pytest.raises(
        BadInputError, match=r"`dag\.task.*spark 3\.4\.4 and 4\.1\.4,.*`--version spark=\.\.\.`"
    ):
        update_expected(file, Events.of(events))
    assert file.read_text() == text


def test_what_is_for_these_versions_keeps_its_condition(tmp_path):
    """Also where an event is written anew as a whole."""
    text = (
        "when: {airflow: '>=3'}\ndag.task.event.start: {when: {spark: '>=4'}, run: {facets: {own: {a: 1}}}}\n"
    )
    new = refreshed(tmp_path, text, {"b": 3}, versions={"spark": "4.1", "airflow": "3.3"})
    assert new.startswith("when: {airflow: '>=3'}\ndag.task.event.start: {when: {spark: '>=4'}")
    assert "b: 3" in new


def test_a_new_column_gets_its_edges(tmp_path, shop):
    """Where the other columns' edges are expected, so are those of a column that is new in the schema."""
    file = tmp_path / "shop.yaml"
    update(file, shop)
    facets = shop[1]["outputs"][0]["facets"]
    facets["schema"]["fields"].append({"name": "tax", "type": "double"})
    facets["columnLineage"]["fields"]["tax"] = {"inputFields": [{**EDGE, "field": "tax"}]}
    before = file.read_text().splitlines()
    update(file, shop)
    added = [line for line in file.read_text().splitlines() if line not in before]
    assert len(added) == 2
    assert "tax: {inputFields: [{namespace: file, name: '${DATA}/orders'" in added[1]


EDGE = {
    "namespace": "file",
    "name": "/in/orders",
    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}],
}


def test_a_new_dataset_says_as_much_as_its_neighbours(tmp_path, shop):
    """A file that expects names only does not grow facets."""
    file = tmp_path / "shop.yaml"
    file.write_text(f"{KEY}:\n  inputs:\n  - namespace: file\n    name: /in/orders\n")
    shop[1]["inputs"][1]["facets"] = {"schema": {"fields": []}}
    update(file, shop[1:2])
    assert file.read_text().endswith("    name: /in/orders\n  - {namespace: file, name: '${DATA}/rates'}\n")


ANCHORS = """\
dag.task.event.start: &start  # the first
  run: {facets: {own: &own {a: 1, b: 2}}}
dag.other.event.start:
  <<: *start
  job: {name: dag.other}
dag.third.event.start: {run: {facets: {own: *own}}}
dag.last.event.start: {}  # the last
"""


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [(1, 1, 2), (2, 1, 1), (1, 2, 1), (2, 2, 2), (1, 2, 3)],
)
def test_anchors_tie_nobody_else_down(tmp_path, first, second, third):
    """What an alias repeats may change in one place only: then the others say it themselves."""
    file = tmp_path / "dag.yaml"
    file.write_text(ANCHORS)
    values = {"task": first, "other": second, "third": third}
    update(file, [*(run_event({"a": a, "b": 2}, task) for task, a in values.items()), run_event({}, "last")])
    assert "dag.last.event.start: {}  # the last\n" in file.read_text()


# Random changes.


def elements(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The path of everything in a value."""
    if path:
        yield path
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in list(children):
        yield from elements(child, (*path, key))


def changed_at_random(events: Documents, chance: random.Random) -> Documents:
    """Up to three changes of values, keys, elements or whole events."""
    events = copy.deepcopy(events)
    for _ in range(chance.randint(1, 3)):
        *way, last = chance.choice([path for path in elements(events) if path[1:2] not in PINNED])
        place: Any = events
        for part in way:
            place = place[part]
        new = chance.choice([None, "new", 7, 0.5, True, [], {}, ["a"], {"name": "n"}, "/in/x", "a\nb"])
        if len(way) == 0:
            new = copy.deepcopy(chance.choice(events))
        action = chance.choice(["set", "drop", "add"])
        if action == "drop" and (way or len(events) > 1):
            del place[last]
        elif action == "add" and isinstance(place, list):
            place.insert(chance.randint(0, len(place)), copy.deepcopy(place[last]) if way else new)
        else:
            place[last] = new
    return events


PINNED = {("eventType",), ("job",), ("run",)}
"""Without these an event has no key."""


def with_comments(text: str) -> str:
    """A comment above every line and behind it."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        lines += [f"{' ' * (len(line) - len(line.lstrip()))}# above {number}", f"{line}  # at {number}"]
    return "\n".join([*lines, ""])


def indented(text: str) -> str:
    """Lists deeper than their keys, as other tools write them."""
    lines, deeper = [], [0]
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        while len(deeper) > 1 and (indent < deeper[-1] or (indent == deeper[-1] and line[indent] != "-")):
            deeper.pop()
        if line[indent] == "-" and deeper[-1] != indent:
            deeper.append(indent)
        lines.append("  " * (len(deeper) - 1) + line)
    return "\n".join([*lines, ""])


LAYOUTS = {
    "yaml": lambda text: text,
    "comments": with_comments,
    "indented": indented,
    "windows": lambda text: text.replace("\n", "\r\n"),
}
JSON_LAYOUTS: dict[str, Any] = {
    "json": lambda tree: json.dumps(tree, indent=2),
    "tabs": lambda tree: json.dumps(tree, indent="\t"),
    "flat": json.dumps,
}


@pytest.mark.parametrize("layout", [*LAYOUTS, *JSON_LAYOUTS])
def test_whatever_changes_an_update_passes(tmp_path, shop, layout):
    """After any change: the update passes, again it changes nothing, other events are untouched."""
    chance = random.Random(layout)  # noqa: S311 - for examples, not for secrets
    file = tmp_path / ("shop.json" if layout in JSON_LAYOUTS else "shop.yaml")
    update(file, shop)
    if layout in JSON_LAYOUTS:
        start = JSON_LAYOUTS[layout](json.loads(file.read_text()))
    else:
        start = LAYOUTS[layout](file.read_text())
    file.write_bytes(start.encode())
    assert not update(file, shop).changed
    for _ in range(20):
        file.write_bytes(start.encode())
        events = changed_at_random(shop, chance)
        found = update(file, events)
        touched = {*found.added, *found.refreshed, *found.removed}
        if layout in LAYOUTS:
            check_untouched(start, file.read_bytes().decode(), touched)
        else:
            assert list(json.loads(file.read_text())) or touched


def check_untouched(before: str, after: str, touched: set[str]) -> None:
    """The text of every event that is not in the update is the same."""
    for key, text in sections(before).items():
        if key not in touched:
            assert sections(after)[key] == text


def sections(text: str) -> dict[str, str]:
    """The text of every key, without what stands above it."""
    starts = [(found[1], found.start()) for found in re.finditer(r"(?m)^([^\s#][^\n]*?\.event\.\w+):", text)]
    ends = [start for _, start in starts[1:]] + [len(text)]
    return {
        key: re.sub(r"(\n#[^\n]*)*\s*\Z", "", text[start:end])
        for (key, start), end in zip(starts, ends, strict=True)
    }


# What is refused.


def test_a_file_is_left_alone_where_something_is_wrong(tmp_path, shop):
    """Broken files, the reference's lists, events that are unreadable or none: a sentence, no change."""
    file = tmp_path / "shop.yaml"
    broken = "a: }\n"
    file.write_text(broken)
    with pytest.raises(BadInputError, match=r"shop\.yaml, line 1: not YAML"):
        update_expected(file, Events.of(shop))
    assert file.read_text() == broken
    listed = tmp_path / "shop.json"
    listed.write_text('[{"eventType": "START"}]')
    with pytest.raises(BadInputError, match=r"shop\.json: a list of events.*is not updated\.$"):
        update_expected(listed, Events.of(shop))
    with pytest.raises(BadInputError, match="no events at all"):
        update_expected(tmp_path / "new.yaml", Events.of([]))
    torn = Events(Events.of(shop).items, ("events.jsonl, line 9: torn.", "more"))
    with pytest.raises(
        BadInputError, match=r"some would be lost: events\.jsonl, line 9: torn\. \(and 1 more\)"
    ):
        update_expected(tmp_path / "new.yaml", torn)
    with pytest.raises(BadInputError, match="written to one file"):
        update_expected(tmp_path, Events.of(shop))
    with pytest.raises(BadInputError, match=r"No event is of the DAG `other`; there are events of: shop\."):
        draft_expected(Events.of(shop), dag_id="other")
    strange = {"eventType": "STRANGE", "run": {}, "job": {"name": "shop.task"}}
    with pytest.raises(BadInputError, match=r"no expected file can name this event.*no event type"):
        update_expected(tmp_path / "new.yaml", Events.of([strange]))
    assert sorted(os.listdir(tmp_path)) == ["shop.json", "shop.yaml"]


def test_a_text_that_would_fail_is_not_written(tmp_path, shop):
    """An event that only a plain key can name cannot join keys with addresses: the file stays as it is."""
    file = tmp_path / "shop.yaml"
    update(file, shop)
    before = file.read_bytes()
    shop[2]["run"]["facets"]["airflow"]["taskInstance"]["map_index"] = -1
    with pytest.raises(
        BadInputError, match=r"left alone, as `shop\.by\.part\.event\.start` cannot be written"
    ):
        update_expected(file, Events.of(shop), variables=VARIABLES)
    assert file.read_bytes() == before


def test_files_are_replaced_whole(tmp_path, shop):
    """A reader gets the old file or the new one, never half of one; rights and links stay."""
    target, link = tmp_path / "target.yaml", tmp_path / "link.yaml"
    target.write_text("shop.gone.event.start: {}\n")
    target.chmod(0o640)
    link.symlink_to(target)
    with target.open() as reader:
        update(link, shop)
        assert reader.read() == "shop.gone.event.start: {}\n"
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link.yaml", "target.yaml"]
