"""Seeded programs that check a frame, take several steps, and write it, against the written rows."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import check_steps
from pyspark.sql import DataFrame, SparkSession

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.checks import check

ALL = range(300)
MAX_STEPS = 4

_RENAMED = (
    check_steps.Step("rename_v", "", lambda frame: frame.withColumnRenamed("v", "x")),
    check_steps.Step("rename_s", "", lambda frame: frame.withColumnRenamed("s", "x")),
    check_steps.Step("back_to_v", "", lambda frame: frame.withColumnRenamed("x", "v")),
)
STEPS = (*check_steps.STEPS, *_RENAMED)
_WEIGHTS = [1 if step.known == check_steps.NOTHING else 5 for step in STEPS]
"""After one step of which nothing is known, the others do not matter."""

WRITES = {
    "files": lambda frame, place, table: frame.write.parquet(place),
    "table": lambda frame, place, table: frame.write.saveAsTable(table),
    "query": lambda frame, place, table: frame.sparkSession.sql(
        f"CREATE TABLE {table} USING parquet AS SELECT * FROM {{frame}}", frame=frame
    ),
}


@dataclass
class Outcome:
    """What became of one program."""

    seed: int
    steps: list[str] = field(default_factory=list)
    write: str = ""
    wrong: list[str] = field(default_factory=list)
    """Results that are not true of the written rows."""

    known: int = 0
    """Number of results."""

    def __str__(self) -> str:
        """Return the program and what is wrong, on one line."""
        return f"seed {self.seed}: {' > '.join(self.steps)} > {self.write}: {'; '.join(self.wrong)}"


def outcome(spark: SparkSession, seed: int, folder: Path) -> Outcome:
    """Run the program of a seed, and compare the results of its checks with the rows that it wrote."""
    chance = random.Random(seed)
    result = Outcome(seed, write=chance.choice([*WRITES]))
    place, table = str(folder / f"rows_{seed}"), f"checked_{seed}"
    with capture_lineage(spark) as captured:
        frame = check_steps.rows(spark)
        if chance.random() < 0.5:
            frame = frame.union(check_steps.others(spark))
        on_violation = chance.choice(["keep", "keep", "drop"])
        frame = check(
            frame,
            columns=check_steps.COLUMNS,
            # What it says of all rows is about those, too, that are dropped.
            rows=check_steps.RULES if on_violation == "keep" else {"low": "v < 40"},
            severity="warn",
            on_violation=on_violation,
        )
        result.steps.append(on_violation)
        for step in chance.choices(STEPS, _WEIGHTS, k=chance.randint(1, MAX_STEPS)):
            frame = _taken(step, frame, result)
        try:
            WRITES[result.write](frame, place, table)
        except Exception:  # A step may fail for some rows, in any class of errors: a text that is no number.
            result.write += " that fails"
    if result.write not in WRITES:
        return result
    written = spark.read.parquet(place) if result.write == "files" else spark.table(table)
    found = [each for each in captured.checks if not each.not_evaluated and each.name not in ("again", "low")]
    result.wrong = check_steps.false_results(found, written)
    result.known = len(found)
    spark.sql(f"DROP TABLE IF EXISTS {table}")
    return result


def _taken(step: check_steps.Step, frame: DataFrame, result: Outcome) -> DataFrame:
    """Return the frame after a step; the frame itself if it does not have the step's columns."""
    try:
        after = step.take(frame)
        _ = after.schema
    except Exception:  # Steps are drawn without a look at the columns; each API has its own class of errors.
        return frame
    # A file has no two columns of one name.
    if len({name.lower() for name in after.columns}) < len(after.columns):
        return frame
    result.steps.append(step.name)
    return after
