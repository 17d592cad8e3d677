"""Facets of checks on data: assertions and metrics at the dataset that was checked, or at the run.

`dataQualityAssertions` of an input stands in `inputFacets`, where the spec has it, and in `facets`, where
Airflow's own operators put it: some consumers read one, some the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs
from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    RunFacet,
    data_quality_assertions_dataset,
    data_quality_metrics_dataset,
    data_quality_metrics_input_dataset,
)

from airflow_provider_spark_lineage.facets.producer import PRODUCER
from airflow_provider_spark_lineage.quality.assertion import Assertion, ColumnMetrics, Findings, Metrics
from airflow_provider_spark_lineage.quality.comparison import LIMITS
from airflow_provider_spark_lineage.quality.statements import shown
from airflow_provider_spark_lineage.records.sql_text import FULL

ASSERTIONS = "dataQualityAssertions"
METRICS = "dataQualityMetrics"
TEST = "test"
"""Keys of OpenLineage's facets."""

MAX_ASSERTIONS = 500
"""Limit of one facet; failed assertions come first."""


def add_findings(
    inputs: Sequence[InputDataset],
    findings: Iterable[Findings],
    sql_text: str,
    outputs: Sequence[OutputDataset] = (),
) -> dict[str, RunFacet]:
    """Add assertions and metrics to the datasets that were checked; return the run facet of all others.

    `sql_text` is the option: whether statements, which have literals, may be shown.
    """
    at_datasets: dict[int, list[Assertion]] = {}
    at_run: list[tuple[Assertion, bool]] = []
    at_outputs: dict[tuple[str, str], list[Assertion]] = {}
    written = {(output.namespace, output.name): output for output in outputs}
    for each in findings:
        if each.output in written:
            at_outputs.setdefault(each.output, []).extend(each.assertions)
            if each.metrics.rows is not None:
                _add(written[each.output], METRICS, _metrics_of_output(each))
            continue
        place = None if each.is_skipped else _place(inputs, each)
        if place is None:
            at_run += [(assertion, each.is_skipped) for assertion in each.assertions]
        else:
            at_datasets.setdefault(place, []).extend(each.assertions)
            if each.metrics.rows is not None:
                inputs[place].inputFacets = {
                    **(inputs[place].inputFacets or {}),
                    METRICS: _metrics(each.metrics),
                }
    for place, assertions in at_datasets.items():
        facet: Any = _assertions(assertions, sql_text)
        read = inputs[place]
        read.inputFacets = {**(read.inputFacets or {}), ASSERTIONS: facet}
        read.facets = {**(read.facets or {}), ASSERTIONS: facet}
    for output, assertions in at_outputs.items():
        _add(written[output], ASSERTIONS, _assertions(_once(assertions), sql_text))
    return _test_facet(at_run, sql_text)


def _add(output: OutputDataset, key: str, facet: Any) -> None:
    output.facets = {**(output.facets or {}), key: facet}


def _once(assertions: Iterable[Assertion]) -> list[Assertion]:
    """Return each assertion of a column once, although there were several writes: the failed or last one."""
    result: dict[tuple[str, str], Assertion] = {}
    for assertion in assertions:
        key = (assertion.column, assertion.assertion)
        if key not in result or result[key].success:
            result[key] = assertion
    return [*result.values()]


def _place(inputs: Sequence[InputDataset], findings: Findings) -> int | None:
    """Return the index of the input that was checked; None if it is none of them, or unknown.

    A query and a view are not their inputs: what is true of their rows need not be true of the dataset.
    """
    if findings.is_statement:
        return 0 if len(inputs) == 1 else None
    if not findings.of_dataset:
        return None
    wanted = _plain(findings.of_dataset)
    found = [
        place
        for place, read in enumerate(inputs)
        if any(_ends_with(name, wanted) for name in (read.name, *_symlinks(read)))
    ]
    return found[0] if len(found) == 1 else None


def _symlinks(read: InputDataset) -> list[str]:
    facet: Any = (read.facets or {}).get("symlinks")
    return [link.name for link in facet.identifiers] if facet is not None else []


def _plain(name: str) -> str:
    """Return a table's name or a path without quotes, the scheme and its host."""
    path = name.partition("://")[2].partition("/")[2] if "://" in name else name
    return path.replace("`", "").strip("/").lower()


def _ends_with(name: str, wanted: str) -> bool:
    full = _plain(name)
    return full == wanted or full.endswith((f".{wanted}", f"/{wanted}"))


def _assertions(
    assertions: Sequence[Assertion], sql_text: str
) -> data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet:
    return data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(
        assertions=[
            _known(
                data_quality_assertions_dataset.Assertion,
                assertion=assertion.assertion,
                success=assertion.success,
                column=assertion.column or None,
                **_described(assertion, sql_text),
            )
            for assertion in _first(assertions)
        ],
        producer=PRODUCER,
    )


def _test_facet(assertions: Sequence[tuple[Assertion, bool]], sql_text: str) -> dict[str, RunFacet]:
    if not assertions:
        return {}
    try:
        from openlineage.client.facet_v2 import test_run
    except ImportError:  # 1.40, for example, has no such facet.
        return {}
    is_skipped = {id(assertion): skipped for assertion, skipped in assertions}
    tests = [
        test_run.TestExecution(
            status="skip" if is_skipped[id(each)] else "pass" if each.success else "fail",
            type=each.assertion,
            **_described(each, sql_text, column=each.column),
        )
        for each in _first([assertion for assertion, _ in assertions])
    ]
    return {TEST: test_run.TestRunFacet(tests=tests, producer=PRODUCER)}


def _first(assertions: Sequence[Assertion]) -> list[Assertion]:
    """Return as many as a facet holds; the failed ones, if they are too many."""
    if len(assertions) <= MAX_ASSERTIONS:
        return list(assertions)
    return sorted(assertions, key=lambda each: each.success)[:MAX_ASSERTIONS]


def _described(assertion: Assertion, sql_text: str, column: str = "") -> dict[str, Any]:
    """Return the fields that both facets have, without texts that must not be in an event."""
    params = dict(assertion.params)
    params |= {name: text for name, clause in assertion.clauses.items() if (text := shown(clause, sql_text))}
    if assertion.not_evaluated:
        params["not_evaluated"] = assertion.not_evaluated
    if column:
        params["tested_column"] = column
    expected: str | None = assertion.expected
    if assertion.has_text_of_author and sql_text != FULL:
        expected = None
        params = {name: value for name, value in params.items() if name not in LIMITS}
    actual = assertion.actual
    if assertion.has_text_of_rows:
        actual = None
        params["withheld"] = "text"
    content = shown(assertion.content, sql_text)
    return {
        "name": assertion.name,
        "severity": assertion.severity,
        "description": assertion.description or None,
        "expected": expected or None,
        "actual": actual,
        "content": content or None,
        "contentType": "sql" if content else None,
        "params": params,
    }


def _known(kind: Any, **fields: Any) -> Any:
    """Return an object of a class whose older releases do not have all fields."""
    names = {attribute.name for attribute in attrs.fields(kind)}
    return kind(**{name: value for name, value in fields.items() if name in names})


def _metrics(metrics: Metrics) -> data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet:
    return data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet(
        rowCount=metrics.rows,
        columnMetrics={name: _column_metrics(column) for name, column in metrics.columns.items()},
        producer=PRODUCER,
    )


def _metrics_of_output(findings: Findings) -> data_quality_metrics_dataset.DataQualityMetricsDatasetFacet:
    facet: data_quality_metrics_dataset.DataQualityMetricsDatasetFacet = _known(
        data_quality_metrics_dataset.DataQualityMetricsDatasetFacet,
        rowCount=findings.metrics.rows,
        columnMetrics={
            name: _column_metrics(column, data_quality_metrics_dataset.ColumnMetrics)
            for name, column in findings.metrics.columns.items()
        },
        captureDate=findings.ended_at or None,
        producer=PRODUCER,
    )
    return facet


def _column_metrics(
    column: ColumnMetrics, kind: Any = data_quality_metrics_input_dataset.ColumnMetrics
) -> Any:
    return kind(
        nullCount=column.nulls,
        count=column.values,
        distinctCount=column.distinct,
        sum=column.sum,
        min=column.min,
        max=column.max,
        quantiles=column.quantiles or None,
    )
