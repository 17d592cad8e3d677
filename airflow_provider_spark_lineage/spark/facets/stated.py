"""Dataset facet of inlets and outlets that were not captured from Spark."""

from __future__ import annotations

from typing import Any

import attrs
from openlineage.client.facet_v2 import DatasetFacet

from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER, OwnSchema

STATED = "sparkLineage_stated"
"""Key of `SparkLineageStatedDatasetFacet`."""


@attrs.define
class SparkLineageStatedDatasetFacet(OwnSchema, DatasetFacet):
    """The dataset is only an inlet or outlet of the task; a dataset without this facet was captured."""

    by: str
    """`inlets` or `outlets`, the argument of the operator."""


def stated_facet(by: str) -> dict[str, DatasetFacet]:
    """Return the facet under its key."""
    return {STATED: SparkLineageStatedDatasetFacet(by=by, producer=PRODUCER)}


def is_stated(dataset: Any) -> bool:
    """Return whether an OpenLineage dataset has the facet."""
    return STATED in (dataset.facets or {})
