"""Lines of the page about a run: tests of no single dataset, places and resources of its applications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.facts import bottlenecks_of, lines_about
from airflow_provider_spark_lineage.spark.lineage.text import printable


def about(facets: Mapping[str, Any]) -> str:
    """Return a block of lines below a page, for the facets of a run; empty without any."""
    slow = [("slow", "   ".join(filter(None, entry.values()))) for entry in bottlenecks_of(facets)]
    lines = [f"{word:<7} {line}" for word, line in (*lines_about(facets), *slow)]
    return "".join(["\n", *(f"{printable(line)}\n" for line in lines)]) if lines else ""
