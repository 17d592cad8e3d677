"""Captures the records of `tests/records/<case>/job.py` on the Spark of the running interpreter.

    python tools/capture_records.py            all cases
    python tools/capture_records.py pivot cte  these

Run it once by each Spark version: it writes the lines of the cases in `records-<major>.<minor>.jsonl.gz`.
What differs between two machines or two runs (folders, times, the application's id) is replaced, so that a
line changes only where Spark or capture did. Run `tools/golden_lineage.py` next.

A job that needs more than Spark says so in constants of its module, and runs in a process of its own kind:
`NEEDS` names rows of `tests/spark_packages.py`, `CONF` holds settings, where `{root}` is the case's folder.
A case whose jars do not exist for the running Spark is left out.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import recordings
from spark_packages import coordinate, settings

from airflow_provider_spark_lineage.spark.capture.this_process import Capture
from airflow_provider_spark_lineage.spark.records.record import Record

CASES = Path(__file__).resolve().parents[1] / "tests" / "records"
DATA = "/data"
"""Placeholder in a record for the folder of a case."""

ORDERS = [
    (1, "ann", "pen", 2.5, 4, "2024-01-01", ["new", "gift"]),
    (2, "bob", "ink", 7.0, 1, "2024-01-01", []),
    (3, "ann", "pad", 1.0, 9, "2024-01-02", ["new"]),
]
PEOPLE = [("ann", "Ann A", "Rome", 30), ("bob", "Bob B", "Oslo", 41), ("eve", "Eve E", "Rome", 25)]


def load(case: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"record_case_{case.name}", case / "job.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_inputs(spark: SparkSession, path: Any) -> None:
    """Write the inputs that every case may read: parquet folders `orders` and `people`."""
    orders = (
        "id bigint, customer string, item string, amount double, quantity int, day string, tags array<string>"
    )
    spark.createDataFrame(ORDERS, orders).coalesce(1).write.parquet(path("orders"))
    people = "customer string, name string, city string, age int"
    spark.createDataFrame(PEOPLE, people).coalesce(1).write.parquet(path("people"))


def clear_catalog(spark: SparkSession) -> None:
    """Leave nothing of a case to the next one."""
    spark.catalog.clearCache()
    spark.sql("use spark_catalog.default")
    for table in spark.catalog.listTables():
        kind = "view" if table.tableType in ("VIEW", "TEMPORARY") else "table"
        spark.sql(f"drop {kind} if exists `{table.name}`")
    for table in spark.catalog.listTables("global_temp"):
        if table.namespace == ["global_temp"]:
            spark.sql(f"drop view global_temp.`{table.name}`")


def prepared(spark: SparkSession, case: Path, root: Path) -> Callable[[], None]:
    """Make the inputs of a case; return the function that runs its job."""
    if root.exists():
        shutil.rmtree(root)
    (root / "warehouse").mkdir(parents=True)
    module = load(case)

    def path(name: str) -> str:
        return str(root / name)

    make_inputs(spark, path)
    if hasattr(module, "setup"):
        module.setup(spark, path)
    return lambda: module.job(spark, path)


def capture(spark: SparkSession, case: Path, root: Path) -> list[Record]:
    """Run one case and return its records."""
    job = prepared(spark, case, root)
    records: list[Record] = []
    watch = Capture(records.append)
    watch.arm()
    try:
        job()
    finally:
        watch.disarm()
    problems = [*watch.problems, *(problem for record in records for problem in record.problems)]
    assert not problems, problems
    return records


def normalised(number: int, record: Record, root: Path) -> str:
    """Return a record as one line without anything of this machine or this run."""
    stable = replace(
        record,
        application_id="local-1",
        number=number,
        started_at="2024-01-01T00:00:00+00:00",
        ended_at="2024-01-01T00:00:01+00:00",
    )
    text = json.dumps(stable.to_json(), separators=(",", ":"))
    text = text.replace(str(root), DATA)
    text = re.sub(r'"jvmId":"[0-9a-f-]+"', '"jvmId":"0"', text)
    text = re.sub(r"@[0-9a-f]{6,8}\b", "@0", text)
    text = re.sub(r"SPARK_GEN_SUBQ_\d+", "SPARK_GEN_SUBQ_0", text)
    # An Iceberg snapshot is a random number.
    text = re.sub(r'("(?:\w+_)?snapshot"):\d+', r"\1:1", text)
    # Where Spark and the Python code that called it are installed.
    text = re.sub(r'"origin":\{[^{}]*\}', '"origin":{}', text)
    text = re.sub(r'File \\"[^"]*/', r'File \\"', text)
    assert sys.prefix not in text, text
    return text


def write(spark: SparkSession, case: Path, root: Path) -> None:
    version = ".".join(spark.version.split(".")[:2])
    if version < getattr(load(case), "SINCE", ""):
        return
    lines = [normalised(i, record, root) for i, record in enumerate(capture(spark, case, root), 1)]
    recordings.write(recordings.RECORDS, version, {case.name: "\n".join(lines) + "\n"})
    print(f"{case.name}: {len(lines)} records", flush=True)


def groups(cases: list[Path]) -> list[tuple[dict[str, str], list[Path]]]:
    """Return the cases that can run on this Spark by the settings of the session that they need."""
    folders: dict[str, tuple[dict[str, str], list[Path]]] = {}
    for case in cases:
        module = load(case)
        needs = getattr(module, "NEEDS", ())
        if any(coordinate(name) is None for name in needs):
            print(f"{case.name}: no jars for this Spark")
            continue
        conf = {**(settings() if needs else {}), **getattr(module, "CONF", {})}
        folders.setdefault(json.dumps(conf, sort_keys=True), (conf, []))[1].append(case)
    return list(folders.values())


def main(names: list[str]) -> int:
    # Python workers are found on PATH, and must be of this environment.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    cases = [CASES / name for name in names] or sorted(job.parent for job in CASES.glob("*/job.py"))
    kinds = groups(cases)
    if len(kinds) > 1:
        # A JVM takes its jars and extensions only when it starts.
        commands = ([sys.executable, __file__, *map(str, group)] for _, group in kinds)
        return max(subprocess.run(command, check=False).returncode for command in commands)
    for conf, group in kinds:
        return capture_all(conf, group)
    return 0


def session(root: Path, conf: dict[str, str]) -> SparkSession:
    """Start the session for the cases; `root` is the folder of each."""
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.warehouse.dir", str(root / "warehouse"))
        .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={root.parent}")
        .config(
            "spark.sql.catalog.derby",
            "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        )
        .config("spark.sql.catalog.derby.url", "jdbc:derby:memory:lineage;create=true")
        .config("spark.sql.catalog.derby.driver", "org.apache.derby.jdbc.EmbeddedDriver")
        .config(map={key: value.replace("{root}", str(root)) for key, value in conf.items()})
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def capture_all(conf: dict[str, str], cases: list[Path]) -> int:
    """Capture cases that share a session; return 1 where one of them failed."""
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "data")
        spark = session(root, conf)
        for case in cases:
            try:
                write(spark, case, root)
            # One case that this Spark cannot run must not cost the others.
            except Exception as error:
                failed.append(case.name)
                print(f"{case.name}: FAILED {type(error).__name__}: {error}"[:600], file=sys.stderr)
            clear_catalog(spark)
        spark.stop()
    print(f"{len(cases) - len(failed)} captured, failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
