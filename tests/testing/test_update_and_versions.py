"""Updates of files that expect something of other versions, which stays as it is."""

from __future__ import annotations

from testing.updating import refreshed


def test_expectations_for_other_versions_stay(tmp_path):
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


def test_expectations_for_these_versions_keep_their_condition(tmp_path):
    """Also if nothing else of the event stays."""
    text = (
        "when: {airflow: '>=3'}\ndag.task.event.start: {when: {spark: '>=4'}, run: {facets: {own: {a: 1}}}}\n"
    )
    new = refreshed(tmp_path, text, {"b": 3}, versions={"spark": "4.1", "airflow": "3.3"})
    assert new.startswith("when: {airflow: '>=3'}\ndag.task.event.start: {when: {spark: '>=4'}")
    assert "b: 3" in new
