"""Results of checks in events of any producer, as lines for people.

They are in the facet `dataQualityAssertions` of a dataset and in the run facet `test`. A dataset may have the
facet in `inputFacets`, in `facets`, or in both with the same results. A value whose type is not the spec's is
treated as absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.shapes import object_at, objects, text

ASSERTIONS = "dataQualityAssertions"
TEST = "test"
"""Keys of OpenLineage's facets."""

_PLACES = ("inputFacets", "facets")
"""Keys of a dataset below which `dataQualityAssertions` may be."""

_FIRST = ("failed", "skipped")
"""Order of results; all others come after these."""

ABSENT = "absent"
_STATUS = {"fail": "failed", "skip": "skipped", "pass": "passed"}


class CheckResult(NamedTuple):
    """Result of one check."""

    status: str
    """`failed`, `skipped`, `passed`, or `absent`: skipped, because its column may be absent and is."""

    name: str
    column: str
    severity: str
    expected: str
    actual: str

    not_evaluated: str = ""
    """Reason why the check has no result, if the event has one."""

    absent: str = ""
    """Names of the columns that are absent, if the check is skipped without them."""

    def words(self) -> tuple[str, ...]:
        """Return the cells of a line, without line breaks."""
        values = [
            f"{word} {value}"
            for word, value in (("expected", self.expected), ("found", self.actual))
            if value
        ]
        problem = f"not evaluated: {self.not_evaluated}" if self.not_evaluated else ""
        problem = f"no column {self.absent}" if self.absent else problem
        cells = (self.name, self.column, self.severity, problem or ", ".join(values))
        return self.status, *(" ".join(cell.split()) for cell in cells)


def datasets_of(event: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the datasets of an event, each with its path: `inputs[file /in]`."""
    for side in ("inputs", "outputs"):
        for dataset in objects(event.get(side)):
            yield f"{side}[{text(dataset.get('namespace'))} {text(dataset.get('name'))}]", dataset


def assertions_of(dataset: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the assertions at a dataset, each with its path: `facets.dataQualityAssertions.assertions[0]`."""
    for place in _PLACES:
        assertions = object_at(dataset, place, ASSERTIONS).get("assertions")
        for number, assertion in enumerate(objects(assertions)):
            yield f"{place}.{ASSERTIONS}.assertions[{number}]", assertion


def results_of(dataset: Mapping[str, Any]) -> list[CheckResult]:
    """Return the results at a dataset of an event: failed ones first, each once."""
    return _failed_first(
        CheckResult(
            "passed" if assertion.get("success") is True else "failed",
            text(assertion.get("name")) or text(assertion.get("assertion")),
            text(assertion.get("column")),
            *_described(assertion),
        )
        for _, assertion in assertions_of(dataset)
        if isinstance(assertion.get("success"), bool)
    )


def tests_of(facets: Mapping[str, Any]) -> list[CheckResult]:
    """Return the results in the run facets of an event, which are of no single dataset."""
    return _failed_first(
        CheckResult(
            _status_of(test),
            text(test.get("name")),
            text(object_at(test, "params").get("tested_column")),
            *_described(test),
        )
        for test in objects(object_at(facets, TEST).get("tests"))
    )


def lines_of(results: Sequence[CheckResult]) -> Iterator[str]:
    """Yield a line for each result, with the cells below each other.

    >>> found = CheckResult("failed", "id.min", "id", "error", ">=1", "0")
    >>> [*lines_of([found])]
    ['failed  id.min   id   error   expected >=1, found 0']
    """
    rows = [result.words() for result in results]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for status, *cells in rows:
        shown = [f"{cell:<{width}}" for cell, width in zip(cells, widths[1:], strict=True) if width]
        yield f"{status:<7} {'   '.join(shown)}".rstrip()


def lines_of_event(event: Mapping[str, Any]) -> list[str]:
    """Return the results in an event: each dataset with its results, then those of no dataset."""
    lines: list[str] = []
    for _, dataset in datasets_of(event):
        results = results_of(dataset)
        if results:
            lines.append(f"checks of {text(dataset.get('namespace'))} {text(dataset.get('name'))}")
            lines += [f"  {line}" for line in lines_of(results)]
    tests = tests_of(object_at(event, "run", "facets"))
    if tests:
        lines += ["checks of no single dataset", *(f"  {line}" for line in lines_of(tests))]
    return lines


def has_failed_check(event: Mapping[str, Any]) -> bool:
    """Return whether a check in an event failed or was skipped."""
    results = [result for _, dataset in datasets_of(event) for result in results_of(dataset)]
    results += tests_of(object_at(event, "run", "facets"))
    return any(result.status in _FIRST for result in results)


def _status_of(test: Mapping[str, Any]) -> str:
    status = text(test.get("status"))
    is_absent = status == "skip" and bool(text(object_at(test, "params").get("absent")))
    return ABSENT if is_absent else _STATUS.get(status, status)


def _described(result: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    """Return severity, expected, actual, the reason why a result is missing, and absent columns."""
    return (
        text(result.get("severity")),
        text(result.get("expected")),
        text(result.get("actual")),
        text(object_at(result, "params").get("not_evaluated")),
        text(object_at(result, "params").get("absent")),
    )


def _failed_first(results: Iterator[CheckResult]) -> list[CheckResult]:
    once = dict.fromkeys(results)
    return sorted(once, key=lambda result: [*_FIRST, result.status].index(result.status))
