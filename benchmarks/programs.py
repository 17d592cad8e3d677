"""Three programs with and without capture, each run in a process of its own, as tasks are.

    python benchmarks/programs.py [--rounds 5] [tiny | analytical | wide]

What is measured begins when the session stands and ends when the lineage has become events: compiling
capture's own Java is in it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from paired import Took, Watch, report, start_spark

from airflow_provider_spark_lineage import capture_lineage

QUERY = """
with sales as (
  select o.c, name, region, sum(amount) as total, count(*) as n, max(k) as k
  from orders o join customers c on o.c = c.c where amount > {0} group by 1, 2, 3
)
select region, name, total, rank() over (partition by region order by total desc) as place, total / n as mean,
       case when n > {0} then 'many' else k end as kind
from sales where total > (select avg(total) from sales)
"""


def tiny(spark: Any, folder: Path) -> None:
    """A hundred writes of ten rows."""
    for number in range(100):
        spark.range(10).selectExpr("id", "id * 2 x").coalesce(1).write.parquet(str(folder / f"tiny-{number}"))


def sales(spark: Any, folder: Path) -> None:
    orders = spark.range(200_000).selectExpr(
        "id", "id % 100 as c", "id * 1.5 as amount", "cast(id % 7 as string) as k"
    )
    customers = spark.range(100).selectExpr("id as c", "concat('n', id) as name", "id % 5 as region")
    for name, rows in (("orders", orders), ("customers", customers)):
        rows.write.parquet(str(folder / name))
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)


def analytical(spark: Any, folder: Path) -> None:
    """Twenty queries with a join, aggregates, a window and a subquery, each written."""
    for number in range(20):
        spark.sql(QUERY.format(number)).write.parquet(str(folder / f"answer-{number}"))


def columns(spark: Any, folder: Path) -> None:
    wide = [f"id + {number} as c{number}" for number in range(200)]
    spark.range(1000).selectExpr(*wide).write.parquet(str(folder / "wide"))


def wide(spark: Any, folder: Path) -> None:
    """Two hundred columns through sixty `withColumn`."""
    from pyspark.sql import functions as F  # noqa: N812  its usual name

    frame = spark.read.parquet(str(folder / "wide"))
    for number in range(60):
        frame = frame.withColumn(f"c{number}", F.col(f"c{number}") + F.col(f"c{number + 1}"))
    frame.write.parquet(str(folder / "wider"))


Step = Callable[[Any, Path], None]
PROGRAMS: dict[str, tuple[Step | None, Step, float]] = {
    "tiny": (None, tiny, 1.05),
    "analytical": (sales, analytical, 1.05),
    "wide": (columns, wide, 1.15),
}
"""Name -> its input, the measured function, the ratio that the project aims at."""


def measured(name: str, captured: bool) -> Took:
    """Run a program in this process."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        spark = start_spark(folder, "local[2]")
        before, program, _ = PROGRAMS[name]
        if before:
            before(spark, folder)
        with Watch(spark) as watch:
            with capture_lineage(spark) if captured else nullcontext() as capture:
                program(spark, folder)
            events = capture.events() if capture is not None else ()
        # Or the figure means nothing.
        assert bool(events) == captured
        spark.stop()
    return watch.took


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one", choices=("with", "without"), help="run one program here, and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(asdict(measured(arguments.names[0], arguments.one == "with"))))
        return
    for name in arguments.names:
        _, program, aim = PROGRAMS[name]
        runs: dict[bool, list[Took]] = {False: [], True: []}
        for number in range(arguments.rounds):
            # Pairs swap their order, so that neither always comes second.
            for captured in (True, False) if number % 2 else (False, True):
                command = [sys.executable, __file__, name, "--one", "with" if captured else "without"]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                runs[captured].append(Took(**json.loads(done.stdout.splitlines()[-1])))
        print(f"{name}: {program.__doc__} Seconds, capture and its events included.")
        report(runs, aim)


if __name__ == "__main__":
    main()
