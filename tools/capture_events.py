"""Captures the event logs of `tests/records/<case>/job.py` on the Spark of the running interpreter.

    python tools/capture_events.py            all cases
    python tools/capture_events.py pivot cte  these
    python tools/capture_events.py --default  all cases, with Spark's own settings for texts

It writes `events-<major>.<minor>.jsonl.gz`: those events of the job that are read, without anything of the
machine. With `--default` it writes `formatted-<major>.<minor>.jsonl.gz`: the physical plan alone, as Spark
writes it where nobody asked for more. `tests/event_log/test_cases.py` compares the lineage of both with that
of the records of the same job.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from capture_records import CASES, DATA, clear_catalog, groups, load, prepared, session

from airflow_provider_spark_lineage.spark.event_log import SETTINGS

_DEFAULT = "--default"
_SQL = "org.apache.spark.sql.execution.ui.SparkListener"


def main(names: list[str]) -> int:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    is_default = _DEFAULT in names
    cases = [CASES / name for name in names if name != _DEFAULT] or sorted(
        job.parent for job in CASES.glob("*/job.py")
    )
    kinds = groups(cases)
    if len(kinds) > 1:
        # A JVM takes its jars and extensions only when it starts.
        flags = [_DEFAULT] if is_default else []
        commands = ([sys.executable, __file__, *flags, *(case.name for case in group)] for _, group in kinds)
        return max(subprocess.run(command, check=False).returncode for command in commands)
    for conf, group in kinds:
        return capture_all(conf, group, is_default=is_default)
    return 0


def capture_all(conf: dict[str, str], cases: list[Path], *, is_default: bool) -> int:
    """Capture cases that share a session; return 1 where one of them failed."""
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        root, logs = Path(scratch, "data"), Path(scratch, "logs")
        logs.mkdir()
        of_log = {
            **({"spark.eventLog.enabled": "true"} if is_default else SETTINGS),
            "spark.eventLog.dir": logs.as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }
        spark = session(root, {**conf, **of_log})
        version = ".".join(spark.version.split(".")[:2])
        spans: list[tuple[Path, float, float]] = []
        for case in cases:
            if version < getattr(load(case), "SINCE", ""):
                continue
            try:
                job = prepared(spark, case, root)
                began = time.time()
                job()
                spans.append((case, began, time.time()))
            # One case that this Spark cannot run must not cost the others.
            except Exception as error:
                failed.append(case.name)
                print(f"{case.name}: FAILED {type(error).__name__}"[:600], file=sys.stderr)
            clear_catalog(spark)
        spark.stop()
        (log,) = (path for path in logs.iterdir() if not path.name.startswith("."))
        events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        for case, began, ended in spans:
            lines = [normalised(event, root) for event in events_of(events, began * 1000, ended * 1000)]
            kind = "formatted" if is_default else "events"
            target = case / f"{kind}-{version}.jsonl.gz"
            target.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
            print(f"{case.name}: {len(lines)} events, {target.stat().st_size} bytes", flush=True)
    print(f"{len(spans)} captured, failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def events_of(events: list[dict[str, Any]], began: float, ended: float) -> Iterator[dict[str, Any]]:
    """Yield the events of executions that began in a span, and those about the application."""
    executions: set[int] = set()
    stages: set[int] = set()
    for event in events:
        name = str(event["Event"]).removeprefix(_SQL).removeprefix("SparkListener")
        match name:
            case "LogStart" | "ApplicationStart":
                yield event
            case "EnvironmentUpdate":
                properties = event["Spark Properties"].items()
                selected = {key: value for key, value in properties if key.startswith("spark.sql.")}
                yield {"Event": event["Event"], "Spark Properties": selected}
            case "SQLExecutionStart" if began <= event["time"] <= ended:
                executions.add(event["executionId"])
                yield {**event, "details": ""}
            case "SQLExecutionEnd" | "SQLAdaptiveExecutionUpdate" | "DriverAccumUpdates":
                if event["executionId"] in executions:
                    yield {**event, "physicalPlanDescription": ""} if "sparkPlanInfo" in event else event
            case "JobStart":
                execution = (event.get("Properties") or {}).get("spark.sql.execution.id")
                if execution and int(execution) in executions:
                    stages.update(event["Stage IDs"])
                    of_execution = {"spark.sql.execution.id": execution}
                    selected = {key: event[key] for key in ("Event", "Job ID", "Stage IDs")}
                    yield {**selected, "Properties": of_execution}
            case "StageCompleted" if event["Stage Info"]["Stage ID"] in stages:
                info = event["Stage Info"]
                counted = [
                    accumulable
                    for accumulable in info["Accumulables"]
                    if accumulable.get("Metadata") == "sql"
                    or str(accumulable.get("Name")).startswith("internal.metrics.output")
                ]
                selected = {"Stage ID": info["Stage ID"], "Accumulables": counted}
                failure = {key: info[key] for key in ("Failure Reason",) if key in info}
                yield {"Event": event["Event"], "Stage Info": {**selected, **failure}}


def normalised(event: dict[str, Any], root: Path) -> str:
    """Return an event as one line without anything of this machine or this run."""
    text = json.dumps(event, separators=(",", ":"))
    text = text.replace(str(root), DATA)
    text = re.sub(r'"time":\d+', '"time":1704067200000', text)
    text = re.sub(r'"(App ID|User|Timestamp)":("[^"]*"|\d+)', r'"\1":"0"', text)
    text = re.sub(r"@[0-9a-f]{6,8}\b", "@0", text)
    text = re.sub(r"Lambda(?:\$|/0x)[^@\"\\ ]*", "Lambda", text)
    # Where Spark and the Python code that called it are installed.
    text = re.sub(r'File \\"[^"]*/', r'File \\"', text)
    assert sys.prefix not in text, text
    return text


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
