"""Events that brokers would refuse: they become smaller, and a gap says what is missing."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.facets.jobs import lineage_job_facets
from airflow_provider_spark_lineage.facets.size import Content, fitted
from airflow_provider_spark_lineage.lineage.model import (
    Dataset,
    Edge,
    Field,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
)
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Identity

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
    return sum(len(json.dumps(Serde.to_dict(part))) for part in parts) + len(content.sql)


def reason(content):
    return [gap.reason.partition("leaves out ")[2] for gap in content.lineage.gaps]


def test_a_usual_event_stays_as_it_is():
    """Nothing is lost that fits."""
    content = Content(wide(50, conditions=2, filters=3), "select 1", repeats_dataset_edges=True)
    assert fitted(content, 900_000) == content


@pytest.mark.parametrize(
    ("content", "limit", "lost"),
    [
        (Content(wide(200, conditions=20)), 600_000, "columns that influence single columns"),
        (
            Content(wide(200, filters=30), repeats_dataset_edges=True),
            600_000,
            "columns that influence single columns",
        ),
        (Content(wide(20), "select 1 -- " + "x" * 900_000), 600_000, "the statement"),
        (Content(wide(2_000)), 600_000, "the sources of the columns of silver/orders"),
        (
            Content(wide(2_000)),
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
    smaller = fitted(Content(lineage), 600_000)
    assert reason(smaller) == ["the sources of the columns of silver/orders"]
    assert [len(write.edges) for write in smaller.lineage.outputs] == [0, 5]
    assert [write.inputs for write in smaller.lineage.outputs] == [(SOURCE,), (SOURCE,)]


def test_many_outputs_are_one_sentence():
    """A task that writes a hundred wide tables keeps its datasets, and its gap is readable."""
    outputs = [wide(100, target=DatasetId("s3://lake", f"silver/table_{n}")).outputs[0] for n in range(100)]
    lineage = Lineage(wide(100).inputs, tuple(outputs))
    smaller = fitted(Content(lineage), 900_000)
    assert size(smaller) <= 900_000
    [left_out] = reason(smaller)
    assert re.fullmatch(r"the sources of the columns of silver/table_\d+ and \d+ more outputs", left_out)
    assert [write.dataset.id for write in smaller.lineage.outputs] == [each.dataset.id for each in outputs]


def test_long_types_count():
    """A column may be a struct with hundreds of fields."""
    struct = "struct<" + ",".join(f"field_{n}:string" for n in range(500)) + ">"
    fields = tuple(Field(f"column_{n}", struct) for n in range(50))
    write = Output(Dataset(Identity(TARGET), fields), Mode.OVERWRITE)
    content = Content(Lineage((Input(Dataset(Identity(SOURCE), fields)),), (write,)))
    assert size(fitted(content, 900_000)) <= 900_000


def test_facets_of_the_run_take_their_part():
    """A limit is of the whole event: with long messages of errors, fewer columns fit."""
    content = Content(wide(500))
    assert fitted(content, 900_000) == content
    assert size(fitted(content, 900_000, used_bytes=700_000)) <= 900_000 // 4


def test_two_thousand_columns_with_everything_indirect():
    """The widest tables of users: four million edges, if each column repeats all filters."""
    content = Content(wide(2_000, filters=2_000), repeats_dataset_edges=True)
    smaller = fitted(content, 900_000)
    assert size(smaller) <= 900_000
    assert reason(smaller)[0].startswith("columns that influence single columns")
