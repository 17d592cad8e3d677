"""Tags of catalogs: facets `tags` of datasets in events of any producer."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.policy.tags import tags_in

ID = {"namespace": "file", "name": "/crm"}


def facet(*tags: Any) -> dict[str, Any]:
    return {**ID, "facets": {"tags": {"tags": list(tags)}}}


def event(day: int, **parts: Any) -> dict[str, Any]:
    return {"eventTime": f"2026-01-{day:02}T00:00:00Z", **parts}


def found(*documents: dict[str, Any], aliases: Any = None) -> set[tuple[str, str]]:
    return {(tag.tag, tag.field) for tag in tags_in(Events.of(documents), aliases or {})}


PII = {"key": "pii", "value": "", "field": "mail"}


@pytest.mark.parametrize(
    "parts",
    [
        {"dataset": facet(PII)},
        {"run": {"runId": "1"}, "job": {"name": "j"}, "eventType": "START", "inputs": [facet(PII)]},
        {"run": {"runId": "1"}, "job": {"name": "j"}, "eventType": "FAIL", "outputs": [facet(PII)]},
        {"job": {"name": "j"}, "outputs": [facet(PII)]},
    ],
    ids=["dataset event", "input of START", "output of FAIL", "job event"],
)
def test_a_tag_counts_in_every_kind_of_event(parts):
    """It says what the dataset is, not what a run did."""
    assert found(event(1, **parts)) == {("pii", "mail")}


def test_the_newest_facet_of_a_dataset_has_all_of_its_tags():
    """In whatever order the events come; a dataset without the facet keeps its tags."""
    old, new = event(1, dataset=facet(PII)), event(2, dataset=facet({"key": "open", "value": "true"}))
    bare = event(3, dataset=ID)
    for order in ([old, new, bare], [bare, new, old]):
        assert found(*order) == {("open", ""), ("open:true", "")}
    assert found(new, event(4, dataset=facet())) == set()


def test_a_tag_of_another_name_is_one_of_the_dataset():
    """A catalog names a table, and a job its folder."""
    named = {**facet(PII), "namespace": "hive", "name": "crm"}
    [tag] = tags_in(Events.of([event(1, dataset=named)]), {("hive", "crm"): ("file", "/crm")})
    assert tag.dataset == ("file", "/crm")


@pytest.mark.parametrize("value", ["false", "False", "no", "NONE", "0"])
def test_a_tag_that_says_no_does_not_count(value):
    """Catalogs write truths as text."""
    assert found(event(1, dataset=facet({"key": "pii", "value": value}))) == set()


@pytest.mark.parametrize(
    "tag", [None, 1, "pii", [], {}, {"key": None}, {"key": 1, "value": "x"}, {"value": "true"}, {"key": ""}]
)
def test_a_tag_of_another_form_is_left_out(tag):
    """Events come from outside."""
    assert found(event(1, dataset=facet(tag)), event(0, dataset={**ID, "facets": None})) == set()
    assert found({"dataset": {**ID, "facets": {"tags": tag}}}) == set()


def test_a_field_and_a_value_of_another_form_count_as_absent():
    """The tag is there, so it counts for the whole dataset."""
    assert found(event(1, dataset=facet({"key": "pii", "value": 1, "field": 2}))) == {("pii", "")}
