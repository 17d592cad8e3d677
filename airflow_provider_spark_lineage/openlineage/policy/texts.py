"""The result of a policy as text: for a terminal, a test and the log of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from airflow_provider_spark_lineage.openlineage.policy.findings import Place, PolicyFinding, PolicyReport
from airflow_provider_spark_lineage.openlineage.words import counted

_MOST_COLUMNS = 3
"""Limit of the columns of one dataset that are shown for one condition of a rule."""

_MOST_DATASETS = 20
"""Limit of the datasets that are shown for one condition of a rule; `--json` has all."""


def lines_of(report: PolicyReport) -> Iterator[str]:
    """Yield the lines of a report: violations, what cannot be excluded, warnings, and a summary."""
    for findings, head in ((report.violations, "broken"), (report.unknown, "unknown")):
        for of_rule in _grouped(findings, lambda each: (each.rule, each.condition)):
            datasets = _grouped(of_rule, lambda each: each.dataset)
            for of_dataset in datasets[:_MOST_DATASETS]:
                for finding in of_dataset[:_MOST_COLUMNS]:
                    yield from _lines(finding, head)
                if len(of_dataset) > _MOST_COLUMNS:
                    more = counted(len(of_dataset) - _MOST_COLUMNS, "more finding")
                    yield f"{head:<8} {of_rule[0].rule}"
                    yield f"         {of_dataset[0].dataset[1]}: {more}"
                    yield ""
            if len(datasets) > _MOST_DATASETS:
                more = counted(len(datasets) - _MOST_DATASETS, "more dataset")
                yield f"{head:<8} {of_rule[0].rule}"
                yield f"         {more}"
                yield ""
    for warning in report.warnings:
        yield f"warning  {warning}."
    if report.warnings:
        yield ""
    yield summary_of(report)


def summary_of(report: PolicyReport) -> str:
    """Return one sentence about the whole result.

    >>> summary_of(PolicyReport((), (), (), (("one writer", ("file", "/gold/orders")),)))
    'No rule is broken: 1 rule, 1 dataset.'
    """
    about = (
        f"{counted(len({rule for rule, _ in report.checked}), 'rule')},"
        f" {counted(len({dataset for _, dataset in report.checked}), 'dataset')}"
    )
    uncertain = f"{len(report.unknown):,} cannot be excluded" if report.unknown else ""
    if report.ok:
        return f"No rule is broken: {', '.join(filter(None, (about, uncertain)))}."
    broken = counted(len(report.violations), "violation")
    if any(finding.fails for finding in report.unknown):
        uncertain += ", which its rule does not accept"
    return f"The policy is broken: {', '.join(filter(None, (broken, uncertain)))}; {about}."


def path_of(finding: PolicyFinding) -> str:
    """Return the path of a finding on one line."""
    return " -> ".join(shown(place.dataset[1], place.field) for place in finding.path)


def shown(name: str, field: str | None) -> str:
    """Return a column, or a dataset without one, for people."""
    return name if field is None else f"{name}.{field}"


def _grouped(
    findings: Iterable[PolicyFinding], key: Callable[[PolicyFinding], object]
) -> Sequence[Sequence[PolicyFinding]]:
    groups: dict[object, list[PolicyFinding]] = {}
    for each in findings:
        groups.setdefault(key(each), []).append(each)
    return [*groups.values()]


def _lines(finding: PolicyFinding, head: str) -> Iterator[str]:
    yield f"{head:<8} {finding.rule}"
    yield f"         {shown(finding.dataset[1], finding.field)}: {finding.reason}"
    rows = [_cells(place, is_first=not number) for number, place in enumerate(finding.path)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for cells in rows:
        line = "   ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        yield f"           {line}".rstrip()
    yield ""


def _cells(place: Place, *, is_first: bool) -> tuple[str, str, str, str]:
    """Return the cells of a place: its name, the edge to it, the job and the run."""
    arrow = "" if is_first else "-> "
    name = shown(place.dataset[1], place.field)
    if place.field is None and place.type in ("DIRECT", "INDIRECT", "ROWS"):
        name += ", all rows"
    masks = "masks" if place.masking else ""
    edge = " ".join(filter(None, (place.type.lower(), place.subtype.lower(), masks)))
    if place.write is None:
        return f"{arrow}{name}", edge, "", ""
    run = place.write.run
    return f"{arrow}{name}", edge, place.write.job.name, "   ".join(filter(None, (f"run {run.id}", run.time)))
