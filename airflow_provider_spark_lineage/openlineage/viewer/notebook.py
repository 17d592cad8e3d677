"""Pictures in a notebook: of a capture, and of the lineage of many runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.viewer.around import text_of
from airflow_provider_spark_lineage.openlineage.viewer.listing import listing
from airflow_provider_spark_lineage.openlineage.viewer.page import frame_of


def picture_of(events: Iterable[Mapping[str, Any]], text: str) -> str:
    """Return a sandboxed frame that draws OpenLineage events; without scripts, it shows `text`."""
    return frame_of(listing(Events.of(events), title="Spark lineage"), text)


class Picture:
    """Lineage of many runs as a picture, which a notebook shows; `str` has what each job reads and writes."""

    def __init__(self, page: Mapping[str, Any]) -> None:
        self._page = page

    def __repr__(self) -> str:
        """Return the jobs as text."""
        return text_of(self._page)

    def _repr_html_(self) -> str:
        """Return a sandboxed frame for a notebook; without scripts, it shows the text."""
        return frame_of(self._page, repr(self))
