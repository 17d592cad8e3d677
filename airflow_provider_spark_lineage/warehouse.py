"""A warehouse of lineage for programs with a Spark session: tables of OpenLineage events, views and pictures.

    from airflow_provider_spark_lineage.warehouse import load, picture, views

    load(spark, "events", "lineage")
    write_impact(spark, "lineage")
    views(spark, "lineage")
    spark.table("blast_radius").orderBy("jobs").show()
    picture("lineage", "gold/orders", depth=2)

Needs the extra `warehouse`, and no Airflow. docs/warehouse.md describes the tables.
"""

from __future__ import annotations

from pathlib import Path

from airflow_provider_spark_lineage.openlineage.graph.selection import dataset_columns
from airflow_provider_spark_lineage.openlineage.viewer.around import DEPTH, picture_around, picture_of_all
from airflow_provider_spark_lineage.openlineage.viewer.notebook import Picture
from airflow_provider_spark_lineage.openlineage.warehouse.asking import graph_in, loaded_tables
from airflow_provider_spark_lineage.openlineage.warehouse.engines import views
from airflow_provider_spark_lineage.openlineage.warehouse.impact_tables import ImpactSummary, write_impact
from airflow_provider_spark_lineage.openlineage.warehouse.load import LoadSummary, load

__all__ = ["ImpactSummary", "LoadSummary", "Picture", "load", "picture", "views", "write_impact"]


def picture(warehouse: Path | str, *datasets: str, depth: int = DEPTH) -> Picture:
    """Return what leads to some datasets, and what follows from them, through `depth` jobs, for a notebook.

    A dataset is named as in `spark-lineage impact`, by the end of its name; a column is shown with its trace.
    Without datasets, the picture has all lineage. It needs no Spark. Raise `BadInputError` if a name is
    unknown or not unique, or if the warehouse is too large for one picture.
    """
    current, graph = graph_in(loaded_tables(warehouse))
    if not datasets:
        return Picture(picture_of_all(current, str(warehouse)))
    return Picture(picture_around(current, dataset_columns(current, graph, datasets), depth))
