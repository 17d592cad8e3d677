"""A warehouse of lineage for programs with a Spark session: tables of OpenLineage events, and views.

    from airflow_provider_spark_lineage.warehouse import load, views

    load(spark, "events", "lineage")
    write_impact(spark, "lineage")
    views(spark, "lineage")
    spark.table("blast_radius").orderBy("jobs").show()

Needs the extra `warehouse`, and no Airflow. docs/warehouse.md describes the tables.
"""

from __future__ import annotations

from airflow_provider_spark_lineage.openlineage.warehouse.engines import views
from airflow_provider_spark_lineage.openlineage.warehouse.impact_tables import ImpactSummary, write_impact
from airflow_provider_spark_lineage.openlineage.warehouse.load import LoadSummary, load

__all__ = ["ImpactSummary", "LoadSummary", "load", "views", "write_impact"]
