"""Existing expected files are brought up to date: correct values stay, and no file gets worse."""

from __future__ import annotations

import os
from typing import Any

import pytest
from testing.updating import ID, VARIABLES, refreshed, run_event, update

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import Events, draft_expected, update_expected

EXPECTED = """\
# About this DAG.
dag.task.event.start:   # emitted at once
  run: {facets: {own: {a: !regex 'a.*', changed: 1 , also: "x"}}}  # on one line

# About the other task.
dag.other.event.start: {inputs: [] , job:   {name: !any }}  # this stays as it is
"""


def test_only_keys_with_changes_are_rewritten(tmp_path):
    """In them, values and matchers that hold stay; the text of all other keys stays as it is."""
    file = tmp_path / "dag.yaml"
    file.write_text(EXPECTED)
    other = {**run_event({}, "other"), "inputs": []}
    done = update(file, [run_event({"a": "abc", "changed": 2, "also": "x"}), other])
    assert done.refreshed == ["dag.task.event.start"]
    assert file.read_text() == (
        "# About this DAG.\n"
        "dag.task.event.start: {run: {facets: {own: {a: !regex 'a.*', changed: 2, also: x}}}}\n"
        + EXPECTED[EXPECTED.index("\n# About the other") :]
    )
    assert done.lost_comments == ["line 2: # emitted at once", "line 3: # on one line"]
    assert "comment lost, line 3: # on one line\n" in done.text()


def test_a_matcher_that_no_longer_holds_gives_way(tmp_path):
    """Its replacement is masked as in a draft."""
    text = "dag.task.event.start: {run: {facets: {own: {a: !integer '> 5', b: 1}}}}\n"
    assert refreshed(tmp_path, text, {"a": ID, "b": "/in/x"}) == (
        "dag.task.event.start: {run: {facets: {own: {a: !uuid , b: '${DATA}/x'}}}}\n"
    )


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        ("{a: 1, b: 2, c: 3}", {"b": 2}, "{b: 2}"),
        ("{a: [1, 2, 3]}", {"a": [1, 3]}, "{a: [1, 3]}"),
        ("{a: [1, 2]}", {"a": [0, 1, 2, 3]}, "{a: [0, 1, 2, 3]}"),
        ("{a: [!any , 2]}", {"a": [7, 2, "x"]}, "{a: [!any , 2, x]}"),
        ("{a: [1]}", {"a": []}, "{a: []}"),
        ("{a: []}", {"a": [1]}, "{a: [1]}"),
        ("{a: {b: 1}}", {"a": {"c": 1}}, "{a: {c: 1}}"),
        (
            "{a: 1, transformations: [{type: X}, {type: Y, of: !any }]}",
            {"a": 2, "transformations": [{"type": "Y", "of": 1}, {"type": "X"}]},
            "{a: 2, transformations: [{type: X}, {type: Y, of: !any }]}",
        ),
        ("{a: !absent }", {"a": None}, "{a: null}"),
        ("{a: {}, b: 1}", {"a": {"x": 1}, "b": 2}, "{a: {}, b: 2}"),
    ],
)
def test_values_come_and_go(tmp_path, before, values, after):
    """A correct expectation keeps its place and its matchers."""
    text = "dag.task.event.start: {run: {facets: {own: %s}}}\n"
    assert refreshed(tmp_path, text % before, values) == text % after


def test_events_come_and_go(tmp_path):
    """New keys are inserted in alphabetical order; a key that was not emitted goes with its comments."""
    file = tmp_path / "dag.yaml"
    file.write_text(
        "# top\ndag.a.event.start: {}\n\n# about c\ndag.c.event.start: {}\n\n"
        "# about e\ndag.e.event.start: {}\n"
    )
    done = update(file, [run_event({}, task) for task in "abde"])
    assert (done.added, done.removed) == (["dag.b.event.start", "dag.d.event.start"], ["dag.c.event.start"])
    assert done.lost_comments == ["line 4: # about c"]
    assert file.read_text() == (
        "# top\ndag.a.event.start: {}\ndag.b.event.start: {run: {facets: {own: {}}}}\n"
        "dag.d.event.start: {run: {facets: {own: {}}}}\n\n# about e\ndag.e.event.start: {}\n"
    )


def test_one_event_becomes_two_and_one_again(tmp_path):
    """A key whose event is emitted twice gets a list; its first item keeps its matchers."""
    file = tmp_path / "dag.yaml"
    file.write_text("dag.task.event.start: {run: {facets: {own: {a: !any }}}}\n")
    update(file, [run_event({"a": 1}), run_event({"b": 2})])
    assert file.read_text() == (
        "dag.task.event.start: [{run: {facets: {own: {a: !any }}}}, {run: {facets: {own: {b: 2}}}}]\n"
    )
    update(file, [run_event({"b": 2})])
    assert file.read_text() == "dag.task.event.start: [{run: {facets: {own: {b: 2}}}}]\n"


def test_the_first_retry_of_a_mapped_task(tmp_path):
    """A key that names the second try as well gets it; beside one that does not, a new key is written."""
    first, second = (instance_event(kind, tried) for kind, tried in (("START", 1), ("START", 2)))
    file = tmp_path / "d.yaml"
    for key, new in (("d.t[0]", "d.t[0].event.start: [{}, {"), ("d.t[0]#1", "d.t[0]#2.event.start: {")):
        file.write_text(f"{key}.event.start: {{}}\n")
        update(file, [first, second])
        assert new in file.read_text()


def instance_event(kind: str, tried: int) -> dict[str, Any]:
    instance = {"map_index": 0, "try_number": tried}
    facet = {"dag": {"dag_id": "d"}, "task": {"task_id": "t"}, "taskInstance": instance}
    return {"eventType": kind, "run": {"facets": {"airflow": facet}}, "job": {"name": "d.t"}}


def test_events_of_silent_and_other_dags_stay(tmp_path):
    """Expectations of a DAG without events stay, and nothing is added for a DAG that is not named."""
    file = tmp_path / "dag.yaml"
    file.write_text("dag.task.event.start: {}\nsilent.task.event.start: {}\n")
    stranger = {"eventType": "START", "run": {}, "job": {"name": "stranger.task"}}
    updated = update(file, [run_event({}), stranger])
    assert (updated.changed, updated.kept) == (False, ["silent.task.event.start"])
    assert updated.text().endswith("dag.yaml: unchanged")


EDGE = {
    "namespace": "file",
    "name": "/in/orders",
    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}],
}


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
    """A repetition by alias may change in one place only: then the others are written out."""
    file = tmp_path / "dag.yaml"
    file.write_text(ANCHORS)
    values = {"task": first, "other": second, "third": third}
    update(file, [*(run_event({"a": a, "b": 2}, task) for task, a in values.items()), run_event({}, "last")])
    assert "dag.last.event.start: {}" in file.read_text()


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
    with pytest.raises(BadInputError, match="written to one file"):
        update_expected(listed, Events.of(shop))
    with pytest.raises(BadInputError, match="no events, so nothing"):
        update_expected(tmp_path / "new.yaml", Events.of([]))
    torn = Events(Events.of(shop).items, ("events.jsonl, line 9: torn.", "more"))
    with pytest.raises(
        BadInputError, match=r"some would be lost: events\.jsonl, line 9: torn\. \(and 1 more\)"
    ):
        update_expected(tmp_path / "new.yaml", torn)
    with pytest.raises(BadInputError, match="written to one file"):
        update_expected(tmp_path, Events.of(shop))
    with pytest.raises(BadInputError, match=r"The DAG `other` has no events; DAGs with events: shop\."):
        draft_expected(Events.of(shop), dag_id="other")
    strange = {"eventType": "STRANGE", "run": {}, "job": {"name": "shop.task"}}
    with pytest.raises(
        BadInputError, match=r"no expected file can name this event.*not end in an event type"
    ):
        update_expected(tmp_path / "new.yaml", Events.of([strange]))
    assert sorted(os.listdir(tmp_path)) == ["shop.json", "shop.yaml"]


def test_a_text_that_would_fail_is_not_written(tmp_path, shop):
    """An event that only a plain key can name cannot join keys with addresses: the file stays as it is."""
    file = tmp_path / "shop.yaml"
    update(file, shop)
    before = file.read_bytes()
    shop[2]["run"]["facets"]["airflow"]["taskInstance"]["map_index"] = -1
    with pytest.raises(
        BadInputError, match=r"unchanged, because `shop\.by\.part\.event\.start` cannot be written"
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
