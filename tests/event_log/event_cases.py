"""Reads the event logs of the cases of `tests/records`, and compares them with the records of their jobs."""

from __future__ import annotations

from record_cases import lineage
from recordings import EVENTS, RECORDS, Recording, recordings
from recordings import FORMATTED as PHYSICAL

from airflow_provider_spark_lineage.spark.event_log.executions import LoggedApplication
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.runs.executions import executions

LOGS = recordings(EVENTS)
FORMATTED = recordings(PHYSICAL)
"""The same jobs on a Spark with its own settings: the logs have the physical plan alone."""


def lineage_of_log(log: Recording) -> Lineage:
    lines = log.text.encode().splitlines(keepends=True)
    problems: list[str] = []
    composed = compose(
        execution.lineage for execution in executions(LoggedApplication().records(lines, problems))
    )
    assert problems == []
    return composed


def edges(of: Lineage) -> set[str]:
    """The edges of all outputs; which part of a struct one starts at is left out."""
    return {
        f"{output.dataset.id.name}.{edge.column} <- {edge.source.name}.{edge.field} {edge.kind.name}"
        f"{' masking' * edge.masking}"
        for output in of.outputs
        for edge in output.edges
    }


def datasets(of: Lineage) -> set[str]:
    """Every dataset that is read or written."""
    return {
        *(f"reads {read.dataset.id.namespace} {read.dataset.id.name}" for read in of.inputs),
        *(f"writes {output.dataset.id.namespace} {output.dataset.id.name}" for output in of.outputs),
    }


def columns_read(of: Lineage) -> dict[str, list[str]]:
    """The names of the columns of every dataset that is read."""
    return {read.dataset.id.name: [field.name for field in read.dataset.fields] for read in of.inputs}


def new_gaps(log: Recording) -> list[str]:
    """The gaps that only the log has."""
    of_records = {gap.reason for gap in lineage(log.of(RECORDS)).gaps}
    return [gap.reason for gap in lineage_of_log(log).gaps if gap.reason not in of_records]


def differences(log: Recording) -> list[str]:
    """Return the differences between the lineages of a log and of the records, a line each.

    `~` is an edge of another kind between the same columns, as the optimizer changed it.
    """
    of_log, of_records = (
        edges(each) | datasets(each) for each in (lineage_of_log(log), lineage(log.of(RECORDS)))
    )
    lines = []
    for sign, these, others in (("+", of_log, of_records), ("-", of_records, of_log)):
        columns = {ends(edge) for edge in others}
        lines.extend(f"{'~' * (ends(line) in columns)}{sign} {line}" for line in these - others)
    return sorted(lines)


def without_gap(log: Recording) -> set[str]:
    """The datasets that differ by more than the kind of an edge, and that no gap is about.

    A gap is about the output that it names, which a catalog may call otherwise, and about what that
    output is made of.
    """
    of_log, of_records = lineage_of_log(log), lineage(log.of(RECORDS))
    known = {(gap.kind, gap.output) for gap in of_records.gaps}
    gaps = {gap.output.name for gap in of_log.gaps if gap.output and (gap.kind, gap.output) not in known}
    sources = {
        edge.source.name
        for output in of_records.outputs
        for edge in output.edges
        if output.dataset.id.name in gaps
    }
    explained = {*map(_table, gaps), *map(_table, sources)}
    differing = {_dataset(line[2:]) for line in differences(log) if not line.startswith("~")}
    return {name for name in differing if _table(name) not in explained}


def _dataset(line: str) -> str:
    """The output of an edge, or the dataset that is read or written."""
    output, _, source = line.partition(" <- ")
    return output.rpartition(".")[0] if source else line.split(" ", 2)[2]


def _table(name: str) -> str:
    """The last part of a path, or of a table's name."""
    return name.rpartition("/")[2].rpartition(".")[2]


def ends(edge: str) -> str:
    """Return an edge without its kind."""
    return edge.removesuffix(" masking").rpartition(" ")[0] if " <- " in edge else edge


def text_of(log: Recording) -> str:
    """Return the text that a person reviews of a log that differs; empty if nothing differs."""
    lines = differences(log)
    if lines:
        lines.extend(f"gap {reason}" for reason in dict.fromkeys(new_gaps(log)))
    return "\n".join(lines)
