"""Runs seeded programs under capture, and looks at the disk and the catalog after each step.

Then the program runs again without capture, on changed data: `perturbation`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import column_agreement
from agreement import TakenStep, differences
from disk import Columns
from perturbation import Perturbed, perturbed
from programs import Program
from pyspark.sql import SparkSession
from stages import BrokenProgramError, Stage
from steps import COLUMNS

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Gap, Lineage
from airflow_provider_spark_lineage.spark.runs.captured import Captured

PLAIN = tuple((name, kind) for name, kind in (column.split() for column in COLUMNS.split(", ")))
"""The columns of all files of a program without its own."""


@dataclass
class Outcome:
    """Differences and gaps of one program."""

    program: Program
    differences: list[str]
    gaps: tuple[Gap, ...] = ()
    perturbed: Perturbed = field(default_factory=Perturbed)
    seconds: float = 0

    def __str__(self) -> str:
        return "\n".join([str(self.program), *(f"  -> {difference}" for difference in self.differences)])


class _EndError(Exception):
    """Raised by the user's code, to end a program."""


@dataclass
class Runner:
    """Runs programs in one session."""

    spark: SparkSession
    folder: Path
    lakes: bool

    def outcome(self, program: Program, *, perturb: bool = True) -> Outcome:
        """Run a program; a step that does not do what it declares is a difference, too."""
        try:
            return self.run(program, perturb=perturb)
        except BrokenProgramError as error:
            return Outcome(program, [f"broken: {error}"])

    def run(self, program: Program, *, perturb: bool = True) -> Outcome:
        """Run a program and compare; its files and tables are removed."""
        began = time.monotonic()
        with self.captured(program) as (stage, captured, steps):
            differing = _compared(stage, captured, steps)
            outcome = Outcome(program, differing, captured.lineage.gaps)
            if perturb:
                outcome.perturbed = perturbed(stage, captured.lineage, steps)
                outcome.differences += outcome.perturbed.missing
        outcome.seconds = time.monotonic() - began
        return outcome

    @contextlib.contextmanager
    def captured(self, program: Program) -> Iterator[tuple[Stage, Captured, list[TakenStep]]]:
        """Run a program under capture; its files are there until the context ends."""
        stage = Stage(self.spark, self.folder, program, self.lakes)
        try:
            stage.prepare()
            yield stage, *_captured(stage)
        finally:
            stage.remove()


def _captured(stage: Stage) -> tuple[Captured, list[TakenStep]]:
    program = stage.program
    looker = stage.looker(stage.spark)
    steps: list[TakenStep] = []
    written: dict[str, Columns] = {}
    with contextlib.suppress(_EndError), capture_lineage(stage.spark) as captured:
        now = looker.look()
        for step in program.steps:
            before, began = now, _next_ms()
            raised = stage.do(step)
            ended, now = _now_ms(), looker.look()
            if step.target:
                written = {**written, stage.real(step.target): step.columns}
            elif not program.is_wide:
                written = dict.fromkeys(now.places, PLAIN)
            places = [tuple(stage.real(place) for place in some) for some in (step.reads, step.counted)]
            steps.append(TakenStep(step.text, *places, raised, before, now, began, ended, written))
        if program.raises:
            raise _EndError
    return captured, _with_lineage(captured, steps)


def _with_lineage(captured: Captured, steps: list[TakenStep]) -> list[TakenStep]:
    return [
        replace(
            step,
            lineage=compose(
                execution.lineage
                for execution in captured.executions()
                if step.began_ms <= _ms(execution.record.ended_at) <= step.ended_ms
            ),
        )
        for step in steps
    ]


def _compared(stage: Stage, captured: Captured, steps: list[TakenStep]) -> list[str]:
    """Compare each step alone, all steps up to each, and the whole."""
    texts = dict.fromkeys(_differing(captured.lineage, steps), "in all")
    executions = list(captured.executions())
    for number in range(len(steps) - 1, 1, -1):
        until = steps[number - 1].ended_ms
        some = [each.lineage for each in executions if _ms(each.record.ended_at) <= until]
        for difference in _differing(compose(some), steps[:number]):
            texts[difference] = f"steps 1 to {number}"
    listed = [f"{where}: {difference}" for difference, where in texts.items()]
    for number, step in enumerate(steps, 1):
        listed += [f"step {number}: {difference}" for difference in _differing(step.lineage, [step])]
    listed += [f"events: {text}" for text in _of_events(captured, stage.program.raises)]
    return [stage.short(text) for text in listed]


def _differing(lineage: Lineage, steps: list[TakenStep]) -> list[str]:
    return differences(lineage, steps, column_agreement.CHECKS)


def _of_events(captured: Captured, raised: bool) -> Iterator[str]:
    """Yield the differences of the last event of a run from its lineage."""
    last: dict[str, Any] = captured.events(job="program")[-1]
    if last["eventType"] != ("FAIL" if raised else "COMPLETE"):
        yield f"the last is {last['eventType']}"
    for side in ("inputs", "outputs"):
        names = [dataset["name"] for dataset in last[side]]
        if names != [each.dataset.id.name for each in getattr(captured.lineage, side)]:
            yield f"other {side}: {names}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _next_ms() -> int:
    """Wait for the next millisecond: an execution that ended in this one belongs to the step before."""
    now = _now_ms()
    while (following := _now_ms()) == now:
        pass
    return following


def _ms(instant: str) -> int:
    return int(datetime.fromisoformat(instant).timestamp() * 1000)
