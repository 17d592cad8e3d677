"""Updates of files that expect something of other versions, which stays as it is."""

from __future__ import annotations

import pytest
from testing.updating import refreshed, run_event, update

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import Events, update_expected


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
