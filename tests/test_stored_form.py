"""The stored form of lineage: what was packed is unpacked, and whatever else is there is one sentence."""

from __future__ import annotations

import base64
import contextlib
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.errors import StoredLineageError


def column(name: str, source: str, kind: str = "IDENTITY") -> dict[str, Any]:
    """A column of an output, with its only source."""
    transformation = {"type": "DIRECT", "subtype": kind}
    edge = {"namespace": "file", "name": "/in", "field": source, "transformations": [transformation]}
    return {name: {"inputFields": [edge]}}


def output(name: str = "/out", columns: Any = None, rows: int | None = 3) -> dict[str, Any]:
    columns = columns or column("a", "x")
    return {
        "namespace": "file",
        "name": name,
        "facets": {
            "schema": {"fields": [{"name": each, "type": "long"} for each in columns]},
            "columnLineage": {"fields": columns, "dataset": []},
        },
        "outputFacets": {"outputStatistics": {"rowCount": rows, "size": 12, "fileCount": 1}},
    }


def event(*outputs: dict[str, Any], **run_facets: Any) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "run": {"runId": "1", "facets": run_facets},
        "job": {"namespace": "n", "name": "shop.load"},
        "inputs": [],
        "outputs": [*outputs],
    }


def summary(*outputs: dict[str, Any], map_index: int = -1, **run_facets: Any) -> dict[str, Any]:
    return stored_form.summary_of(
        event(*outputs, **run_facets), try_number=2, map_index=map_index, began="b", ended="e"
    )


GOOD = stored_form.pack([event(output())], summary(output()))


def packed(document: Any) -> dict[str, Any]:
    """Return a stored form whose `data` are other than `pack` would write."""
    return with_data(zlib.compress(json.dumps(document).encode()))


def with_data(content: bytes) -> dict[str, Any]:
    return GOOD | {"data": base64.b64encode(content).decode()}


def test_what_was_packed_is_unpacked():
    """Events and summary arrive as they were, after a way through JSON."""
    item = stored_form.unpack(json.loads(json.dumps(GOOD)))
    assert item.events == (event(output()),)
    assert item.summary == summary(output())


def test_the_summary_says_what_was_written():
    """A history reads it alone."""
    gaps = {"sparkLineage_gaps": {"gaps": [{}, {}]}}
    failures = {"sparkLineage_failures": {"failures": [{}]}}
    found = summary(output(), output("/more", rows=None), map_index=4, **gaps, **failures)
    assert found["try"] == 2
    assert found["map_index"] == 4
    assert (found["state"], found["began"], found["ended"]) == ("complete", "b", "e")
    assert (found["gaps"], found["failures"]) == (2, 1)
    assert found["outputs"] == [
        {"namespace": "file", "name": "/more", "rows": None, "size_bytes": 12, "files": 1},
        {"namespace": "file", "name": "/out", "rows": 3, "size_bytes": 12, "files": 1},
    ]
    assert summary()["map_index"] is None


def test_digests_change_with_schema_and_edges_alone():
    """A history marks the runs after which the columns, or their sources, were others."""
    first = summary(output())
    assert summary(output(rows=99)) | {"outputs": first["outputs"]} == first
    other_source = summary(output(columns=column("a", "y")))
    assert other_source["schema"] == first["schema"]
    assert other_source["edges"] != first["edges"]
    other_kind = summary(output(columns=column("a", "x", "AGGREGATION")))
    assert other_kind["edges"] != first["edges"]
    other_column = summary(output(columns=column("b", "x")))
    assert other_column["schema"] != first["schema"]


def test_the_order_of_columns_and_edges_is_no_change():
    """Equal jobs may list them in any order, and their outputs."""
    assert summary(output("/a"), output("/b")) == summary(output("/b"), output("/a"))
    ab, ba = column("a", "x") | column("b", "y"), column("b", "y") | column("a", "x")
    assert summary(output(columns=ab))["edges"] == summary(output(columns=ba))["edges"]


def test_the_summary_can_be_stored_in_any_database():
    """PostgreSQL refuses NUL and halves of characters in JSON, and Airflow would try again for minutes."""
    [named] = summary(output("/a\0b\ud800"))["outputs"]
    assert named["name"] == "/a\ufffdb?"


def test_a_bomb_is_not_unpacked():
    """A few bytes may be gigabytes: reading stops at a limit."""
    bomb = zlib.compress(b" " * (stored_form.MAX_UNPACKED_BYTES + 1), 9)
    assert len(bomb) < stored_form.MAX_STORED_BYTES
    with pytest.raises(StoredLineageError, match="larger than 8 MB"):
        stored_form.unpack(with_data(bomb))


NESTED = b'{"events":' + b"[" * 100_000


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "not the lineage of a task"),
        ("text", "not the lineage of a task"),
        ({}, "not the lineage of a task"),
        (GOOD | {"version": 2}, "stored as version 2; this viewer reads version 1"),
        (GOOD | {"version": True}, "an unknown version"),
        (GOOD | {"version": "<b>"}, "an unknown version"),
        (GOOD | {"summary": None}, "summary of the stored lineage is damaged"),
        (GOOD | {"summary": summary() | {"outputs": [{"name": 1}]}}, "summary"),
        (GOOD | {"summary": summary() | {"try": "2"}}, "summary"),
        (GOOD | {"summary": summary() | {"gaps": -1}}, "summary"),
        (GOOD | {"data": None}, "has no `data`"),
        (GOOD | {"data": "A" * (stored_form.MAX_STORED_BYTES + 1)}, "larger than a task stores"),
        (GOOD | {"data": "*"}, "not base64"),
        (GOOD | {"data": "é"}, "not base64"),
        (with_data(b"no zlib"), "is damaged"),
        (with_data(zlib.compress(b'{"events": []}')[:-6]), "ends in the middle"),
        (with_data(b""), "ends in the middle"),
        (with_data(zlib.compress(b"\xff")), "not JSON"),
        (with_data(zlib.compress(NESTED)), "not JSON"),
        (with_data(zlib.compress(b'{"events": [{"a": NaN}]}')), "not JSON"),
        (packed([]), "has no events"),
        (packed({"events": []}), "has no events"),
        (packed({"events": [1]}), "has no events"),
    ],
)
def test_what_is_not_lineage_is_one_sentence(value, sentence):
    """The person who looks reads it in place of the picture."""
    with pytest.raises(StoredLineageError, match=sentence) as raised:
        stored_form.unpack(value)
    assert "\n" not in str(raised.value)
    assert "<b>" not in str(raised.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(value=JSON | st.fixed_dictionaries({name: st.just(GOOD[name]) | JSON for name in GOOD}))
def test_no_value_raises_another_error(value):
    """An XCom may hold anything."""
    with contextlib.suppress(StoredLineageError):
        stored_form.unpack(value)


@given(at=st.integers(0, len(GOOD["data"]) - 1), letter=st.sampled_from("Aa0+/=*"))
def test_a_torn_value_raises_no_other_error(at, letter):
    """One letter is another one."""
    with contextlib.suppress(StoredLineageError):
        stored_form.unpack(GOOD | {"data": GOOD["data"][:at] + letter + GOOD["data"][at + 1 :]})


@given(ids=st.tuples(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1), st.integers(-1, 99)))
def test_no_id_leads_out_of_the_folder(ids):
    """Ids of runs and tasks are their users'."""
    parts = stored_form.file_of(stored_form.InstanceKey(*ids), 1).split("/")
    assert len(parts) == 5
    assert not {"", ".", ".."} & set(parts)


def test_files_of_different_instances_are_different():
    """`a/b` of one task is not `b` of another."""
    ids = [("a", "b/c", "d"), ("a/b", "c", "d"), ("a", "b", "c/d"), ("a", "b%2Fc", "d")]
    assert len({stored_form.file_of(stored_form.InstanceKey(*each), 1) for each in ids}) == len(ids)


def test_a_file_holds_the_stored_form():
    """It is compressed once more, because `data` are text; what else is there is one sentence."""
    assert stored_form.from_file(stored_form.to_file(GOOD)) == GOOD
    for content in (b"", b"torn", stored_form.to_file(GOOD)[:-9], zlib.compress(b"{")):
        with pytest.raises(StoredLineageError):
            stored_form.from_file(content)
