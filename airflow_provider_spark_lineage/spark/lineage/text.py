"""Lineage as text for a person: the golden text of tests (docs/develop.md), the same on every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind
from airflow_provider_spark_lineage.spark.lineage.model import Edge, Lineage, Mode, Statistics
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId

_WITHOUT_ROWS = frozenset({Mode.ALTER, Mode.DROP, Mode.RENAME, Mode.TRUNCATE})
"""Changes whose columns are listed only if there are edges."""


def render(lineage: Lineage, column: str = "") -> str:
    """Return the lineage as text; with `column`, only the edges of output columns of that name."""
    edges_of_all = (edge for output in lineage.outputs for edge in output.edges)
    short = short_names([read.dataset.id for read in lineage.inputs] + [edge.source for edge in edges_of_all])
    lines: list[str] = []
    if not column:
        for read in lineage.inputs:
            columns = ", ".join(f"{field.name} {field.type}".strip() for field in read.dataset.fields)
            lines.append(_line("reads", read.dataset.id, columns, _counts(read.statistics)))
        for output in lineage.outputs:
            mode = f"{output.mode.value} of {output.previous.name}" if output.previous else output.mode.value
            lines.append(_line("writes", output.dataset.id, mode, _counts(output.statistics)))
    several = len(lineage.outputs) > 1
    for output in lineage.outputs:
        # The edges of the whole dataset last.
        edges = sorted(output.edges, key=lambda edge: not edge.column)
        edges = [edge for edge in edges if not column or edge.column in (column, "")]
        fields = [field.name for field in output.dataset.fields]
        if column and column not in fields:
            continue
        if output.mode in _WITHOUT_ROWS and not edges:
            continue
        if several:
            lines.append(_line("to", output.dataset.id))
        used = {edge.column for edge in output.edges}
        bare = [(name, "", "") for name in fields if name not in used and column in ("", name)]
        lines.extend(_table([*bare, *(_edge(edge, short) for edge in edges)]))
    if not column:
        shown = {output.dataset.id for output in lineage.outputs}
        for gap in lineage.gaps:
            # The target of a write that failed is named, because it may be no output.
            is_named = gap.output not in shown or gap.kind is GapKind.FAILED_WRITE
            target = " ".join(gap.output) if gap.output and is_named else ""
            where = " -> ".join(filter(None, [gap.where, target, gap.column]))
            lines.append(f"gap     {where}   {gap.reason}")
        for failure in lineage.failures:
            state = f" (SQLSTATE {failure.sql_state})" if failure.sql_state else ""
            message = failure.message.strip().splitlines()[:1]
            words = f": {message[0]}" if message else ""
            lines.append(f"failed  {failure.execution}   {failure.error_class}{state}{words}")
    return "".join(printable(line) + "\n" for line in lines)


def printable(line: str) -> str:
    """Escape control characters: a line break in a name would look like another line."""
    escaped = (each if each.isprintable() else each.encode("unicode_escape").decode() for each in line)
    return line if line.isprintable() else "".join(escaped)


def _line(verb: str, identifier: DatasetId, *details: str) -> str:
    return "   ".join(filter(None, [f"{verb:<7} {identifier.namespace} {identifier.name}", *details]))


def _counts(statistics: Statistics) -> str:
    named = zip(("rows", "bytes", "files"), statistics, strict=True)
    return " ".join(f"{name}={value}" for name, value in named if value is not None)


def short_names(ids: Iterable[DatasetId]) -> dict[DatasetId, str]:
    """Name each dataset by its last path segment, or by as many segments as make it unique."""
    ends: dict[DatasetId, list[str]] = {}
    for identifier in ids:
        segments = identifier.name.strip("/").split("/")
        ends[identifier] = ["/".join(segments[start:]) for start in reversed(range(len(segments)))]
    counts = Counter(end for suffixes in ends.values() for end in suffixes)
    return {
        identifier: next((end for end in suffixes if counts[end] == 1), suffixes[-1])
        for identifier, suffixes in ends.items()
    }


def _edge(edge: Edge, short: dict[DatasetId, str]) -> tuple[str, str, str]:
    kind = f"{edge.kind.type.lower():<8}  {edge.kind.subtype.lower()}"
    masking = "  masking" if edge.masking else ""
    field = f"{edge.field}.{edge.part}" if edge.part else edge.field
    return edge.column or "*", f"{short[edge.source]}.{field}", kind + masking


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    width = max((len(row[0]) for row in rows), default=0)
    source_width = max((len(row[1]) for row in rows), default=0)
    for target, source, kind in rows:
        if source:
            yield f"{target:<{width}} <- {source:<{source_width}}    {kind}".rstrip()
        else:
            yield f"{target:<{width}} <- (no field)"
