"""Limits the size of what an event has beside its lineage: results of checks, and facets of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, Findings
from airflow_provider_spark_lineage.spark.facets.quality import with_findings
from airflow_provider_spark_lineage.spark.facets.size import size_of

SHARE_OF_FACETS = 0.375
"""Largest part of an event for the facets of the run; gaps and failures count as lineage."""

SHARE_OF_RESULTS = 0.25
"""Largest part of an event for results of checks."""

_COPIES = 2
"""An input has its assertions at two places."""


def fitting_facets(facets: Mapping[str, Any], limit_bytes: int) -> tuple[dict[str, Any], list[str]]:
    """Return the facets of a run that its event can hold, and the names of the others: the largest ones."""
    space = limit_bytes * SHARE_OF_FACETS
    sizes = {name: size_of({name: facet}) for name, facet in facets.items()}
    left_out: list[str] = []
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if sum(sizes.values()) <= space:
            break
        left_out.append(name)
        del sizes[name]
    return {name: facet for name, facet in facets.items() if name in sizes}, left_out


def size_of_findings(findings: Sequence[Findings], sql_text: str) -> int:
    """Return the size of results, wherever an event has them."""
    return _COPIES * size_of(with_findings([], {}, [_at_run(each) for each in findings], sql_text)[1])


def fitting_findings(
    findings: Sequence[Findings], sql_text: str, limit_bytes: int
) -> tuple[list[Findings], list[str]]:
    """Return the results that an event can hold, and words for the others; failed checks stay first."""
    space = int(limit_bytes * SHARE_OF_RESULTS)
    columns = sum(len(each.metrics.columns) for each in findings)
    if sum(_most(assertion) for each in findings for assertion in each.assertions) + 300 * columns <= space:
        return [*findings], []
    left_out = []
    if 300 * columns > space // 2:
        findings = [replace(each, metrics=replace(each.metrics, columns={})) for each in findings]
        left_out.append("the metrics of columns")
    places = [(of, at) for of, each in enumerate(findings) for at in range(len(each.assertions))]
    space //= 2
    stays = set()
    for of, at in sorted(places, key=lambda place: findings[place[0]].assertions[place[1]].success):
        space -= size_of_findings(
            [replace(findings[of], assertions=(findings[of].assertions[at],))], sql_text
        )
        if space < 0:
            break
        stays.add((of, at))
    if len(stays) < len(places):
        left_out.append(f"{len(places) - len(stays):,} of {counted(len(places), 'result')} of checks")
    return [
        replace(
            each, assertions=tuple(result for at, result in enumerate(each.assertions) if (of, at) in stays)
        )
        for of, each in enumerate(findings)
    ], left_out


def _at_run(findings: Findings) -> Findings:
    """Return results without the dataset at which they would stand."""
    return replace(findings, output=None)


def _most(assertion: Assertion) -> int:
    """Return a size that an assertion does not exceed, without rendering it: nearly all are small."""
    texts = (assertion.assertion, assertion.name, assertion.column, assertion.expected, assertion.content)
    others = f"{assertion.actual}{assertion.params}{assertion.clauses}{assertion.description}"
    length = sum(map(len, texts)) + len(others)
    return _COPIES * (600 + 6 * length)
