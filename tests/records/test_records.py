"""Every case: the golden text, the same lineage on both Spark versions, and invariants of any lineage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openlineage_client import needs_newest_client
from record_cases import cases, events, golden_text, lineage, records, versions, versions_needed
from recordings import Recording

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage, executions

CASES = [pytest.param(case, id=case.name) for case in cases()]
RECORDED = [pytest.param(of, id=of.name) for case in cases() for of in versions(case)]


@pytest.mark.parametrize("case", CASES)
def test_lineage_is_the_golden_text_on_every_spark_version(case: Path) -> None:
    """Two Spark versions of one job give the same lineage, and it is the one that was read by eye."""
    golden = (case / "lineage.txt").read_text(encoding="utf-8")
    texts = {of.name: golden_text(of) for of in versions(case)}
    assert len(texts) >= versions_needed(case)
    assert texts == dict.fromkeys(texts, golden)


@pytest.mark.parametrize("of", RECORDED)
def test_every_edge_starts_at_a_field_of_a_listed_input(of: Recording) -> None:
    """The source of an edge is among the inputs, with that field in its schema."""
    for recorded in (lineage(of), *(execution.lineage for execution in executions(records(of)))):
        fields = {(read.dataset.id, field.name) for read in recorded.inputs for field in read.dataset.fields}
        inputs = {read.dataset.id for read in recorded.inputs}
        for output in recorded.outputs:
            assert {(edge.source, edge.field) for edge in output.edges} <= fields
            assert set(output.inputs) <= inputs
            columns = {field.name for field in output.dataset.fields}
            assert {edge.column for edge in output.edges if edge.column} <= columns


@pytest.mark.parametrize("of", RECORDED)
def test_a_column_without_edge_reaches_no_leaf_or_has_a_gap(of: Recording) -> None:
    """Absence is visible: the plan itself, walked blindly, must not lead from such a column to a table."""
    for record in records(of):
        execution = execution_lineage(record)
        ids = iter(execution.query)
        for output in execution.lineage.outputs:
            named = {edge.column for edge in output.edges}
            gaps = [gap for gap in execution.lineage.gaps if gap.output == output.dataset.id]
            # What a command changes without a query has no columns that an expression made.
            for field in output.dataset.fields if execution.query else ():
                expr_id = next(ids)
                if field.name not in named and not gaps:
                    assert not reaches_leaf(record, expr_id), f"{field.name} has neither edge nor gap"


@pytest.mark.parametrize("of", RECORDED)
def test_reading_twice_gives_equal_results(of: Recording) -> None:
    """Everything after the record is a pure function of it."""
    assert lineage(of) == lineage(of)


@pytest.mark.parametrize("of", RECORDED)
def test_nothing_looks_like_a_secret_or_names_a_machine(of: Recording) -> None:
    """Records are committed and sent around: they hold no credential and no place of the machine they came from."""
    for line in of.lines:
        assert without_secrets(line) == line
        assert not re.search(r"/(home|root|tmp|Users|site-packages)/", line)
    assert without_secrets(golden_text(of)) == golden_text(of)


@needs_newest_client
@pytest.mark.parametrize("case", CASES)
def test_every_event_is_valid_by_the_schemas_that_it_names(case: Path) -> None:
    """Each facet of each event of a run and of its executions is as OpenLineage's schemas want it."""
    for of in versions(case):
        assert [problem for event in events(of) for problem in problems_of(event)] == []


def test_the_cases_have_events_with_every_facet_of_a_dataset() -> None:
    """A facet that no case has would be valid by the test above whatever it holds."""
    listed = [(of, event) for case in cases() for of in versions(case)[:1] for event in events(of)]
    datasets = [dataset for _, event in listed for dataset in (*event["inputs"], *event["outputs"])]
    facets = {name for each in datasets for name in each["facets"]}
    assert facets >= {
        "catalog",
        "columnLineage",
        "dataSource",
        "datasetType",
        "lifecycleStateChange",
        "schema",
        "storage",
        "symlinks",
        "version",
    }
    changes = [each["facets"].get("lifecycleStateChange", {}) for each in datasets]
    assert {change.get("lifecycleStateChange") for change in changes} == {
        None,
        "ALTER",
        "CREATE",
        "DROP",
        "OVERWRITE",
        "RENAME",
        "TRUNCATE",
    }
    assert any("previousIdentifier" in change for change in changes)


@pytest.mark.parametrize("of", RECORDED)
def test_capture_had_no_problem(of: Recording) -> None:
    """A golden text must not be one of a capture that broke."""
    assert [problem for record in records(of) for problem in record.problems] == []


def test_a_secret_would_be_found() -> None:
    """The check above is able to fail."""
    assert without_secrets('{"url":"jdbc:x://h?password=abc"}') != '{"url":"jdbc:x://h?password=abc"}'


def trees(value: Any) -> Iterator[list[dict[str, Any]]]:
    """Every node list in a JSON value, nested ones too."""
    if isinstance(value, list):
        if value and isinstance(value[0], dict) and "class" in value[0]:
            yield value
        for item in value:
            yield from trees(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from trees(item)


def reaches_leaf(record: Record, expr_id: int) -> bool:
    """Follow every named expression of the plan from one id, whatever a node means."""
    uses: dict[int, set[int]] = {}
    leaves: set[int] = set()
    for tree in trees(record.plan):
        root = tree[0]
        if ".expressions." not in root["class"]:
            for node in tree:
                if node["class"].endswith((".LogicalRelation", ".DataSourceV2Relation")):
                    leaves |= attribute_ids(node["output"])
        elif root["class"].endswith(".Alias"):
            uses.setdefault(root["exprId"]["id"], set()).update(attribute_ids(tree[1:]))
    seen: set[int] = set()
    waiting = [expr_id]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting.extend(uses.get(current, ()))
    return bool(seen & leaves)


ABOUT_ROWS = {"_metadata", "_change_type", "_commit_timestamp", "_commit_version"}
"""Columns that a query may name and no dataset has: of each row's file, of its change."""


def attribute_ids(value: Any) -> set[int]:
    reached: set[int] = set()
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            hidden = current.get("name") in ABOUT_ROWS
            if current.get("class", "").endswith(".AttributeReference") and not hidden:
                reached.add(current["exprId"]["id"])
            stack.extend(v for v in current.values() if isinstance(v, (list, dict)))
        elif isinstance(current, list):
            stack.extend(current)
    return reached
