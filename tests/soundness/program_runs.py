"""Runs seeded programs under capture, and looks at the disk and the catalog after each step."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from agreement import TakenStep, differences
from disk import Looker
from programs import Program, Source, Step
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.lineage.compose import compose
from airflow_provider_spark_lineage.lineage.model import Gap
from airflow_provider_spark_lineage.runs.captured import Captured

ROWS = 4
"""Of each file that is there before a program."""


@dataclass
class Outcome:
    """Differences and gaps of one program."""

    program: Program
    differences: list[str]
    gaps: tuple[Gap, ...] = ()
    seconds: float = 0

    def __str__(self) -> str:
        return "\n".join([str(self.program), *(f"  -> {difference}" for difference in self.differences)])


class BrokenProgramError(Exception):
    """A step did not do what its program expects: the fault is the program's, not the lineage's."""


class _EndError(Exception):
    """Raised by the user's code, to end a program."""


@dataclass
class Runner:
    """Runs programs in one session."""

    spark: SparkSession
    folder: Path
    lakes: bool
    names: dict[str, str] = field(default_factory=dict)

    def outcome(self, program: Program) -> Outcome:
        """Run a program; a step that does not do what it declares is a difference, too."""
        try:
            return self.run(program)
        except BrokenProgramError as error:
            return Outcome(program, [f"broken: {error}"])

    def run(self, program: Program) -> Outcome:
        """Run a program and compare; its files and tables are removed."""
        began = time.monotonic()
        base = self.folder / f"p{program.seed}"
        warehouse = Path(self.spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
        database = f"p{program.seed}"
        self.names = {
            "ROOT": str(base / "root"),
            "STATE": str(base / "state"),
            "DB": str(warehouse / f"{database}.db"),
            "LAKE": str(self.folder / "lake" / database),
        }
        try:
            self._prepare(program, database)
            captured, steps = self._captured(program, database)
            differing = self._compared(program, captured, steps)
            return Outcome(program, differing, captured.lineage.gaps, time.monotonic() - began)
        finally:
            self._remove(database, base)

    def _prepare(self, program: Program, database: str) -> None:
        Path(self.names["ROOT"]).mkdir(parents=True)
        self.spark.sql(f"create database {database}")
        if self.lakes:
            self.spark.sql(f"create namespace lake.{database}")
        for source in program.sources:
            self._write(source)
        for step in program.before:
            self._do(step)

    def _captured(self, program: Program, database: str) -> tuple[Captured, list[TakenStep]]:
        folders = tuple(Path(self.names[name]) for name in ("ROOT", "DB", "LAKE"))
        looker = Looker(self.spark, folders, database, self.lakes)
        steps: list[TakenStep] = []
        with contextlib.suppress(_EndError), capture_lineage(self.spark) as captured:
            now = looker.look()
            for step in program.steps:
                before, began = now, _next_ms()
                raised = self._do(step)
                ended, now = _now_ms(), looker.look()
                places = [tuple(self._real(place) for place in some) for some in (step.reads, step.counted)]
                steps.append(TakenStep(step.text, *places, raised, before, now, began, ended))
            if program.raises:
                raise _EndError
        return captured, steps

    def _compared(self, program: Program, captured: Captured, steps: list[TakenStep]) -> list[str]:
        texts = [f"in all: {difference}" for difference in differences(captured.lineage, steps)]
        executions = list(captured.executions())
        for number, step in enumerate(steps, 1):
            some = [
                execution.lineage
                for execution in executions
                if step.began_ms <= _ms(execution.record.ended_at) <= step.ended_ms
            ]
            texts += [f"step {number}: {difference}" for difference in differences(compose(some), [step])]
        texts += [f"events: {text}" for text in _of_events(captured, program.raises)]
        return [self._short(text) for text in texts]

    def _do(self, step: Step) -> str:
        """Take a step; return its error, if it was to raise."""
        text = self._real(step.text)
        try:
            if text.startswith("spark."):
                exec(text, {"spark": self.spark, "col": col})
            else:
                self.spark.sql(text)
        except Exception as error:
            if step.fails and ("raise_error" not in text or "USER_RAISED" in str(error)):
                return str(error) or "raised"
            raise BrokenProgramError(f"{step.text}: {str(error)[:300]}") from error
        if step.fails:
            raise BrokenProgramError(f"{step.text}: did not raise")
        return ""

    def _real(self, text: str) -> str:
        for name, path in self.names.items():
            text = text.replace(f"{name}/", f"{path}/")
        return text

    def _short(self, text: str) -> str:
        for name, path in self.names.items():
            text = text.replace(f"{path}/", f"{name}/")
        return text

    def _write(self, source: Source) -> None:
        folder = Path(self._real(source.place))
        folder.mkdir()
        for number in range(source.files):
            ids = range(number * ROWS + 1, (number + 1) * ROWS + 1)
            rows = [{"id": row_id, "name": f"n{row_id}", "p": row_id % 2 + 1} for row_id in ids]
            path = folder / f"{folder.name}-{number}.{source.form}"
            if source.form == "parquet":
                types = pa.schema([("id", pa.int64()), ("name", pa.string()), ("p", pa.int32())])
                pq.write_table(pa.Table.from_pylist(rows, types), path)
            elif source.form == "csv":
                lines = ["id,name,p", *(f"{row['id']},{row['name']},{row['p']}" for row in rows)]
                path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            else:
                path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def _remove(self, database: str, base: Path) -> None:
        self.spark.sql(f"drop database if exists {database} cascade")
        for folder in (base, Path(self.names["DB"]), Path(self.names["LAKE"])):
            shutil.rmtree(folder, ignore_errors=True)


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
