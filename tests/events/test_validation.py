from __future__ import annotations

import copy
import importlib
import importlib.util
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import attrs
import pytest
from openlineage.client import generated
from openlineage.client.facet_v2 import (
    JobFacet,
    RunFacet,
    documentation_job,
    job_type_job,
    nominal_time_run,
    ownership_job,
    source_code_job,
    tags_job,
)
from openlineage.client.serde import Serde
from openlineage_client import needs_newest_client

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.facets.events import EventExecution, EventRun, events_of
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Field,
    Gap,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
    Statistics,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity, Symlink

pytestmark = needs_newest_client

Event = dict[str, Any]
AT = datetime(2026, 3, 1, tzinfo=timezone.utc)
CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
PARENT_SCHEMA = "https://openlineage.io/spec/facets/1-2-0/ParentRunFacet.json"


@pytest.fixture
def event() -> Event:
    """COMPLETE of an execution: child run, datasets on both sides, column lineage."""
    a, b = (
        Dataset(
            Identity(DatasetId("file", name), "file", "csv", (Symlink("hive://h:1", "t"),)),
            (Field("k", "int"),),
        )
        for name in ("/a", "/b")
    )
    edges = (Edge(a.id, "k", Kind.FILTER), Edge(a.id, "k", Kind.IDENTITY, column="k"))
    lineage = Lineage(
        inputs=(Input(a, Statistics(rows=1)),),
        outputs=(Output(b, Mode.CREATE, Statistics(rows=1), edges, (a.id,)),),
        gaps=(Gap("node", Reason(GapKind.UNKNOWN, "reason"), b.id, "k"),),
    )
    execution = EventExecution("j.out", AT, AT, lineage, sql="SELECT 1", engine_version="4.1.0")
    whole = EventRun("app", AT, AT, lineage)
    complete: Event = events_of([execution], whole, namespace="ns", job="j")[2]
    return complete


def test_a_valid_event_has_no_problems(event):
    assert problems_of(event) == []


def _at(event: Event, path: str) -> Any:
    value: Any = event
    for key in path.split("/"):
        value = value[int(key) if key.isdigit() else key]
    return value


def without(path: str) -> Callable[[Event], None]:
    parent, _, key = path.rpartition("/")
    return lambda event: (_at(event, parent) if parent else event).pop(key)


def with_(path: str, value: Any) -> Callable[[Event], None]:
    parent, _, key = path.rpartition("/")

    def change(event: Event) -> None:
        holder = _at(event, parent) if parent else event
        holder[int(key) if key.isdigit() else key] = value

    return change


OUT = "outputs/0/facets"
FIELD = f"{OUT}/columnLineage/fields/k/inputFields/0"


@pytest.mark.parametrize(
    ("break_it", "where"),
    [
        # the event itself
        (without("schemaURL"), "event.schemaURL: is missing"),
        (with_("schemaURL", f"{CORE}#/$defs/RunEventx"), "event.schemaURL: names `#/$defs/RunEventx`, but "),
        (with_("schemaURL", f"{CORE}#/$def/RunEvent"), "event.schemaURL: names `#/$def/RunEvent`, but "),
        (with_("schemaURL", f"{CORE}#/$defs/JobEvent"), "event.schemaURL: no schema known"),
        (
            with_("run/facets/parent/_schemaURL", f"{PARENT_SCHEMA}#/$defs/ParentsRunFacet"),
            "run.facets.parent: names `#/$defs/ParentsRunFacet`, but ",
        ),
        (
            with_("run/facets/parent/_schemaURL", f"{PARENT_SCHEMA}#/defs/ParentRunFacet"),
            "run.facets.parent: names `#/defs/ParentRunFacet`, but ",
        ),
        (
            with_("run/facets/parent/_schemaURL", CORE),
            f"run.facets.parent: names {CORE}, which has several definitions; append `#/$defs/RunFacet`",
        ),
        (with_("schemaURL", "https://example.org/Event.json"), "event.schemaURL: no schema known"),
        (without("eventTime"), 'event: "eventTime"'),
        (with_("eventTime", "2026-03-01"), "event.eventTime: "),
        (with_("eventTime", "2026-03-01T00:00:00"), "event.eventTime: "),
        (with_("eventTime", "yesterday"), "event.eventTime: "),
        (with_("eventType", "DONE"), "event.eventType: "),
        (without("producer"), 'event: "producer"'),
        (with_("producer", "http://[us"), "event.producer: "),
        (without("run"), 'event: "run"'),
        (with_("run/runId", "17"), "event.run.runId: "),
        (with_("run/runId", 17), "event.run.runId: "),
        (without("job"), 'event: "job"'),
        (without("job/namespace"), 'event.job: "namespace"'),
        (with_("inputs", {}), "event.inputs: "),
        (without("inputs/0/name"), 'event.inputs[0]: "name"'),
        (with_("outputs/0/namespace", None), "event.outputs[0].namespace: "),
        # what every facet carries
        (without(f"{OUT}/schema/_producer"), 'event.outputs[0].facets.schema: "_producer"'),
        (without(f"{OUT}/schema/_schemaURL"), 'event.outputs[0].facets.schema: "_schemaURL"'),
        (with_(f"{OUT}/schema", []), "event.outputs[0].facets.schema: "),
        (with_("job/facets/sql/_producer", "no uri"), "event.job.facets.sql._producer: "),
        (
            with_(f"{OUT}/schema/_schemaURL", "https://example.org/Mine.json"),
            "outputs[0].facets.schema: no schema",
        ),
        (
            with_(
                f"{OUT}/schema/_schemaURL",
                "https://openlineage.io/spec/facets/9-9-9/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet",
            ),
            "outputs[0].facets.schema: no schema known",
        ),
        # a facet of its own schema
        (without(f"{OUT}/schema/fields/0/name"), 'outputs[0].facets.schema.fields[0]: "name"'),
        (with_(f"{OUT}/dataSource/uri", "no where"), "outputs[0].facets.dataSource.uri: "),
        (without(f"{OUT}/storage/storageLayer"), 'outputs[0].facets.storage: "storageLayer"'),
        (without(f"{OUT}/symlinks/identifiers/0/type"), 'outputs[0].facets.symlinks.identifiers[0]: "type"'),
        (with_(f"{OUT}/lifecycleStateChange/lifecycleStateChange", "APPEND"), "outputs[0].facets.lifecycle"),
        (without(f"{OUT}/columnLineage/fields"), 'outputs[0].facets.columnLineage: "fields"'),
        (without(f"{OUT}/columnLineage/fields/k/inputFields"), "outputs[0].facets.columnLineage.fields.k: "),
        (without(f"{FIELD}/field"), 'outputs[0].facets.columnLineage.fields.k.inputFields[0]: "field"'),
        (
            without(f"{FIELD}/transformations/0/type"),
            "outputs[0].facets.columnLineage.fields.k.inputFields[0].",
        ),
        (with_(f"{FIELD}/transformations/0/masking", "no"), "outputs[0].facets.columnLineage.fields.k."),
        (
            without(f"{OUT}/columnLineage/dataset/0/name"),
            'outputs[0].facets.columnLineage.dataset[0]: "name"',
        ),
        (
            with_("inputs/0/inputFacets/inputStatistics/rowCount", 1.5),
            "inputs[0].inputFacets.inputStatistics.",
        ),
        (
            with_("outputs/0/outputFacets/outputStatistics/rowCount", "1"),
            "outputs[0].outputFacets.outputStat",
        ),
        (without("job/facets/sql/query"), 'job.facets.sql: "query"'),
        (without("job/facets/jobType/integration"), 'job.facets.jobType: "integration"'),
        (without("job/facets/lineage/entries"), 'job.facets.lineage: "entries"'),
        (with_("job/facets/lineage/entries/0/type", "TABLE"), "job.facets.lineage.entries[0]: "),
        (without("job/facets/lineage/entries/0/inputs/0/name"), "job.facets.lineage.entries[0]: "),
        (without("run/facets/parent/job"), 'run.facets.parent: "job"'),
        (with_("run/facets/parent/run/runId", "x"), "run.facets.parent.run.runId: "),
        (without("run/facets/parent/root/run"), 'run.facets.parent.root: "run"'),
        (without("run/facets/processing_engine/version"), 'run.facets.processing_engine: "version"'),
        (without("run/facets/sparkLineage_gaps/gaps"), 'run.facets.sparkLineage_gaps: "gaps"'),
        (with_("run/facets/sparkLineage_gaps/gaps", []), "run.facets.sparkLineage_gaps.gaps: "),
        (without("run/facets/sparkLineage_gaps/gaps/0/reason"), "run.facets.sparkLineage_gaps.gaps[0]: "),
        (with_("run/facets/sparkLineage_gaps/gaps/0/colum", "k"), "run.facets.sparkLineage_gaps.gaps[0]: "),
    ],
)
def test_a_broken_event_is_refused_and_the_place_named(event, break_it, where):
    break_it(event)
    assert [problem for problem in problems_of(event) if problem.startswith(where)], problems_of(event)


def test_a_facet_among_those_of_another_kind_is_refused(event):
    """Consumers look for input statistics among the input facets only, and lose them elsewhere."""
    event["inputs"][0]["facets"]["inputStatistics"] = event["inputs"][0]["inputFacets"].pop("inputStatistics")
    assert problems_of(event) == [
        "inputs[0].facets.inputStatistics: InputStatisticsInputDatasetFacet "
        "does not belong among the dataset facets"
    ]


def test_assertions_may_be_at_two_places_of_an_input(event):
    """By the schema they are input facets; Airflow and dbt write them among the facets of the dataset."""
    spec = "https://openlineage.io/spec/facets/1-1-0/DataQualityAssertionsDatasetFacet.json"
    url = f"{spec}#/$defs/DataQualityAssertionsDatasetFacet"
    facet = {"_producer": "https://p.example", "_schemaURL": url, "assertions": []}
    event["inputs"][0]["facets"]["dataQualityAssertions"] = facet
    event["inputs"][0]["inputFacets"]["dataQualityAssertions"] = facet
    assert problems_of(event) == []
    event["outputs"][0]["outputFacets"]["dataQualityAssertions"] = facet
    assert problems_of(event) == [
        "outputs[0].outputFacets.dataQualityAssertions: DataQualityAssertionsDatasetFacet "
        "does not belong among the outputdataset facets"
    ]


def test_a_facet_under_a_wrong_key_is_refused(event):
    facets = event["outputs"][0]["facets"]
    facets["datasource"] = facets.pop("dataSource")
    assert problems_of(event) == [
        "outputs[0].facets.datasource: DatasourceDatasetFacet belongs under the key dataSource"
    ]


def test_facets_forwarded_from_the_parent_are_looked_at_too(event):
    bad = {"_producer": "https://p.example", "_schemaURL": "https://p.example/Mine.json"}
    event["run"]["facets"]["parent"]["root"]["job"]["facets"] = {"mine": bad}
    assert problems_of(event) == [
        "run.facets.parent.root.job.facets.mine: no schema known for https://p.example/Mine.json"
    ]


def test_all_problems_are_reported_not_the_first(event):
    without("eventTime")(event)
    without("job/facets/sql/query")(event)
    without(f"{OUT}/storage/storageLayer")(event)
    assert len(problems_of(event)) == 3


@pytest.mark.parametrize("value", [None, [], "event", 1])
def test_a_line_that_is_not_an_object_is_not_an_event(value):
    assert problems_of(value) == ["event: is not a JSON object"]


@pytest.mark.parametrize(
    "at", ["2026-03-01T00:00:00Z", "2026-03-01T00:00:00.1+02:00", "2026-03-01t00:00:00.123456789z"]
)
def test_any_time_of_rfc_3339_is_a_time(event, at):
    assert problems_of(event | {"eventTime": at}) == []


def test_a_schema_url_may_stop_at_the_file(event):
    """Other producers write it so, and mean the facet that the file is called after."""
    facet = event["outputs"][0]["facets"]["storage"]
    facet["_schemaURL"] = facet["_schemaURL"].partition("#")[0]
    event["schemaURL"] = CORE
    assert problems_of(event) == []
    del facet["storageLayer"]
    assert problems_of(event) == ['outputs[0].facets.storage: "storageLayer" is a required property']


def _airflow_event(event: Event) -> Event:
    """A task event with the facets that Airflow's provider puts into every one."""
    at = AT.isoformat()
    dag, run, task = {"dag_id": "d", "start_date": at}, {"dag_id": "d", "run_id": "r"}, {"task_id": "t"}
    event["run"]["facets"] |= {
        "nominalTime": _facet(nominal_time_run.NominalTimeRunFacet(at, at)),
        "airflow": _facet(RunFacet())
        | {
            "dag": dag,
            "dagRun": run,
            "task": task,
            "taskInstance": {"pool": "p", "try_number": 1},
            "taskUuid": "u",
        },
        "airflow_mappedTask": _facet(RunFacet()) | {"mapIndex": 1, "operatorClass": "x.Y"},
    }
    event["job"]["facets"] |= {
        "documentation": _facet(documentation_job.DocumentationJobFacet("what it does", "text/markdown")),
        "ownership": _facet(ownership_job.OwnershipJobFacet([ownership_job.Owner("me")])),
        "tags": _facet(tags_job.TagsJobFacet([tags_job.TagsJobFacetFields("k", "v", "AIRFLOW")])),
        "sourceCode": _facet(source_code_job.SourceCodeJobFacet("python", "pass")),
        "jobType": _facet(job_type_job.JobTypeJobFacet("BATCH", "AIRFLOW", "TASK")),
        "airflow": _facet(JobFacet()) | {"taskTree": {}, "taskGroups": {}, "tasks": {}},
    }
    return event


def _facet(facet: object) -> dict[str, Any]:
    return Serde.to_dict(facet)


def test_airflows_task_events_are_valid(event):
    assert problems_of(_airflow_event(event)) == []


@pytest.mark.parametrize(
    ("break_it", "where"),
    [
        (with_("run/facets/nominalTime/nominalStartTime", "noon"), "run.facets.nominalTime.nominalStartTime"),
        (without("job/facets/ownership/owners/0/name"), 'job.facets.ownership.owners[0]: "name"'),
        (without("job/facets/tags/tags/0/key"), 'job.facets.tags.tags[0]: "key"'),
        (without("job/facets/documentation/description"), 'job.facets.documentation: "description"'),
        (without("job/facets/sourceCode/language"), 'job.facets.sourceCode: "language"'),
    ],
)
def test_facets_of_airflows_events_are_checked_by_their_schemas(event, break_it, where):
    break_it(_airflow_event(event))
    assert [problem for problem in problems_of(event) if problem.startswith(where)], problems_of(event)


def test_schemas_need_neither_airflow_nor_the_client(event, tmp_path):
    """Nothing but jsonschema-rs is needed: events are checked where neither Airflow nor the client is."""
    for name in ("airflow_provider_spark_lineage", "jsonschema_rs", "typing_extensions"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        path = Path(str(spec.origin))
        path = path.parent if path.stem == "__init__" else path
        (tmp_path / path.name).symlink_to(path)
    del _airflow_event(event)["run"]["facets"]["airflow"]["task"]
    without(f"{OUT}/storage/storageLayer")(event)
    code = (
        "import json, sys\n"
        "from airflow_provider_spark_lineage.openlineage.events.validation import problems_of\n"
        "print(json.dumps(problems_of(json.load(sys.stdin))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ['outputs[0].facets.storage: "storageLayer" is a required property']


def _client_classes() -> list[type]:
    modules = [
        importlib.import_module(f"{generated.__name__}.{m.name}")
        for m in pkgutil.iter_modules(generated.__path__)
        if m.name != "base"
    ]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and attrs.has(value)
        and value.__name__.endswith("Facet")
    ]


@pytest.mark.parametrize("facet", _client_classes(), ids=lambda c: c.__name__)
def test_schemas_match_the_installed_client(facet, event):
    """After an update of the client: its version is known, and each property with type and duty."""
    fields = {a.name: a for a in attrs.fields(facet)}
    url = facet._get_schema()
    bare = {"_producer": "https://p.example", "_schemaURL": url}
    missing = {n for n, a in fields.items() if a.default is attrs.NOTHING}
    assert {
        re.findall('"(.*?)" is a required', p)[0] for p in _problems_of_facet(event, facet, bare)
    } == missing
    # A list with null in it is wrong for every type that the spec uses.
    wrong = {name: [None] for name in fields if name not in bare}
    refused = " ".join(_problems_of_facet(event, facet, bare | wrong))
    assert [name for name in wrong if f".x.{name}" not in refused] == []


def _problems_of_facet(event: Event, facet: type, value: dict[str, Any]) -> list[str]:
    kind = re.findall("(Run|Job|InputDataset|OutputDataset|Dataset)Facet$", facet.__name__)[0]
    place = {
        "Run": event["run"]["facets"],
        "Job": event["job"]["facets"],
        "InputDataset": event["inputs"][0]["inputFacets"],
        "OutputDataset": event["outputs"][0]["outputFacets"],
        "Dataset": event["outputs"][0]["facets"],
    }[kind]
    place["x"] = value
    return [p for p in problems_of(event) if "belongs under the key" not in p]


def test_validating_changes_nothing(event):
    before = copy.deepcopy(event)
    problems_of(event)
    assert event == before
    assert json.loads(json.dumps(event)) == event
