"""Events that brokers would refuse: they become smaller, and a gap says what is missing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timezone

import pytest
from gap_kinds import gap_kinds
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, ColumnMetrics, Findings, Metrics
from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.spark.facets.events import (
    END,
    RUNNING,
    START,
    EventExecution,
    RunIdentity,
    execution_events,
)
from airflow_provider_spark_lineage.spark.facets.executions import executions_facets
from airflow_provider_spark_lineage.spark.facets.jobs import lineage_job_facets
from airflow_provider_spark_lineage.spark.facets.runs import error_facet, lineage_run_facets
from airflow_provider_spark_lineage.spark.facets.size import MARGIN_BYTES, EventContent, fitted, size_of
from airflow_provider_spark_lineage.spark.facets.size_of_run import (
    fitting_facets,
    fitting_findings,
    size_of_findings,
)
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    ExecutionSummary,
    Failure,
    Field,
    Gap,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity, Symlink

SOURCE, TARGET = DatasetId("s3://lake", "bronze/orders"), DatasetId("s3://lake", "silver/orders")


def wide(columns, *, conditions=0, filters=0, target=TARGET):
    """An output whose columns are copied; each depends on `conditions` columns, and all on `filters`."""
    names = [f"column_{number}" for number in range(columns)]
    fields = tuple(Field(name, "string") for name in names)
    edges = [Edge(SOURCE, name, Kind.IDENTITY, column=name) for name in names]
    edges += [
        Edge(SOURCE, f"column_{number}", Kind.CONDITIONAL, column=name)
        for name in names
        for number in range(conditions)
    ]
    edges += [Edge(SOURCE, f"column_{number}", Kind.FILTER) for number in range(filters)]
    edges.sort(key=lambda edge: edge.order)
    write = Output(Dataset(Identity(target), fields), Mode.OVERWRITE, edges=tuple(edges), inputs=(SOURCE,))
    return Lineage((Input(Dataset(Identity(SOURCE), fields)),), (write,))


def size(content):
    lineage = content.lineage
    per_field = content.repeats_dataset_edges
    parts = [*input_datasets(lineage), *output_datasets(lineage, dataset_edges_per_field=per_field)]
    parts += lineage_job_facets(lineage).values()
    parts += [*lineage_run_facets(lineage).values(), *error_facet(lineage.failures).values()]
    return sum(len(json.dumps(Serde.to_dict(part))) for part in parts) + len(content.sql)


def reason(content):
    return [gap.reason.partition("leaves out ")[2] for gap in content.lineage.gaps]


def test_a_usual_event_stays_as_it_is():
    """Nothing is lost that fits."""
    content = EventContent(wide(50, conditions=2, filters=3), "select 1", repeats_dataset_edges=True)
    assert fitted(content, 900_000) == content


@pytest.mark.parametrize(
    ("content", "limit", "lost"),
    [
        (EventContent(wide(200, conditions=20)), 600_000, "columns that influence single columns"),
        (
            EventContent(wide(200, filters=30), repeats_dataset_edges=True),
            600_000,
            "columns that influence single columns",
        ),
        (EventContent(wide(20), "select 1 -- " + "x" * 900_000), 600_000, "the statement"),
        (EventContent(wide(2_000)), 600_000, "the sources of the columns of silver/orders"),
        (
            EventContent(wide(2_000)),
            200_000,
            "the sources of the columns of silver/orders, the schemas of inputs",
        ),
    ],
)
def test_what_is_left_out_follows_an_order_and_is_named(content, limit, lost):
    """Values before influences, datasets before columns; the gap names exactly what is missing."""
    smaller = fitted(content, limit)
    assert size(smaller) <= limit < size(content)
    assert reason(smaller) == [lost]


def test_of_several_outputs_the_widest_loses_its_columns_first():
    """A small table beside a huge one keeps its lineage."""
    small = DatasetId("s3://lake", "silver/countries")
    lineage = wide(2_000)
    lineage = replace(lineage, outputs=(*lineage.outputs, *wide(5, target=small).outputs))
    smaller = fitted(EventContent(lineage), 600_000)
    assert reason(smaller) == ["the sources of the columns of silver/orders"]
    assert [len(write.edges) for write in smaller.lineage.outputs] == [0, 5]
    assert [write.inputs for write in smaller.lineage.outputs] == [(SOURCE,), (SOURCE,)]


def test_many_outputs_are_one_sentence():
    """A task that writes a hundred wide tables keeps its datasets, and its gap is readable."""
    outputs = [wide(100, target=DatasetId("s3://lake", f"silver/table_{n}")).outputs[0] for n in range(100)]
    lineage = Lineage(wide(100).inputs, tuple(outputs))
    smaller = fitted(EventContent(lineage), 900_000)
    assert size(smaller) <= 900_000
    [left_out] = reason(smaller)
    assert re.fullmatch(r"the sources of the columns of silver/table_\d+ and \d+ more outputs", left_out)
    assert [write.dataset.id for write in smaller.lineage.outputs] == [each.dataset.id for each in outputs]


def test_long_types_count():
    """A column may be a struct with hundreds of fields."""
    struct = "struct<" + ",".join(f"field_{n}:string" for n in range(500)) + ">"
    fields = tuple(Field(f"column_{n}", struct) for n in range(50))
    write = Output(Dataset(Identity(TARGET), fields), Mode.OVERWRITE)
    content = EventContent(Lineage((Input(Dataset(Identity(SOURCE), fields)),), (write,)))
    assert size(fitted(content, 900_000)) <= 900_000


def test_facets_of_the_run_take_their_part():
    """A limit is of the whole event: with long messages of errors, fewer columns fit."""
    content = EventContent(wide(500))
    assert fitted(content, 900_000) == content
    assert size(fitted(content, 900_000, used_bytes=700_000)) <= 900_000 // 4


def test_two_thousand_columns_with_everything_indirect():
    """The widest tables of users: four million edges, if each column repeats all filters."""
    content = EventContent(wide(2_000, filters=2_000), repeats_dataset_edges=True)
    smaller = fitted(content, 900_000)
    assert size(smaller) <= 900_000
    assert reason(smaller)[0].startswith("columns that influence single columns")


def inputs(count, *, columns=3):
    fields = tuple(Field(f"column_{number}", "string") for number in range(columns))
    ids = [DatasetId("s3://lake", f"bronze/{number:05}") for number in range(count)]
    return tuple(Input(Dataset(Identity(each, "s3", "parquet"), fields)) for each in ids)


def outputs(count, *, sources=1, name="table"):
    reads = tuple(DatasetId("s3://lake", f"bronze/{number:05}") for number in range(sources))
    links = (Symlink("hive://metastore:9083", "shop.orders"),)
    [write] = wide(3).outputs
    ids = [DatasetId("s3://lake", f"silver/{name}_{number:05}") for number in range(count)]
    identities = [Identity(each, "s3", "parquet", links) for each in ids]
    return tuple(
        replace(write, dataset=Dataset(each, write.dataset.fields), inputs=reads) for each in identities
    )


LONG = "m" * 20_000
LARGE = {
    "outputs": (Lineage(inputs(1), outputs(3_000)), "of 3,000 outputs"),
    "inputs": (Lineage(inputs(4_000), outputs(1, sources=4_000)), "of 4,000 inputs"),
    "inputs of each output": (Lineage(inputs(50), outputs(600, sources=50)), "of 600 outputs"),
    "a name": (Lineage(inputs(1), outputs(2, name="x" * 1_000_000)), "2 of 2 outputs"),
    "failures": (
        Lineage(inputs(1), outputs(2), failures=(Failure("org.apache.Error", LONG),) * 300),
        "messages of more than 500 characters",
    ),
    "gaps": (
        Lineage(inputs(1), outputs(2), gaps=(Gap("text", Reason(GapKind.UNKNOWN, LONG)),) * 300),
        "messages of more than 500 characters",
    ),
    "names in gaps": (
        Lineage(
            inputs(1),
            outputs(2),
            gaps=(Gap("text", Reason(GapKind.UNKNOWN, "odd"), DatasetId("file", LONG)),) * 300,
        ),
        "280 gaps",
    ),
}


@pytest.mark.parametrize("limit", [60_000, 900_000])
@pytest.mark.parametrize("what", LARGE)
def test_the_limit_holds_whatever_makes_an_event_large(what, limit):
    """Brokers refuse a larger event, and then everything in it is lost; the gap counts the missing parts."""
    lineage, lost = LARGE[what]
    smaller = fitted(EventContent(lineage), limit)
    assert size(smaller) <= max(limit - MARGIN_BYTES, limit // 4) < size(EventContent(lineage))
    gap = smaller.lineage.gaps[0]
    assert gap.kind is GapKind.EVENT_TOO_LARGE
    assert len(gap.reason) < 2_000
    if limit == 900_000:
        assert lost in gap.reason


@pytest.mark.parametrize("what", LARGE)
def test_events_of_executions_hold_the_limit(what):
    """START, RUNNING, FAIL and ABORT, with their facets."""
    at, limit = datetime(2026, 1, 1, tzinfo=timezone.utc), 100_000
    execution = EventExecution("dag.task.out", at, at, LARGE[what][0], "select 1", "4.1.0")
    ends = [
        replace(execution, states=(START, RUNNING, END)),
        replace(execution, states=(END,), is_unfinished=True),
    ]
    parent = RunIdentity("0190a0a0-0000-7000-8000-000000000000", "tests", "dag.task")
    events = list(execution_events(ends, parent, application_id="local-1", max_bytes=limit))
    assert len(events) == 4
    assert [event.eventType for event in events if len(Serde.to_json(event)) > limit] == []


def test_of_many_datasets_the_first_ones_stay_with_their_sources():
    """An output whose inputs are not listed would claim that it was made of nothing."""
    lineage = Lineage(inputs(3_000), outputs(3_000, sources=3))
    smaller = fitted(EventContent(lineage), 900_000).lineage
    assert len(smaller.inputs) > 300
    assert len(smaller.outputs) > 300
    assert {write.inputs for write in smaller.outputs} == {lineage.outputs[0].inputs}
    assert smaller.inputs[0].dataset.id == lineage.inputs[0].dataset.id
    assert smaller.outputs[0].dataset.id == lineage.outputs[0].dataset.id


def test_a_few_inputs_stay_beside_thousands_of_outputs():
    """The shares follow the numbers: one input costs nothing."""
    smaller = fitted(EventContent(Lineage(inputs(2), outputs(3_000))), 100_000).lineage
    assert len(smaller.inputs) == 2
    assert smaller.outputs


def test_what_is_left_out_is_the_first_gap():
    """An event lists a limited number of gaps: the one about the missing parts is among them."""
    gaps = tuple(Gap("text", Reason(GapKind.UNKNOWN, f"odd {number}")) for number in range(200))
    smaller = fitted(EventContent(Lineage(inputs(1), outputs(3_000), gaps)), 900_000)
    assert gap_kinds(smaller.lineage)[:2] == ["event_too_large", "unknown"]


def test_the_largest_facets_of_a_run_are_left_out():
    """Executions with long names take no more than their share of an event."""
    at = "2026-01-01T00:00:00"
    names = tuple(DatasetId("s3://lake", f"{number}" * 1_000) for number in range(10))
    executions = [ExecutionSummary(number, "save", at, at, False, reads=names) for number in range(100)]
    facets = {
        **executions_facets(executions),
        **lineage_run_facets(Lineage(gaps=(Gap("a", Reason(GapKind.UNKNOWN, "b")),))),
    }
    kept, left_out = fitting_facets(facets, 900_000)
    assert left_out == ["sparkLineage_executions"]
    assert size_of(kept) < 1_000
    assert fitting_facets(kept, 900_000) == (kept, [])


def test_failed_checks_stay_in_an_event_that_cannot_have_all():
    """Thousands of checks, and metrics of thousands of columns, take no more than their share."""
    found = [
        Assertion(f"check_{number}", number % 100 > 0, f"check_{number}", "min", content="x" * 400)
        for number in range(2_000)
    ]
    metrics = Metrics(1, {f"column_{number}": ColumnMetrics(1, 1) for number in range(3_000)})
    findings = [Findings(tuple(found), metrics)]
    kept, left_out = fitting_findings(findings, "full", 900_000)
    assert size_of_findings(kept, "full") <= 900_000 // 4
    assert sum(not each.success for each in kept[0].assertions) == 20
    assert left_out[0] == "the metrics of columns"
    assert re.fullmatch(r"[\d,]+ of 2,000 results of checks", left_out[1])
    assert fitting_findings(kept[:1], "full", 9_000_000) == (kept, [])
