"""Updates of files that expect something of other versions, which stays as it is."""

from __future__ import annotations

from testing.updating import refreshed, run_event, update


def test_what_is_for_other_versions_stays(tmp_path):
    """An event that `when:` keeps for another version is neither compared nor removed."""
    text = (
        "dag.task.event.start:\n- when: {spark: '<4'}\n  run: {facets: {own: {a: 1}}}\n"
        "- when: {spark: '>=4'}\n  run: {facets: {own: {a: 2}}}\n"
        "dag.old.event.start: {when: {spark: '<4'}}\n"
    )
    new = refreshed(tmp_path, text, {"a": 3}, versions={"spark": "4.1"})
    assert "{when: {spark: <4}, run: {facets: {own: {a: 1}}}}" in new
    assert "{when: {spark: '>=4'}, run: {facets: {own: {a: 3}}}}" in new
    assert new.endswith("dag.old.event.start: {when: {spark: '<4'}}\n")


def test_what_is_new_beside_other_versions_is_for_this_version_alone(tmp_path):
    """With the other version, the file expects what it did; a person may widen the condition."""
    file = tmp_path / "dag.yaml"
    file.write_text(
        "dag.other.event.start: {}\ndag.task.event.start: {when: {spark: '>=3.5,<4'}, job: {name: !any }}\n"
    )
    always = run_event({}, "other")
    update(file, [always, run_event({"a": 2})], versions={"spark": "4.1"})
    assert "{when: {spark: ==4.1}, run: {facets: {own: {a: 2}}}}" in file.read_text()
    assert not update(file, [always, run_event({"a": 1})], versions={"spark": "3.5"}).changed


def test_what_is_for_these_versions_keeps_its_condition(tmp_path):
    """Also if nothing else of the event stays."""
    text = (
        "when: {airflow: '>=3'}\ndag.task.event.start: {when: {spark: '>=4'}, run: {facets: {own: {a: 1}}}}\n"
    )
    new = refreshed(tmp_path, text, {"b": 3}, versions={"spark": "4.1", "airflow": "3.3"})
    assert new.startswith("when: {airflow: '>=3'}\ndag.task.event.start: {when: {spark: '>=4'}")
    assert "b: 3" in new
