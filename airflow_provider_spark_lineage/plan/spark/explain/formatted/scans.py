"""Reader of the scans of a `formatted` text: the columns and the location of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from airflow_provider_spark_lineage.plan.spark.explain import types
from airflow_provider_spark_lineage.plan.spark.explain.columns import definitions
from airflow_provider_spark_lineage.plan.spark.explain.formatted.text import Formatted
from airflow_provider_spark_lineage.plan.spark.explain.formatted.translation import NO_COLUMN
from airflow_provider_spark_lineage.plan.spark.explain.physical import Scan, kinds_of, listed_paths
from airflow_provider_spark_lineage.plan.spark.explain.sections import UnreadableError

_MORE = re.compile(r"(.*), \.\.\. (\d+) entries", re.DOTALL)
_LOCATION = re.compile(r"(\w+) \[(.*)\]")


def scans_of_operators(
    formatted: Formatted, locations: Sequence[str]
) -> tuple[list[Scan], dict[int, types.Type]]:
    """Return all scans of a text, and the types of their columns."""
    scans: list[Scan] = []
    kinds: dict[int, types.Type] = {}
    for operator in formatted.numbered.values():
        if not operator.name.startswith("Scan ") or "Output" not in operator.details:
            continue
        try:
            items = definitions(operator.details["Output"].strip("[]"), ", ")
        except UnreadableError:
            continue
        relation = operator.name.partition(" ")[2]
        match = _LOCATION.fullmatch(operator.details.get("Location", ""))
        paths = _paths(match[1], match[2], locations) if match else ()
        columns = tuple((expr_id, name) for expr_id, name, _, _ in items)
        columns = columns or ((NO_COLUMN + int(operator.number), "rows"),)
        scan = Scan(columns, relation, relation.partition(" ")[0], match[1] if match else "", paths)
        scans.append(scan)
        kinds.update(kinds_of(operator.details.get("ReadSchema", ""), scan))
    return scans, kinds


def _paths(index: str, text: str, locations: Sequence[str]) -> tuple[str, ...]:
    """Return the folders of a scan; of several folders its text has the first: `[file:/a, ... 2 entries]`."""
    match = _MORE.fullmatch(text)
    if not match:
        return (text,)
    known = {
        paths
        for location in locations
        if location.startswith(f"{index}(")
        and (paths := listed_paths(location))[:1] == (match[1],)
        and len(paths) == int(match[2]) + 1
    }
    return known.pop() if len(known) == 1 else ()


def loops_of(formatted: Formatted) -> Iterator[list[tuple[int, str]]]:
    """Yield the columns of each loop, which is a recursive CTE."""
    for operator in formatted.numbered.values():
        if operator.name == "UnionLoop":
            with suppress(UnreadableError):
                yield [item[:2] for item in definitions(operator.detail("Output").strip("[]"), ", ")]
