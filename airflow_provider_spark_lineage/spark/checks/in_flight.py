"""Checks that ride on the write of a frame: Spark measures the rows while it writes them.

`checks.check` adds the observation to the frame, and registers it here with the captures that run in this
process. A capture passes on what each execution measured. A result is used if the plan shows that the
written rows are the measured ones, or if it is the same for a part of them. Spark may also count rows twice:
then only results that this cannot change are used.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.spark.checks.absent import NO_COLUMN
from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, Findings, Metrics
from airflow_provider_spark_lineage.spark.checks.checks import ROWS, Check, Names, findings_of
from airflow_provider_spark_lineage.spark.checks.measuring import Measured
from airflow_provider_spark_lineage.spark.plan.spark.observed_rows import (
    ObservedColumn,
    ObservedRows,
    Rows,
    observed_rows,
)
from airflow_provider_spark_lineage.spark.records.observed import value_of
from airflow_provider_spark_lineage.spark.records.plan_json import Tree

KEPT = "kept rows"
"""Key of the number of rows that break no rule, if the others are dropped."""

SOME = "at least 1"
"""Number of failing rows if some may have been counted several times."""

NOT_MEASURED = "Spark did not report it"

_COUNTED_TWICE = {
    "sort": "after check(), rows are sorted or partitioned by range, for which Spark counts them twice",
    "retry": "a task ran again, and Spark may have counted its rows twice",
}
"""Value of a record's `miscounted` -> the reason why a count is not used. The plan tells more of a limit."""

SEVERAL = "one execution wrote several datasets: the checked rows are not those of each"
UNKNOWN = "the plan does not show what happens to the rows after check()"

MAX_KEPT = 1000
"""Limit of the checks of frames, and of their results, that are kept: a stream checks each of its batches."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WrittenDataset:
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

    own_filters: int = 0
    """Number of filters right after the observation that drop rows, or stop at one, by the rules."""

    def observed_rows(self, plans: Iterable[Tree]) -> ObservedRows:
        """Return what became of the measured rows, by the plans of the execution that wrote them."""
        try:
            rows = observed_rows(plans, self.observation, self.own_filters)
        # A damaged plan, or a plan of a future Spark version, may break any assumption of the reader.
        except Exception as error:
            log.debug("The plan of a check could not be read: %s", error)
            rows = None
        return rows or ObservedRows(Rows.OTHER, UNKNOWN)

    def findings(
        self, values: Mapping[str, Any], miscounted: str, rows: ObservedRows, written: WrittenDataset
    ) -> Findings:
        """Return the results for written rows; a record has `values` and `miscounted`."""
        # A check without a column in the observation is one whose own columns are absent.
        absent = {key for check in self.checks for key in check.measures(self.names)} - {*self.columns}
        measurements = dict.fromkeys(absent, Measured(problem=NO_COLUMN))
        measurements |= {key: _measured(values, column, form) for key, (column, form) in self.columns.items()}
        doubt = _doubt(measurements, miscounted, rows, written)
        findings = findings_of(self.checks, measurements, self.names, clause="", of_dataset="")
        assertions: list[Assertion] = []
        names: dict[str, str] = {}
        for check, before in zip(self.checks, findings.assertions, strict=True):
            if before.is_skipped:
                assertion = before
            elif rows.rows is Rows.OTHER:
                assertion = _without_result(before, rows.reason)
            else:
                assertion = _renamed(before, self._columns(check, rows))
            if not (assertion.not_evaluated or assertion.is_skipped):
                names[before.column] = assertion.column
                assertion = _doubted(assertion, check, measurements, doubt) if doubt.reason else assertion
            assertions.append(
                replace(assertion, name=f"{self.label}.{assertion.name}") if self.label else assertion
            )
        metrics = Metrics()
        if written.is_whole and not doubt.reason and KEPT not in measurements:
            of_columns = findings.metrics.columns.items()
            columns = {names[name]: column for name, column in of_columns if name in names}
            metrics = Metrics(findings.metrics.rows, columns)
        output = (written.namespace, written.name)
        return Findings(tuple(assertions), metrics, output=output, ended_at=written.ended_at)

    def _columns(self, check: Check, rows: ObservedRows) -> list[ObservedColumn]:
        """Return what became of the columns that a check needs, once each."""
        numbers = [self.columns[key][0] for key in check.measures(self.names) if key in self.columns]
        if not rows.uses or not numbers or any(number not in rows.uses for number in numbers):
            return [ObservedColumn("", "", UNKNOWN)]
        ids = dict.fromkeys(key for number in numbers for key in sorted(rows.uses[number]))
        return [rows.columns.get(key, ObservedColumn("", "", UNKNOWN)) for key in ids]


def _measured(values: Mapping[str, Any], column: str, form: int) -> Measured:
    if column not in values:
        return Measured(form=form, problem=NOT_MEASURED)
    try:
        return Measured(value_of(values[column]), form)
    except (ValueError, ArithmeticError):
        return Measured(form=form, problem=NOT_MEASURED)


class _Doubt(NamedTuple):
    """Reason why counts may not be of the written rows."""

    reason: str = ""
    """Empty if they are."""

    has_other_rows: bool = False
    """Rows may be counted that are not written."""


def _doubt(
    measurements: Mapping[str, Measured], miscounted: str, rows: ObservedRows, written: WrittenDataset
) -> _Doubt:
    """Return why the counts are not those of the written rows, which were all counted."""
    if rows.rows is Rows.OTHER:
        return _Doubt(rows.reason, has_other_rows=True)
    counted = measurements.get(KEPT, measurements[ROWS]).value
    # Each written row was counted at least once, so as many are the same ones. Spark 4.3 does not count
    # what a sort samples, and a task that ran again is usually counted once.
    if counted is not None and counted == written.rows:
        return _Doubt()
    if rows.rows is Rows.PART:
        return _Doubt(rows.reason, has_other_rows=True)
    if miscounted in _COUNTED_TWICE:
        return _Doubt(_COUNTED_TWICE[miscounted])
    if written.rows is None or counted is None:
        return _Doubt()
    return _Doubt(f"{counted} rows were counted, and {written.rows} written", has_other_rows=True)


def _renamed(assertion: Assertion, columns: Sequence[ObservedColumn]) -> Assertion:
    """Return an assertion at the column that has the checked values, or without a result if there is none.

    Statements and clauses name columns, so they say nothing of a column that has another name.
    """
    problem = next((column.problem for column in columns if column.problem), "")
    names = {column.name for column in columns}
    is_of_column = bool(assertion.column) and not assertion.clauses and len(names) == 1
    if not problem and is_of_column and "." not in assertion.column:
        return replace(assertion, column=columns[0].name)
    if not problem:
        renamed = next((column for column in columns if column.name != column.first_name), None)
        problem = f"after check(), `{renamed.first_name}` has another name" if renamed else ""
    return _without_result(assertion, problem) if problem else assertion


def _without_result(assertion: Assertion, reason: str) -> Assertion:
    return replace(assertion, success=False, actual=None, not_evaluated=assertion.not_evaluated or reason)


def _doubted(
    assertion: Assertion, check: Check, measurements: Mapping[str, Measured], doubt: _Doubt
) -> Assertion:
    """Return an assertion if wrong counts cannot change it, or else without a result, for a reason."""
    if not check.stands(measurements, has_other_rows=doubt.has_other_rows):
        return _without_result(assertion, doubt.reason)
    is_inexact = not assertion.success and check.counts_failing_rows(measurements)
    params = {name: value for name, value in assertion.params.items() if name != "rows"}
    return replace(assertion, params=params, actual=SOME if is_inexact else assertion.actual)


def _line_of(assertion: Assertion) -> str:
    """Return the line of a log for a failed assertion with a result, as operators that check data have it."""
    severity = ", with severity warn" if assertion.is_warning else ""
    return f"Check {assertion.name} failed{severity}: {assertion.values}"


class ChecksInFlight:
    """The checks of frames that a capture may see written, and their results so far."""

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
        """Results so far, for each write of a checked frame."""
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
        plans: Sequence[Tree],
        written: Sequence[WrittenDataset],
    ) -> list[str]:
        """Add what an execution measured that wrote datasets; return sentences about missing results.

        `plans` are the execution's own plan and the plans that ran inside of it, the innermost last.
        """
        problems: list[str] = []
        for name, values in observed.items():
            checks = self._checks.get(name)
            if checks is None:
                continue
            rows = checks.observed_rows(plans) if len(written) == 1 else ObservedRows(Rows.OTHER, SEVERAL)
            for each in written:
                findings = checks.findings(values, miscounted.get(name, ""), rows, each)
                self._unseen.pop(name, None)
                self._keep(findings)
                missing: dict[str, list[str]] = {}
                for assertion in findings.assertions:
                    if assertion.not_evaluated:
                        missing.setdefault(assertion.not_evaluated, []).append(assertion.name)
                    elif not assertion.success:
                        log.warning("%s", _line_of(assertion))
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
