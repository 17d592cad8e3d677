"""Expected files that are there are brought up to date: with the least changes, and never for the worse."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest
from testing.updating import ID, VARIABLES, refreshed, run_event, update

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import Events, draft_expected, update_expected

KEY = "shop.totals.event.complete"

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


def test_what_only_a_capture_contradicts_is_left_for_a_person(tmp_path):
    """Nothing is to be changed, and still it is not as it should be: the message says so."""
    file = tmp_path / "dag.yaml"
    text = "".join(f"dag.task.event.{kind}: {{run: {{runId: !capture run}}}}\n" for kind in ("start", "fail"))
    file.write_text(text)
    events = [run_event({}), run_event({}, kind="FAIL")]
    for run_id, one in zip(("one", "two"), events, strict=True):
        one["run"]["runId"] = run_id
    found = update_expected(file, Events.of(events))
    assert (found.changed, file.read_text()) == (False, text)
    assert len(found.left) == 1
    assert found.text().startswith(
        "left for a person: dag.task.event.fail: run.runId is not what `run` was captured as"
    )


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
        (
            "{a: 1, transformations: [{type: X}, {type: Y, of: !any }]}",
            {"a": 2, "transformations": [{"type": "Y", "of": 1}, {"type": "X"}]},
            "{a: 2, transformations: [{type: X}, {type: Y, of: !any }]}",
        ),
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
        ({"a": {"k": "v" * 200}}, "a: 1  # one", f"a:  # one\n          k: {'v' * 200}"),
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


OUTPUTS = """\
shop.totals.event.complete:
  # all of them
  outputs:  # written
  # about the first
  - {namespace: a, name: old}  # first
  # about the second
  - namespace: a
    # its name
    name: k1  # second
"""


@pytest.mark.parametrize(
    ("names", "after"),
    [
        (["new", "k1"], OUTPUTS.replace("old", "new")),
        (["old", "new"], OUTPUTS.replace("k1", "new")),
        (["n1", "n2"], OUTPUTS.replace("old", "n1").replace("k1", "n2")),
        (
            ["n", "old", "k1"],
            OUTPUTS.replace("  - {", "  - {namespace: a, name: n}\n  - {"),
        ),
        (["old", "k1", "n"], f"{OUTPUTS}  - {{namespace: a, name: n}}\n"),
    ],
    ids=["first of two renamed", "second renamed", "both renamed", "one more before", "one more behind"],
)
def test_a_renamed_dataset_keeps_its_comments(tmp_path, names, after):
    """One for one, another name is an edit of that name: the layout and all comments stay."""
    file = tmp_path / "shop.yaml"
    file.write_text(OUTPUTS)
    found = update(file, [complete(outputs=[{"namespace": "a", "name": name} for name in names])])
    assert file.read_text() == after
    assert found.lost_comments == ()


def test_a_comment_above_the_only_element_stays(tmp_path):
    """Also where the list is empty afterwards."""
    file = tmp_path / "shop.yaml"
    file.write_text(f"{KEY}:\n  outputs:\n  # why\n  - {{namespace: a, name: old}}  # keep\n")
    update(file, [complete(outputs=[{"namespace": "a", "name": "new"}])])
    assert file.read_text() == f"{KEY}:\n  outputs:\n  # why\n  - {{namespace: a, name: new}}  # keep\n"
    update(file, [complete(outputs=[])])
    assert file.read_text() == f"{KEY}:\n  outputs: []\n  # why\n  # keep\n"


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("v: |  # q\n          select\n          1\n", "x", "v: x  # q\n"),
        ("v: |  # q\n          select\n", "a\nb\n", "v: |  # q\n          a\n          b\n"),
        ("v: !regex |  # q\n          select\n", "x", "v: x  # q\n"),
        ("v: 1  # q\n", "a\nb\n", "v: |  # q\n          a\n          b\n"),
        ("v:\n          # q\n          1  # w\n", "a\nb", 'v: "a\\nb"\n          # q\n          # w\n'),
        ("v:  # q\n          k: 1\n", 5, "v:  # q\n          5\n"),
    ],
)
def test_comments_beside_a_value_stay(tmp_path, before, value, after):
    """Wherever YAML lets one stand, and whatever the value becomes."""
    text = f"dag.task.event.start:\n  run:\n    facets:\n      own:\n        {before}"
    new = refreshed(tmp_path, text, {"v": value})
    assert re.findall("# .", new) == re.findall("# .", text)
    if value != 5:
        assert new.endswith(f"own:\n        {after}")


def test_a_comment_that_goes_is_named(tmp_path):
    """It goes with what it stood beside, and the message says which it was."""
    file = tmp_path / "shop.yaml"
    file.write_text(OUTPUTS)
    found = update(file, [complete(outputs=[{"namespace": "a", "name": "old"}])])
    assert found.lost_comments == ("line 8: # its name", "line 9: # second")
    assert "comment lost, line 9: # second\n" in found.text()


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


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("d.t[0]", ["{run: {facets: {airflow: {taskInstance: {try_number: 2}}}}}"]),
        ("d.t", ["{run: {facets: {airflow: {taskInstance: {map_index: 0, try_number: 2}}}}}"]),
        ("d.t[0]#1", []),
    ],
)
def test_the_first_retry_of_a_mapped_task(tmp_path, key, told):
    """A key that names the second try as well gets it; only beside one that does not a new key is put."""
    start, fail, again, complete = (
        instance_event(kind, tried)
        for kind, tried in (("START", 1), ("FAIL", 1), ("START", 2), ("COMPLETE", 2))
    )
    file = tmp_path / "d.yaml"
    file.write_text(f"{key}.event.start: {{}}  # mine\n")
    update(file, [start])
    update(file, [start, fail, again, complete])
    text = file.read_text()
    assert "# mine" in text
    assert re.findall(r"^- (\{r.*)", text, re.MULTILINE) == told
    assert ("d.t[0]#2.event.start: " in text) == (not told)


def instance_event(kind: str, tried: int) -> dict[str, Any]:
    instance = {"map_index": 0, "try_number": tried}
    facet = {"dag": {"dag_id": "d"}, "task": {"task_id": "t"}, "taskInstance": instance}
    return {"eventType": kind, "run": {"facets": {"airflow": facet}}, "job": {"name": "d.t"}}


def test_events_of_silent_and_other_dags_stay(tmp_path):
    """What is expected of a DAG that emitted nothing stays, and of a DAG not named nothing is added."""
    file = tmp_path / "dag.yaml"
    file.write_text("dag.task.event.start: {}\nsilent.task.event.start: {}\n")
    stranger = {"eventType": "START", "run": {}, "job": {"name": "stranger.task"}}
    found = update(file, [run_event({}), stranger])
    assert (found.changed, found.kept) == (False, ("silent.task.event.start",))
    assert found.text().endswith("dag.yaml: unchanged")


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


def complete(**parts: Any) -> dict[str, Any]:
    return {"eventType": "COMPLETE", "run": {}, "job": {"name": "shop.totals"}, **parts}


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
