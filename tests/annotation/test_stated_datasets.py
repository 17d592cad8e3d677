"""Datasets that the author states: each is there once, with the facets of Spark, which saw it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from annotation.asked_tasks import (
    CAPTURED,
    EVERYWHERE,
    ORDERS,
    RATES,
    REPORT,
    TOTALS,
    asked,
    assets,
    named,
    operator_of,
    report_by_hooks,
    stated,
)
from openlineage.client.event_v2 import Dataset as OpenLineageDataset
from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    data_quality_metrics_input_dataset,
    documentation_dataset,
    input_statistics_input_dataset,
    schema_dataset,
    symlinks_dataset,
)

from airflow_provider_spark_lineage.spark.facets.joined import joined

pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("provider")]


def table(cluster: str, database: str, name: str, **also: Any) -> Any:
    from airflow.providers.common.compat.lineage.entities import Table

    return Table(cluster=cluster, database=database, name=name, **also)


def file(url: str) -> Any:
    from airflow.providers.common.compat.lineage.entities import File

    return File(url=url)


def described(namespace: str, name: str) -> Any:
    """A dataset of OpenLineage with one facet that Spark has, and one that it lacks."""
    return OpenLineageDataset(
        namespace,
        name,
        facets={
            "documentation": documentation_dataset.DocumentationDatasetFacet(description="by hand"),
            "schema": schema_dataset.SchemaDatasetFacet(fields=[]),
        },
    )


def pairs(lineage: Any) -> set[tuple[str, str]]:
    """Return the names of whole datasets in explicit lineage: output, input."""
    if "lineage" not in lineage.job_facets:
        pytest.skip("OpenLineage's client has no such facet")
    return {
        (each.name, read.name)
        for each in lineage.job_facets["lineage"].entries
        for read in each.inputs
        if not getattr(read, "field", None)
    }


@pytest.mark.parametrize(
    "entity",
    [
        lambda: assets("file:///data/warehouse/totals")[0],
        lambda: file("file:///data/warehouse/totals"),
        lambda: described(*TOTALS),
        lambda: table("file:/data/warehouse", "default", "totals"),
    ],
    ids=["Asset", "File", "Dataset", "Table"],
)
@EVERYWHERE
def test_a_dataset_that_is_stated_and_captured_is_there_once(kind, entity, spark_did):
    """By its place or by its name in the catalog: with the facets of Spark, which saw it."""
    lineage = asked(kind, operator_of(kind, outlets=[entity()]), spark_did)
    assert named(lineage.outputs) == {TOTALS: CAPTURED}
    [totals] = lineage.outputs
    assert [field.name for field in totals.facets["schema"].fields] == ["customer", "total"]
    assert "columnLineage" in totals.facets


def test_facets_that_the_author_gives_a_captured_dataset_are_kept(spark_did):
    """Owners and descriptions are nowhere in a plan."""
    from airflow.providers.common.compat.lineage.entities import Column, User

    owned = table(
        "file:/data/warehouse",
        "default",
        "totals",
        description="per customer",
        columns=[Column(name="customer", data_type="string")],
        owners=[User(email="a@company.example")],
    )
    orders = described(*ORDERS)
    lineage = asked("ours", operator_of("ours", inlets=[orders], outlets=[owned]), spark_did)
    [totals], [read] = lineage.outputs, lineage.inputs
    assert totals.facets["documentation"].description == "per customer"
    assert totals.facets["ownership"].owners[0].name == "user:<a@company.example>"
    assert len(totals.facets["schema"].fields) == 2
    assert read.facets["documentation"].description == "by hand"
    assert set(orders.facets) == {"documentation", "schema"}, "the author's object is not changed"


def test_an_entry_that_is_not_a_dataset_is_left_out_alone(spark_did, caplog):
    """As the provider does; an entity that cannot be converted is one warning."""
    from airflow.providers.common.compat.lineage.entities import Column, User
    from airflow.sdk import Asset, AssetAlias

    inlets = [
        Asset.ref(name="a"),
        AssetAlias("b"),
        Column(name="c", data_type="int"),
        User(email="d"),
        *assets("x-unknown:e"),
        object(),
        file("no-path"),
        table("c", "d", "columns without names", columns=["a", "b"]),
        *assets("file:///data/rates"),
    ]
    lineage = asked("ours", operator_of("ours", inlets=inlets), spark_did)
    assert named(lineage.inputs) == {ORDERS: CAPTURED, RATES: "inlets"}
    [warning] = [each for each in caplog.messages if "inlets or outlets" in each]
    assert "Table in inlets or outlets is not in the lineage of this task" in warning


def test_explicit_lineage_has_stated_outlets(spark_did):
    """Spark names the sources of its own outputs: an inlet is not added to them. Hooks are in no pair."""
    report_by_hooks()
    lineage = asked("ours", operator_of("ours", **stated()), spark_did)
    assert pairs(lineage) == {(TOTALS[1], ORDERS[1]), (REPORT[1], ORDERS[1]), (REPORT[1], RATES[1])}


@pytest.mark.parametrize("uri", ["file:///data/orders", "file:///data/rates"])
def test_a_stated_outlet_does_not_come_from_itself(uri, spark_did):
    """Neither from Spark's input of that name, nor from an inlet, with any number of slashes."""
    named_twice = operator_of("ours", inlets=[file(uri), *assets("file:///data/rates")], outlets=assets(uri))
    lineage = asked("ours", named_twice, spark_did)
    own = "/" + uri.removeprefix("file:///")
    assert (own, {ORDERS[1]: RATES[1], RATES[1]: ORDERS[1]}[own]) in pairs(lineage)
    assert not [pair for pair in pairs(lineage) if pair[0].strip("/") == pair[1].strip("/")]


def test_data_are_not_merged_into_the_catalogs_entry_that_points_to_them():
    """An external table is both: its own name decides before another's symlink does."""
    link = symlinks_dataset.Identifier("file", "/data/t", "LOCATION")
    links = symlinks_dataset.SymlinksDatasetFacet(identifiers=[link])
    entry = OutputDataset("file:/wh", "default.t", facets={"symlinks": links})
    both = joined([entry, OutputDataset("file", "/data/t")], [described("file", "/data/t")], by="outlets")
    assert [sorted(each.facets) for each in both] == [["symlinks"], ["documentation", "schema"]]
    [alone] = joined([entry], [described("file", "/data/t")], by="outlets")
    assert sorted(alone.facets) == ["documentation", "schema", "symlinks"]


def test_facets_of_inputs_and_outputs_are_completed_too():
    """Ours stay. A dataset of another kind gives the facets that both kinds have."""
    quality = data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet(
        columnMetrics={}, rowCount=1
    )
    theirs = InputDataset("file", "/a", inputFacets={"dataQualityMetrics": quality, "inputStatistics": None})
    counts = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(rowCount=3)
    [merged] = joined([InputDataset("file", "/a", inputFacets={"inputStatistics": counts})], [theirs])
    assert merged.inputFacets == {"dataQualityMetrics": quality, "inputStatistics": counts}
    [output] = joined([OutputDataset("file", "/a")], [theirs])
    assert not output.outputFacets


def test_assets_that_the_tasks_code_gives_to_aliases_are_outputs(spark_did, monkeypatch):
    """Also to the alias that carries the assets of Spark, which are not reported a second time."""
    from airflow.providers.openlineage.utils import utils
    from airflow.sdk import AssetAlias

    if not hasattr(utils, "get_runtime_outlet_assets"):
        pytest.skip("this provider reports no such assets")
    resolved = [*assets("file:///data/warehouse/totals", "file:///by/pandas"), *assets("file:///data/report")]
    pairs = [
        (asset, AssetAlias(name)) for asset, name in zip(resolved, ["d.t", "d.t", "theirs"], strict=True)
    ]
    monkeypatch.setattr(utils, "get_runtime_outlet_assets", lambda _: pairs)
    lineage = asked("ours", operator_of("ours"), spark_did)
    expected = {TOTALS: CAPTURED, ("file", "/by/pandas"): "outlets", REPORT: "outlets"}
    assert named(lineage.outputs) == expected
    assert named(asked("ours", operator_of("ours"), spark_did, "failed").outputs) == {TOTALS: CAPTURED}


def test_facets_are_those_of_the_schema(spark_did):
    """An event with the facet is valid for the harness, which has its schema."""
    from openlineage.client.serde import Serde

    lineage = asked("ours", operator_of("ours", **stated()), spark_did)
    [rates] = [each for each in lineage.inputs if each.name == RATES[1]]
    facet = Serde.to_dict(rates)["facets"]["sparkLineage_stated"]
    assert facet["by"] == "inlets"
    assert re.search(r"/SparkLineageStatedDatasetFacet\.json#", facet["_schemaURL"])
