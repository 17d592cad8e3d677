from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Input,
    Kind,
    Lineage,
    Mode,
    Statistics,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity


def read(lineage: Lineage) -> list[dict[str, Any]]:
    return [_plain(Serde.to_dict(dataset)) for dataset in input_datasets(lineage)]


def written(lineage: Lineage, **options: bool) -> list[dict[str, Any]]:
    return [_plain(Serde.to_dict(dataset)) for dataset in output_datasets(lineage, **options)]


def _plain(value: Any) -> Any:
    """Return facets without the fields that every facet carries, so that tests show only their subject."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k not in ("_producer", "_schemaURL")}
    return [_plain(v) for v in value] if isinstance(value, list) else value


def _with_output(lineage: Lineage, **changes: Any) -> Lineage:
    return replace(lineage, outputs=(replace(lineage.outputs[0], **changes),))


def test_datasets_keep_name_and_order_of_the_model(totals):
    assert [(d["namespace"], d["name"]) for d in read(totals)] == [
        ("file", "/in/orders"),
        ("s3://lake", "in/customers"),
    ]
    assert [(d["namespace"], d["name"]) for d in written(totals)] == [("file", "/out/totals")]


def test_schema_has_the_types_of_the_java_agent(totals):
    assert read(totals)[0]["facets"]["schema"] == {
        "fields": [
            {"name": "customer", "type": "string"},
            {"name": "amount", "type": "decimal(10,2)"},
            {"name": "password", "type": "string"},
            {
                "name": "address",
                "type": "struct",
                "fields": [
                    {"name": "street", "type": "string"},
                    {
                        "name": "geo",
                        "type": "struct",
                        "fields": [{"name": "lat", "type": "double"}, {"name": "lon", "type": "double"}],
                    },
                ],
            },
        ]
    }


def test_a_dataset_without_known_columns_claims_no_schema(totals):
    dataset = replace(totals.inputs[1].dataset, fields=())
    facets = read(Lineage(inputs=(replace(totals.inputs[1], dataset=dataset),)))[0]["facets"]
    assert set(facets) == {"dataSource"}


def test_where_a_dataset_lies_and_what_else_it_is_called(totals):
    facets = read(totals)[0]["facets"]
    assert facets["dataSource"] == {"name": "file", "uri": "file:///"}
    assert facets["storage"] == {"storageLayer": "file", "fileFormat": "parquet"}
    assert facets["symlinks"] == {
        "identifiers": [{"namespace": "hive://metastore:9083", "name": "sales.orders", "type": "TABLE"}]
    }


def test_a_dataset_that_spark_does_not_store_has_no_storage_facet(totals):
    assert set(read(totals)[1]["facets"]) == {"dataSource", "schema"}


def test_locations_that_were_trimmed_from_the_name_are_kept(totals):
    assert read(totals)[0]["inputFacets"]["subset"] == {
        "inputCondition": {
            "type": "location",
            "locations": ["file:/in/orders/day=1", "file:/in/orders/day=2"],
        }
    }
    identity = replace(totals.outputs[0].dataset.identity, locations=("file:/out/totals/day=1",))
    lineage = _with_output(totals, dataset=replace(totals.outputs[0].dataset, identity=identity))
    assert written(lineage)[0]["outputFacets"]["subset"]["outputCondition"]["locations"] == [
        "file:/out/totals/day=1"
    ]


def test_pattern_is_the_part_that_was_read_and_not_what_it_matched(totals):
    """An event does not grow with the number of files that a wildcard finds."""
    files = tuple(f"file:/in/orders/{number}.json" for number in range(1000))
    identity = replace(
        totals.inputs[0].dataset.identity, locations=files, patterns=("file:/in/orders/*.json",)
    )
    orders = replace(totals.inputs[0], dataset=replace(totals.inputs[0].dataset, identity=identity))
    (facets,) = read(Lineage(inputs=(orders,)))
    assert facets["inputFacets"]["subset"]["inputCondition"]["locations"] == ["file:/in/orders/*.json"]


def test_statistics_say_only_what_spark_measured(totals):
    assert read(totals)[0]["inputFacets"]["inputStatistics"] == {"rowCount": 9, "size": 2048, "fileCount": 2}
    assert written(totals)[0]["outputFacets"]["outputStatistics"] == {"rowCount": 3}


def test_no_measure_gives_no_facet_and_zero_is_a_measure(totals):
    assert read(totals)[1]["inputFacets"] == {}
    zero = _with_output(totals, statistics=Statistics(rows=0))
    assert written(zero)[0]["outputFacets"]["outputStatistics"] == {"rowCount": 0}


def test_column_lineage_merges_all_that_was_done_to_one_field(totals):
    """Two edges from one field to one column are one input field with both transformations."""
    fields = written(totals)[0]["facets"]["columnLineage"]["fields"]
    assert list(fields) == ["customer", "password", "total"]
    assert fields["total"]["inputFields"] == [
        {
            "namespace": "file",
            "name": "/in/orders",
            "field": "amount",
            "transformations": [
                {"type": "DIRECT", "subtype": "AGGREGATION", "masking": False},
                {"type": "INDIRECT", "subtype": "CONDITIONAL", "masking": False},
            ],
        }
    ]
    assert fields["password"]["inputFields"][0]["transformations"] == [
        {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
    ]


def test_a_field_of_a_struct_is_listed_beside_its_column(totals):
    """A consumer finds the field among the dataset's columns; the description names the field inside it."""
    orders = totals.inputs[0].dataset.id
    edges = (
        Edge(orders, "address", Kind.IDENTITY, column="lat", part="geo.lat"),
        Edge(orders, "address", Kind.IDENTITY, column="place"),
    )
    fields = written(_with_output(totals, edges=edges))[0]["facets"]["columnLineage"]["fields"]
    assert [fields[name]["inputFields"] for name in ("lat", "place")] == [
        [
            {
                "namespace": "file",
                "name": "/in/orders",
                "field": "address",
                "transformations": [
                    {
                        "type": "DIRECT",
                        "subtype": "TRANSFORMATION",
                        "description": "address.geo.lat",
                        "masking": False,
                    }
                ],
            }
        ],
        [
            {
                "namespace": "file",
                "name": "/in/orders",
                "field": "address",
                "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}],
            }
        ],
    ]


def test_edges_on_the_whole_output_are_listed_once_beside_the_fields(totals):
    lineage = written(totals)[0]["facets"]["columnLineage"]
    assert [
        (e["name"], e["field"], [t["subtype"] for t in e["transformations"]]) for e in lineage["dataset"]
    ] == [
        ("/in/orders", "customer", ["JOIN", "GROUP_BY"]),
        ("in/customers", "id", ["JOIN"]),
    ]
    assert "one" not in lineage["fields"]


def test_option_repeats_edges_on_the_whole_output_for_each_column(totals):
    """Also for a literal column; the field's own edges are neither lost nor doubled."""
    lineage = written(totals, dataset_edges_per_field=True)[0]["facets"]["columnLineage"]
    assert lineage["dataset"] == written(totals)[0]["facets"]["columnLineage"]["dataset"]
    assert set(lineage["fields"]) == {"customer", "total", "password", "one"}
    assert lineage["fields"]["one"]["inputFields"] == lineage["dataset"]
    customer, _ = lineage["fields"]["customer"]["inputFields"]
    assert [t["subtype"] for t in customer["transformations"]] == ["IDENTITY", "JOIN", "GROUP_BY"]


def test_only_edges_on_the_whole_output_leave_the_fields_empty(totals):
    edges = tuple(e for e in totals.outputs[0].edges if not e.column)
    lineage = written(_with_output(totals, edges=edges))[0]["facets"]["columnLineage"]
    assert lineage["fields"] == {}
    assert len(lineage["dataset"]) == 2


def test_without_edges_there_is_no_column_lineage(totals):
    assert "columnLineage" not in written(_with_output(totals, edges=()))[0]["facets"]


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.APPEND])
def test_what_a_write_does_to_its_dataset(totals, mode):
    facets = written(_with_output(totals, mode=mode))[0]["facets"]
    assert facets["lifecycleStateChange"] == {"lifecycleStateChange": mode.name}


def test_append_changes_no_lifecycle_state(totals):
    """The spec has no state for it, and any other would be wrong."""
    assert "lifecycleStateChange" not in written(_with_output(totals, mode=Mode.APPEND))[0]["facets"]


def test_facets_name_us_as_producer(totals):
    facets = [*input_datasets(totals)[0].facets.values(), *output_datasets(totals)[0].facets.values()]
    assert {facet._producer for facet in facets} == {PRODUCER}


def test_each_call_builds_objects_of_its_own(totals):
    """The provider's redactor writes into them: a masked value of one event must not reach another."""
    for build in (input_datasets, output_datasets):
        first, second = (_objects(build(totals)) for _ in range(2))
        assert not first.keys() & second.keys()
        assert build(totals) == build(totals)


def _objects(value: Any) -> dict[int, Any]:
    """Every mutable object reachable from a value, kept alive by the values of the result."""
    objects = {}
    if isinstance(value, list):
        objects = {id(value): value} | {k: v for item in value for k, v in _objects(item).items()}
    elif isinstance(value, dict):
        objects = {id(value): value} | _objects(list(value.values()))
    elif hasattr(value, "__attrs_attrs__"):
        inner = [getattr(value, attribute.name) for attribute in value.__attrs_attrs__]
        objects = {id(value): value} | _objects(inner)
    return objects


@pytest.mark.parametrize(
    ("namespace", "storage_layer", "uri"),
    [
        ("file", "file", "file:///"),
        ("file", "iceberg", "file:///"),
        ("dbfs", "delta", "dbfs:///"),
        ("spark_catalog", "", "catalog:///spark_catalog"),
        ("lake", "", "catalog:///lake"),
        ("my catalog: 2", "", "catalog:///my%20catalog:%202"),
        ("s3://bucket", "s3", "s3://bucket"),
        ("file:/ware house#1", "", "file:/ware%20house%231"),
        ("postgres://db:5432", "", "postgres://db:5432"),
        ("postgres://[2001:db8::1]:5432", "", "postgres://[2001:db8::1]:5432"),
        ("arn:aws:glue:eu-west-1:1", "", "arn:aws:glue:eu-west-1:1"),
        ("odd://my host/été%20[1]%", "", "odd://my%20host/%C3%A9t%C3%A9%20%5B1%5D%25"),
    ],
)
def test_the_data_source_is_the_namespace(namespace, storage_layer, uri):
    """Its URI is a valid one (RFC 3986), of every namespace; an escaped character stays escaped."""
    identity = Identity(DatasetId(namespace, "a/b"), storage_layer=storage_layer)
    (dataset,) = input_datasets(Lineage(inputs=(Input(Dataset(identity)),)))
    assert (dataset.facets["dataSource"].name, dataset.facets["dataSource"].uri) == (namespace, uri)
