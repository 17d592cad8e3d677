"""Checks that ride on the write of a frame: Spark measures the rows while it writes them.

`checks.check` adds the observation to the frame, and registers it here with the captures that run in this
process. A capture passes on what each execution measured. Spark may count rows twice, or rows that are not
written: then only results that this cannot change are used.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from airflow_provider_spark_lineage.quality.assertion import ERROR, Assertion, Findings, Metrics
from airflow_provider_spark_lineage.quality.checks import ROWS, Check, Names, findings_of
from airflow_provider_spark_lineage.quality.measuring import Measured
from airflow_provider_spark_lineage.records.observed import value_of

KEPT = "kept rows"
"""Key of the number of rows that break no rule, if the others are dropped."""

SOME = "at least 1"
"""Number of failing rows if some may have been counted several times."""

NOT_MEASURED = "Spark did not report it"

_REASONS = {
    "sort": "after check(), rows are sorted or partitioned by range, for which Spark counts them twice",
    "limit": "after check() there is a limit: other rows were counted than written",
    "retry": "a task ran again, and Spark may have counted its rows twice",
}
"""Value of a record's `miscounted` -> the reason why a count is not used."""

_SEVERAL = "several"
_REASONS[_SEVERAL] = "one execution wrote several datasets: the checked rows are not those of each"
_OTHER_ROWS = ("limit", _SEVERAL)
"""Values of `miscounted` where rows may be counted that are not in the dataset."""

MAX_KEPT = 1000
"""Limit of the checks of frames, and of their results, that are kept: a stream checks each of its batches."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Written:
    """The dataset that an execution wrote."""

    namespace: str
    name: str
    rows: int | None
    """Number of rows, as Spark reports it; None if it is unknown."""

    is_whole: bool
    """The written rows are all of the dataset."""

    ended_at: str
    """ISO 8601."""


@dataclass(frozen=True)
class FrameChecks:
    """The checks of one frame."""

    observation: str
    """Name of the frame's observation, unique in the process."""

    label: str
    """Name for people; empty if the author gave none."""

    checks: tuple[Check, ...]
    names: Names
    columns: Mapping[str, tuple[str, int]]
    """Key of a measure -> its column in the observation, and which of its forms Spark accepted."""

    def findings(self, values: Mapping[str, Any], miscounted: str, written: Written) -> Findings:
        """Return what the checks found in written rows; `values` and `miscounted` are those of a record."""
        found = {key: _measured(values, column, form) for key, (column, form) in self.columns.items()}
        reason, has_other_rows = _distrust(found, miscounted, written)
        findings = findings_of(self.checks, found, self.names, clause="", of_dataset="")
        assertions = [
            self._labelled(_doubted(assertion, check, found, reason, has_other_rows) if reason else assertion)
            for check, assertion in zip(self.checks, findings.assertions, strict=True)
        ]
        metrics = findings.metrics if written.is_whole and not reason and KEPT not in found else Metrics()
        output = (written.namespace, written.name)
        return Findings(tuple(assertions), metrics, output=output, ended_at=written.ended_at)

    def _labelled(self, assertion: Assertion) -> Assertion:
        return replace(assertion, name=f"{self.label}.{assertion.name}") if self.label else assertion


def _measured(values: Mapping[str, Any], column: str, form: int) -> Measured:
    if column not in values:
        return Measured(form=form, problem=NOT_MEASURED)
    try:
        return Measured(value_of(values[column]), form)
    except (ValueError, ArithmeticError):
        return Measured(form=form, problem=NOT_MEASURED)


def _distrust(found: Mapping[str, Measured], miscounted: str, written: Written) -> tuple[str, bool]:
    """Return why counts are not used, empty if they are, and whether rows may be counted but not written."""
    counted = found.get(KEPT, found[ROWS]).value
    # Spark 4.3 does not count what a sort samples, and a task that ran again is usually counted once.
    is_right = counted is not None and counted == written.rows
    if miscounted and not is_right:
        return _REASONS.get(miscounted, miscounted), miscounted in _OTHER_ROWS
    if written.rows is None or counted is None or counted == written.rows:
        return "", False
    return f"{counted} rows were counted, and {written.rows} written: check() must be the last step", True


def _doubted(
    assertion: Assertion, check: Check, found: Mapping[str, Measured], reason: str, has_other_rows: bool
) -> Assertion:
    """Return an assertion if wrong counts cannot change it, or else without a result, for a reason."""
    if assertion.not_evaluated:
        return assertion
    if not check.stands(found, has_other_rows=has_other_rows):
        return replace(assertion, success=False, actual=None, not_evaluated=reason)
    is_inexact = not assertion.success and check.counts_failing_rows(found)
    params = {name: value for name, value in assertion.params.items() if name != "rows"}
    return replace(assertion, params=params, actual=SOME if is_inexact else assertion.actual)


def in_flight_failures(findings: Sequence[Findings]) -> list[Assertion]:
    """Return the assertions with severity `error` that failed, or have no result.

    A check with severity `warn` never fails a task whose data are written, not even without a result.
    """
    return [
        assertion
        for each in findings
        if not each.is_reported
        for assertion in each.assertions
        if not assertion.success and assertion.severity == ERROR
    ]


def sentence_of(assertion: Assertion) -> str:
    """Return a failed assertion for people, without texts of rows and literals of the author."""
    if assertion.not_evaluated:
        return f"{assertion.name} has no result: {assertion.not_evaluated}"
    expected = "something else" if assertion.has_text_of_author else assertion.expected or "something else"
    actual = "another text" if assertion.has_text_of_rows else assertion.actual
    return f"{assertion.name}: expected {expected}, found {actual}"


class ChecksInFlight:
    """The checks of frames that a capture may see written, and what they found so far."""

    def __init__(self) -> None:
        self._checks: dict[str, FrameChecks] = {}
        self._unseen: dict[str, FrameChecks] = {}
        self._findings: list[Findings] = []

    def start(self) -> None:
        """Receive the checks of frames from now on."""
        _running.append(self)

    def stop(self) -> list[str]:
        """Receive no more; return sentences about checks without a result."""
        if self in _running:
            _running.remove(self)
        names = [
            f"the checks {check.label}" if check.label else "checks without a name"
            for check in self._unseen.values()
        ]
        self._checks, self._unseen = {}, {}
        return _logged(
            f"{name} have no result: Spark reported no rows that were written"
            for name in dict.fromkeys(names)
        )

    @property
    def findings(self) -> tuple[Findings, ...]:
        """What was found so far, for each write of a checked frame."""
        return tuple(self._findings)

    def add(self, checks: FrameChecks) -> None:
        """Add the checks of a frame."""
        self._checks[checks.observation] = self._unseen[checks.observation] = checks
        if len(self._checks) > MAX_KEPT:
            del self._checks[next(iter(self._checks))]

    def report(self, findings: Findings) -> None:
        """Add what another library found."""
        self._keep(findings)

    def _keep(self, findings: Findings) -> None:
        """Keep findings; if there are too many, forget the oldest without a failure, or else the oldest."""
        self._findings.append(findings)
        if len(self._findings) > MAX_KEPT:
            passed = (
                at
                for at, each in enumerate(self._findings)
                if all(assertion.success for assertion in each.assertions)
            )
            del self._findings[next(passed, 0)]

    def wrote(
        self,
        observed: Mapping[str, Mapping[str, Any]],
        miscounted: Mapping[str, str],
        written: Sequence[Written],
    ) -> list[str]:
        """Add what an execution measured that wrote datasets; return sentences about missing results."""
        problems: list[str] = []
        for name, values in observed.items():
            checks = self._checks.get(name)
            if checks is None:
                continue
            for each in written:
                why = _SEVERAL if len(written) > 1 else miscounted.get(name, "")
                findings = checks.findings(values, why, each)
                self._unseen.pop(name, None)
                self._keep(findings)
                missing: dict[str, list[str]] = {}
                for assertion in findings.assertions:
                    if assertion.not_evaluated:
                        missing.setdefault(assertion.not_evaluated, []).append(assertion.name)
                    elif not assertion.success:
                        log.warning("Check with severity %s: %s", assertion.severity, sentence_of(assertion))
                problems += _logged(
                    f"checks have no result ({', '.join(names)}): {reason}"
                    for reason, names in missing.items()
                )
        return problems


def _logged(sentences: Iterable[str]) -> list[str]:
    """Return sentences about missing results; unlike other losses of lineage, they may fail the task."""
    result = [*sentences]
    for sentence in result:
        log.warning("Spark lineage: %s", sentence)
    return result


_running: list[ChecksInFlight] = []
"""Those of the captures that run in this process."""


def report(findings: Findings) -> bool:
    """Pass what another library found to all captures of this process; return False if none runs."""
    for each in tuple(_running):
        each.report(findings)
    return bool(_running)


def register(checks: FrameChecks) -> bool:
    """Pass the checks of a frame to all captures of this process; return False if none runs."""
    for each in tuple(_running):
        each.add(checks)
    return bool(_running)
