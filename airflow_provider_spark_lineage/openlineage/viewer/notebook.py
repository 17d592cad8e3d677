"""The picture of a capture in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.viewer.listing import listing
from airflow_provider_spark_lineage.openlineage.viewer.page import frame_of


def picture_of(events: Iterable[Mapping[str, Any]], text: str) -> str:
    """Return a sandboxed frame that draws OpenLineage events; without scripts, it shows `text`."""
    return frame_of(listing(Events.of(events), title="Spark lineage"), text)
