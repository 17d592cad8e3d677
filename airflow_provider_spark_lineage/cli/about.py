"""Lines of the page about a run: tests of no single dataset, places and resources of its applications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.facts import bottlenecks_of, lines_about
from airflow_provider_spark_lineage.spark.lineage.text import printable


def about(facets: Mapping[str, Any], *, has_ended: bool = False) -> str:
    """Return a block of lines below a page, for the facets of a run; empty without any.

    If the run `has_ended`, the page of its driver is gone, and its address is left out.
    """
    slow = [("slow", "   ".join(filter(None, entry.values()))) for entry in bottlenecks_of(facets)]
    lines = [f"{word:<7} {line}" for word, line in (*lines_about(facets, has_ended=has_ended), *slow)]
    return "".join(["\n", *(f"{printable(line)}\n" for line in lines)]) if lines else ""
