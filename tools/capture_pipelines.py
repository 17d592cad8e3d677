"""Captures the event logs of the declarative pipelines in `tests/event_log/pipelines` (Spark 4.1 and later).

    python tools/capture_pipelines.py

It writes `<pipeline>-<run>-<major>.<minor>.jsonl.gz` beside them, without anything of the machine. The second
run of a pipeline reads one file more.
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
from capture_events import events_of, normalised

from airflow_provider_spark_lineage.spark.event_log import SETTINGS

PLACE = Path(__file__).resolve().parents[1] / "tests" / "event_log" / "pipelines"
RUNS = {"shop": ("dry-run", "run", "run"), "broken": ("run",)}
NAMES = ("dry", "first", "second")
FILES = {
    "orders": ['{"customer": "a", "amount": 2.5}\n{"customer": "b", "amount": 1.5}\n'],
    "clicks": ['{"user": "a", "page": "x"}\n', '{"user": "b", "page": "y"}\n'],
}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for pipeline, commands in RUNS.items():
            root = Path(scratch, pipeline)
            prepare(root, pipeline)
            for number, command in enumerate(commands):
                for folder, texts in FILES.items():
                    (root / folder).mkdir(exist_ok=True)
                    for position, text in enumerate(texts[: max(number, 1)]):
                        (root / folder / f"{position}.json").write_text(text)
                name = NAMES[number if len(commands) > 1 else 1]
                capture(root, command, f"{pipeline}-{name}")


def prepare(root: Path, pipeline: str) -> None:
    """Write the pipeline's files, with its paths below a folder."""
    (root / "files").mkdir(parents=True)
    for source in (PLACE / pipeline).iterdir():
        (root / "files" / source.name).write_text(source.read_text().replace("file:/data", f"file:{root}"))
    libraries = "libraries:\n  - glob:\n      include: files/**\n"
    (root / "spark-pipeline.yml").write_text(f"name: {pipeline}\nstorage: file://{root}/state\n{libraries}")


def capture(root: Path, command: str, name: str) -> None:
    """Run a pipeline once, and write the events of its log that are read."""
    logs = root / f"logs-{name}"
    logs.mkdir()
    conf = {
        **SETTINGS,
        "spark.eventLog.dir": logs.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(root / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:{root}/metastore;create=true",
    }
    words = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    arguments = shlex.join([*words, "pyspark-shell"])
    done = subprocess.run(
        [sys.executable, "-m", "pyspark.pipelines.cli", command, "--spec", str(root / "spark-pipeline.yml")],
        cwd=root,
        env={**os.environ, "SPARK_REMOTE": "local[2]", "PYSPARK_SUBMIT_ARGS": arguments},
        capture_output=True,
        text=True,
        check=False,
    )
    print(name, "exit", done.returncode, done.stdout.strip().splitlines()[-1:], flush=True)
    (log,) = (path for path in logs.iterdir() if not path.name.startswith("."))
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    sites = {event["executionId"]: event["details"] for event in events if "details" in event}
    lines = [normalised(event, root) for event in with_sites(events_of(events, 0, 1e15), sites)]
    version = ".".join(pyspark.__version__.split(".")[:2])
    target = PLACE / f"{name}-{version}.jsonl.gz"
    target.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def with_sites(events: Iterator[dict[str, Any]], sites: dict[int, str]) -> Iterator[dict[str, Any]]:
    """Yield events with the beginning of their call sites, which names their part of the pipeline."""
    for event in events:
        if "details" in event:
            site = sites[event["executionId"]]
            begin = max(site.find("plan {"), 0)
            yield {**event, "details": site[begin : site.find("dataflow_graph_id", begin)]}
        else:
            yield event


if __name__ == "__main__":
    main()
