"""The table of what drafts keep of each facet: complete, and true on another machine."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import airflow_provider_spark_lineage
from airflow_provider_spark_lineage.airflow.draft_rules import RULES
from airflow_provider_spark_lineage.openlineage.testing.draft_facets import ANY_KEY, FACETS, Keep, Row
from airflow_provider_spark_lineage.testing import Events, compare, draft_expected, read_events, read_expected

HERE = Path(__file__).parent
PACKAGE = Path(airflow_provider_spark_lineage.__file__).parent
GOLDEN = HERE.parent / "docs" / "events"
ROWS = {**FACETS, **RULES.facets}
SCHEMAS = sorted(
    [
        *(PACKAGE / "spark" / "facets" / "schemas").glob("*.json"),
        *(PACKAGE / "openlineage" / "events" / "schemas").glob("*Facet.json"),
    ]
)
NOT_IN_SCHEMAS = {"_producer", "_schemaURL", "_deleted"}


def properties(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a schema with all its parts; `*` for those with any name."""
    schema = _resolved(schema, definitions)
    found = dict(schema.get("properties", {}))
    if isinstance(schema.get("additionalProperties"), Mapping) and schema["additionalProperties"]:
        found[ANY_KEY] = schema["additionalProperties"]
    for part in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        found.update(properties(part, definitions))
    if isinstance(schema.get("items"), Mapping):
        found.update(properties(schema["items"], definitions))
    return {name: each for name, each in found.items() if name not in NOT_IN_SCHEMAS}


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref", "")
    return definitions.get(reference.rpartition("/")[2], {}) if reference.startswith("#") else schema


def unnamed(row: Row, schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield the properties of a schema for which the row says nothing."""
    if isinstance(row, Keep):
        return
    for name, part in properties(schema, definitions).items():
        if name in row:
            yield from unnamed(row[name], part, definitions, f"{path}.{name}")
        elif ANY_KEY not in row:
            yield f"{path}.{name}"


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.stem)
def test_every_key_of_a_facet_has_a_row(file):
    """A key without a row is left out of expected files, unseen: somebody must have decided that."""
    schema = json.loads(file.read_text(encoding="utf-8"))
    facets = schema.get("properties") or {}
    for name, facet in facets.items():
        assert name in ROWS, f"{file.name}: no row for the facet {name}"
        assert list(unnamed(ROWS[name], facet, schema.get("$defs", {}), name)) == []


@pytest.mark.airflow
def test_every_facet_of_airflows_provider_has_a_row():
    """Facets that Airflow's provider defines have no schemas, only classes."""
    import inspect

    from airflow.providers.openlineage.plugins import facets
    from airflow.providers.openlineage.utils import utils

    names = set(re.findall(r'"(\w+)": Airflow\w+Facet', inspect.getsource(utils)))
    assert {"airflow", "airflowState"} <= names
    assert names <= ROWS.keys()
    state = ROWS["airflowState"]
    assert not isinstance(state, Keep)
    fields = {field.name for field in facets.AirflowStateRunFacet.__attrs_attrs__} - NOT_IN_SCHEMAS
    assert fields <= state.keys()


OF_MACHINE = {
    "sparkLineage_resources": 7,
    "spark_applicationDetails": "another",
    "spark_properties": "another",
    "sparkLineage_application": "another",
    "sparkLineage_bottlenecks": "another",
}
"""Facets about the machine -> what stands there on another one."""

SECONDS = re.compile(r".*(Ms|PerSecond)|size|bytes|fileCount|tasksDuration|batches|lastBatch")
TIMES = re.compile(r".*(At|Time)|lastUpdated|watermark")
VERSIONS = re.compile(r".*[vV]ersion")


def elsewhere(value: Any, key: str = "") -> Any:
    """Return an event as another machine would send it: other hosts, versions, memory, speed, times."""
    if key in OF_MACHINE:
        return another(value, OF_MACHINE[key])
    if isinstance(value, dict):
        return {name: elsewhere(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [elsewhere(item, key) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and SECONDS.fullmatch(key):
        return value * 7 + 1
    if isinstance(value, str) and (TIMES.fullmatch(key) or VERSIONS.fullmatch(key)):
        return "2031-05-06T07:08:09.012Z" if TIMES.fullmatch(key) else "99.1"
    if isinstance(value, str):
        return re.sub(r"(local|app)-[0-9-]{10,}", "local-1999999999999", value)
    return value


def another(value: Any, new: Any) -> Any:
    """Return the value with another text or number in all places of this type."""
    if isinstance(value, dict):
        return {name: another(item, new) for name, item in value.items()}
    if isinstance(value, list):
        return [another(item, new) for item in value]
    return new if type(value) is type(new) or isinstance(value, str) else 7


def golden() -> Events:
    documents = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(GOLDEN.glob("*.json"))]
    return Events.of([each for each in documents if "job" in each])


SMALL = read_events(HERE / "emitted" / "small.jsonl")
"""Events of a DAG with one task: two files are joined and summed into a third."""


@pytest.mark.parametrize("events", [golden(), SMALL], ids=["all", "one"])
def test_a_draft_passes_on_another_machine(tmp_path, events):
    """Host, Java, memory, cores and speed are not the pipeline's: no expected file has them."""
    file = tmp_path / "expected.yaml"
    file.write_text(draft_expected(events, variables={"DATA": "/data"}, rules=RULES))
    moved = Events.of([elsewhere(copy.deepcopy(dict(event.document))) for event in events])
    assert [event.document for event in moved] != [event.document for event in events]
    for each in (events, moved):
        report = compare(read_expected(file), each, variables={"DATA": "/data"}, without=WITHOUT)
        assert report.ok, report.text()


WITHOUT = ("start_first", "one_terminal", "one_run_id", "one_job", "parents", "schemas", "unique_keys")


def test_a_draft_of_a_small_dag_is_short():
    """Five events in at most 60 lines: a file that is longer is committed without being read."""
    assert len(SMALL) == 5
    text = draft_expected(SMALL, variables={"DATA": "/data"}, rules=RULES)
    assert len(text.splitlines()) <= 60
    assert "driverHost" not in text
    assert "AGGREGATION" in text


@pytest.mark.parametrize("has_parent", [True, False])
def test_a_start_inside_of_a_task_is_expected_by_names(has_parent):
    """A slow execution is told while it runs, a quick one when it has ended: START may know less."""
    parent = {"run": {"runId": "1"}, "job": {"name": "dag.task"}}
    output = {"namespace": "file", "name": "/out", "facets": {"storage": {"fileFormat": "csv"}}}
    run = {"runId": "2", "facets": {"parent": parent} if has_parent else {}}
    event = {"eventType": "START", "run": run, "job": {"name": "dag.task.out"}, "outputs": [output]}
    text = draft_expected(Events.of([event]), rules=RULES)
    assert "/out" in text
    assert ("csv" in text) is not has_parent


@pytest.mark.parametrize("is_slow", [True, False])
def test_a_start_of_a_failed_execution_may_name_its_output(is_slow, tmp_path):
    """Sent while it writes, START has what it would write; sent with the FAIL, it has what was written."""
    parent = {"run": {"runId": "1"}, "job": {"name": "dag.task"}}

    def events(outputs: list[Any]) -> Events:
        run = {"runId": "2", "facets": {"parent": parent}}
        start = {"eventType": "START", "run": run, "job": {"name": "dag.task.out"}, "outputs": outputs}
        return Events.of([start, {**start, "eventType": "FAIL", "outputs": []}])

    slow, quick = events([{"namespace": "file", "name": "/out"}]), events([])
    file = tmp_path / "expected.yaml"
    file.write_text(draft_expected(slow if is_slow else quick, rules=RULES))
    for each in (slow, quick):
        report = compare(read_expected(file), each, without=WITHOUT)
        assert report.ok, report.text()
    assert ("/out" in file.read_text()) is is_slow


def test_an_object_of_which_nothing_is_expected_is_left_out():
    """Parameters of a check are of the machine or in its result; `params: {}` says nothing."""
    results = [{"assertion": "max", "success": True, "params": {"geq_to": 1}}]
    facets = {"dataQualityAssertions": {"assertions": results}}
    read = {"namespace": "file", "name": "/in", "inputFacets": facets}
    event = {"eventType": "COMPLETE", "run": {}, "job": {"name": "dag.task"}, "inputs": [read]}
    text = draft_expected(Events.of([event]), rules=RULES)
    assert "max" in text
    assert "params" not in text


def test_messages_are_expected_without_addresses():
    """The text of an error names hosts, ports, objects and tasks by their numbers: the rest stays."""
    message = "Lost task 0.3 in stage 3.0 (TID 7) (host-5 executor 2): no answer of 10.0.0.1:80 to B@1f2e3d4c"
    facet = {"message": message, "programmingLanguage": "JAVA", "stackTrace": "at a.B"}
    event = {"eventType": "FAIL", "run": {"facets": {"errorMessage": facet}}, "job": {"name": "dag.task"}}
    text = draft_expected(Events.of([event]), rules=RULES)
    assert "Lost task 0" in text
    assert "no answer of" in text
    for part in ("host-5", "10.0.0.1", "1f2e3d4c", "TID 7", "stackTrace"):
        assert part not in text


def test_an_overwrite_may_find_the_data_of_the_run_before():
    """The first run creates what all later runs overwrite."""

    def event(state: str) -> dict[str, Any]:
        facets = {"lifecycleStateChange": {"lifecycleStateChange": state}}
        outputs = [{"namespace": "file", "name": "/out", "facets": facets}]
        return {"eventType": "COMPLETE", "run": {}, "job": {"name": "dag.task"}, "outputs": outputs}

    assert "!one_of [CREATE, OVERWRITE]" in draft_expected(Events.of([event("CREATE")]), rules=RULES)
    assert "lifecycleStateChange: DROP" in draft_expected(Events.of([event("DROP")]), rules=RULES)
