"""Lineage of Spark jobs that run from Apache Airflow, as OpenLineage events, without a jar on the cluster."""

from __future__ import annotations

__version__ = "0.1.0"
