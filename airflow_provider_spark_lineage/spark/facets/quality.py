"""Facets of checks on data: assertions and metrics at the dataset that was checked, or at the run.

`dataQualityAssertions` of an input is in `inputFacets`, where the spec has it, and in `facets`, where
Airflow's own operators put it: some consumers read one, some the other.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import attrs
from openlineage.client.event_v2 import Dataset, InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    RunFacet,
    data_quality_assertions_dataset,
    data_quality_metrics_dataset,
    data_quality_metrics_input_dataset,
)

from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, ColumnMetrics, Findings, Metrics
from airflow_provider_spark_lineage.spark.checks.comparison import LIMITS
from airflow_provider_spark_lineage.spark.checks.statements import shown
from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.sql_text import FULL

ASSERTIONS = "dataQualityAssertions"
METRICS = "dataQualityMetrics"
TEST = "test"
"""Keys of OpenLineage's facets."""

MAX_ASSERTIONS = 500
"""Limit of one facet; failed assertions come first."""


class _Test(NamedTuple):
    """Result that stands at the run."""

    assertion: Assertion
    is_skipped: bool


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
    findings = [*findings]
    # A skipped check found nothing of the dataset, and an assertion must be true or false.
    skipped = [assertion for each in findings for assertion in each.assertions if assertion.is_skipped]
    at_run = [_Test(assertion, is_skipped=True) for assertion in skipped]
    at_outputs: dict[tuple[str, str], list[Assertion]] = {}
    written = {(output.namespace, output.name): output for output in outputs}
    for each in map(_evaluated, findings):
        place = None if each.is_skipped else _place(inputs, each)
        output = each.output if place is None else None
        if each.is_reported and output is None and place is None:
            at = _place(outputs, each)
            output = None if at is None else (outputs[at].namespace, outputs[at].name)
        if output in written:
            at_outputs.setdefault(output, []).extend(each.assertions)
            # A later append makes numbers of an earlier overwrite those of a part.
            facets = written[output].facets or {}
            written[output].facets = {key: facet for key, facet in facets.items() if key != METRICS}
            if each.metrics.rows is not None and _rows_of(written[output]) in (None, each.metrics.rows):
                _add(written[output], METRICS, _metrics_of_output(each))
            continue
        if place is None:
            at_run += [_Test(assertion, each.is_skipped) for assertion in each.assertions]
        else:
            at_datasets.setdefault(place, []).extend(each.assertions)
            if each.metrics.rows is not None:
                inputs[place].inputFacets = {
                    **(inputs[place].inputFacets or {}),
                    METRICS: _metrics(each.metrics),
                }
    for place, assertions in at_datasets.items():
        if not assertions:
            continue
        facet: Any = _assertions(assertions, sql_text)
        read = inputs[place]
        facet.assertions += _assertions_at(read)
        read.inputFacets = {**(read.inputFacets or {}), ASSERTIONS: facet}
        read.facets = {**(read.facets or {}), ASSERTIONS: facet}
    for output, assertions in at_outputs.items():
        if assertions:
            _add(written[output], ASSERTIONS, _assertions(_once(assertions), sql_text))
    return _test_facet(at_run, sql_text)


def _evaluated(findings: Findings) -> Findings:
    """Return findings without the assertions that were skipped."""
    return replace(findings, assertions=tuple(each for each in findings.assertions if not each.is_skipped))


def _rows_of(output: OutputDataset) -> int | None:
    """Return the number of rows of a dataset with all of the task's writes; None if it is not known."""
    statistics: Any = (output.outputFacets or {}).get("outputStatistics")
    return getattr(statistics, "rowCount", None)


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


def with_findings(
    inputs: Iterable[Dataset],
    run_facets: Mapping[str, RunFacet],
    findings: Sequence[Findings],
    sql_text: str,
    outputs: Sequence[OutputDataset] = (),
) -> tuple[list[InputDataset], dict[str, RunFacet]]:
    """Return the inputs and run facets of an operator's own report, with findings added.

    Findings replace assertions of the same names at datasets. Tests of the same names stay, without texts
    that must not be in an event.
    """
    by_name = {assertion.name: assertion for each in findings for assertion in each.assertions}
    reads = [_without_assertions(dataset, by_name) for dataset in inputs]
    tests: Any = run_facets.get(TEST)
    added: Any = add_findings(reads, findings, sql_text, outputs).get(TEST)
    if tests is None:
        return reads, {**run_facets, **({TEST: added} if added else {})}
    names = {test.name for test in tests.tests}
    reported = [
        _revised(test, by_name[test.name], sql_text) if test.name in by_name else test for test in tests.tests
    ]
    others = [test for test in added.tests if test.name not in names] if added else []
    return reads, {**run_facets, TEST: attrs.evolve(tests, tests=[*reported, *others])}


def _without_assertions(dataset: Dataset, names: Container[str]) -> InputDataset:
    """Return an input without the assertions of these names; the provider's own have no `inputFacets`."""
    facets = {**(dataset.facets or {})}
    facet: Any = facets.pop(ASSERTIONS, None)
    others = [each for each in _assertions_at(dataset) if getattr(each, "name", None) not in names]
    if others:
        facets[ASSERTIONS] = attrs.evolve(facet, assertions=others)
    return InputDataset(
        namespace=dataset.namespace,
        name=dataset.name,
        facets=facets,
        inputFacets={**(getattr(dataset, "inputFacets", None) or {})},
    )


def _assertions_at(dataset: Dataset) -> list[Any]:
    facet: Any = (dataset.facets or {}).get(ASSERTIONS)
    return list(facet.assertions) if facet is not None else []


_TESTED = ("tested_column", "tested_table")
"""Names in `params` of the tested parts, as Airflow's operators write them."""


def _revised(test: Any, assertion: Assertion, sql_text: str) -> Any:
    """Return an operator's own test with the texts of our assertion."""
    described = _described(assertion, sql_text)
    tested = {name: test.params[name] for name in _TESTED if name in (test.params or {})}
    texts = {name: described[name] for name in ("expected", "actual", "content", "contentType")}
    return attrs.evolve(test, **texts, params={**tested, **described["params"]})


def _place(inputs: Sequence[Dataset], findings: Findings) -> int | None:
    """Return the index of the dataset that was checked; None if it is none of them, or unknown.

    A query and a view are not their inputs: a result about their rows need not be true of the dataset.
    """
    if findings.is_reported and findings.output is not None:
        exact = [(dataset.namespace, dataset.name) for dataset in inputs]
        return exact.index(findings.output) if findings.output in exact else None
    if findings.is_statement:
        return 0 if len(inputs) == 1 else None
    if not findings.of_dataset:
        return None
    wanted = _plain(findings.of_dataset)
    places = [
        place
        for place, read in enumerate(inputs)
        if any(_ends_with(name, wanted) for name in (read.name, *_symlinks(read)))
    ]
    return places[0] if len(places) == 1 else None


def _symlinks(read: Dataset) -> list[str]:
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
            for assertion in sorted(assertions, key=lambda each: each.success)[:MAX_ASSERTIONS]
        ],
        producer=PRODUCER,
    )


def _test_facet(tests: Sequence[_Test], sql_text: str) -> dict[str, RunFacet]:
    if not tests:
        return {}
    try:
        from openlineage.client.facet_v2 import test_run
    except ImportError:  # 1.40, for example, has no such facet.
        return {}
    executed = [
        _known(
            test_run.TestExecution,
            status="skip" if is_skipped else "pass" if assertion.success else "fail",
            type=assertion.assertion,
            **_described(assertion, sql_text, column=assertion.column),
        )
        for assertion, is_skipped in sorted(tests, key=lambda test: test.assertion.success)[:MAX_ASSERTIONS]
    ]
    return {TEST: test_run.TestRunFacet(tests=executed, producer=PRODUCER)}


def _described(assertion: Assertion, sql_text: str, column: str = "") -> dict[str, Any]:
    """Return the fields that both facets have, without texts that must not be in an event."""
    params = dict(assertion.params)
    clauses = {name: shown(clause, sql_text, assertion.dialect) for name, clause in assertion.clauses.items()}
    params |= {name: clause for name, clause in clauses.items() if clause}
    if assertion.not_evaluated:
        params["not_evaluated"] = assertion.not_evaluated
    if column:
        params[_TESTED[0]] = column
    expected: str | None = assertion.expected
    if assertion.has_text_of_author and sql_text != FULL:
        expected = None
        params = {name: value for name, value in params.items() if name not in LIMITS}
    if assertion.has_statement_in_limits and sql_text != FULL:
        expected = None
    actual = assertion.actual
    if assertion.has_text_of_rows:
        actual = None
        params["withheld"] = "text"
    content = shown(assertion.content, sql_text, assertion.dialect)
    return {
        "name": assertion.name,
        "severity": assertion.severity,
        "description": assertion.description or None,
        "expected": without_secrets(expected or "") or None,
        "actual": actual,
        "content": content or None,
        "contentType": "sql" if content else None,
        "params": {name: _shown(_json(value)) for name, value in params.items()},
    }


def _shown(value: Any) -> Any:
    """Return a value without what looks like a credential: a limit may be any text."""
    return without_secrets(value) if isinstance(value, str) else value


def _json(value: Any) -> Any:
    """Return a value in a form that JSON has: infinity and decimals as text."""
    is_plain = value is None or isinstance(value, (bool, int, str))
    return value if is_plain or (isinstance(value, float) and math.isfinite(value)) else str(value)


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
