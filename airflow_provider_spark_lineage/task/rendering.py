"""Conversion of a lineage into the provider's `OperatorLineage`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.lineage.model import Lineage


def rendered(lineage: Lineage) -> OperatorLineage:
    """Return new OpenLineage objects on each call, because the provider's redactor modifies them."""
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.facets.datasets import input_datasets, output_datasets
    from airflow_provider_spark_lineage.facets.jobs import lineage_job_facets
    from airflow_provider_spark_lineage.facets.runs import lineage_run_facets

    return OperatorLineage(
        inputs=input_datasets(lineage),
        outputs=output_datasets(lineage, dataset_edges_per_field=conf.repeat_dataset_edges()),
        run_facets=lineage_run_facets(lineage),
        job_facets=lineage_job_facets(lineage),
    )
