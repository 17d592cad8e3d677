"""New expected files: their expectations of the emitted events."""

from __future__ import annotations

import copy

import pytest
from testing.updating import VARIABLES, Documents, run_event, update

from airflow_provider_spark_lineage.airflow.draft_rules import RULES
from airflow_provider_spark_lineage.testing import Events, draft_expected, read_expected


def test_a_new_file_expects_the_emitted_events(tmp_path, shop):
    """A draft passes at once, names every event by its key, and lists the additions."""
    file = tmp_path / "new" / "shop.yaml"
    updated = update(file, shop)
    assert updated.created
    assert updated.changed
    assert len(updated.added) == len(shop)
    assert updated.text().endswith(f"{file}: written, 8 added")
    assert draft_expected(Events.of(shop), variables=VARIABLES) == file.read_text()


def test_a_draft_has_matchers_for_varying_values():
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
    text = draft_expected(Events.of([run_event(values)]), variables=VARIABLES, rules=RULES)
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
    """If a variable's value occurs alone, its name is written: the longest first."""
    variables = {"DATA": "/data", "IN": "/data/in", "EMPTY": ""}
    values = {"name": "/data/in/x", "other": "/database", "uri": "file:/data/y", "odd": "${DATA} /data"}
    file = tmp_path / "dag.yaml"
    update(file, [run_event(values)], variables=variables)
    assert file.read_text() == (
        "dag.task.event.start: {run: {facets: {own: {name: '${IN}/x', other: /database,"
        " uri: 'file:${DATA}/y', odd: '$${DATA} ${DATA}'}}}}\n"
    )


def test_instances_and_tries_have_keys_of_their_own(tmp_path, shop):
    """Mapped tasks and second tries are told apart by the address of their key, not by their content."""
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
    """If one event of a mapped task has no index, no key can leave it out: all share the key."""
    unmapped = copy.deepcopy(shop[2])
    unmapped["run"]["facets"]["airflow"]["taskInstance"]["map_index"] = -1
    file = tmp_path / "shop.yaml"
    update(file, [unmapped, *shop[3:5]])
    assert {event.key for event in read_expected(file).events} == {"shop.by.part.event.start"}


def test_columns_without_edges_are_drafted_without_edges(tmp_path, shop):
    """An expected object accepts any unmentioned field, so a draft mentions absent ones."""
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
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_every_value_can_be_drafted(tmp_path, value):
    """Any JSON value is written so that it is read back as the same."""
    many = {"one": value, "list": [value, "x" * 200], "description": value, "text": {"a": "y" * 200}}
    update(tmp_path / "dag.yaml", [run_event(many)])
    many["one"], many["text"] = "other", {"a": value, "b": ["y" * 200, {"c": value}]}
    update(tmp_path / "dag.yaml", [run_event(many)])


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
    assert len(update(tmp_path / "dag.yaml", odd).added) == len(odd)
