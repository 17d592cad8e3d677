"""Figures of the test harness: 10,000 events against 500 expected ones, files read and relations checked.

    python benchmarks/testing.py [--events 10000] [--expected 500]

Each case is a process of its own, as `spark-lineage compare` is, so that its memory is its own too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

ALLOWED_SECONDS = 3.0
ALLOWED_MB = 300
"""The promised limit for 10,000 events and 500 expectations."""

SPEC = "https://openlineage.io/spec"
PRODUCER = "https://github.com/apache/airflow/tree/providers-openlineage/2.20.3"
FIELDS = 10


def facet(name: str, version: str, **values: Any) -> dict[str, Any]:
    return {
        "_producer": PRODUCER,
        "_schemaURL": f"{SPEC}/facets/{version}/{name}.json#/$defs/{name}",
        **values,
    }


def event(kind: str, dag: str, number: int) -> dict[str, Any]:
    """A task's event as Airflow emits it, with one dataset that has a schema and column lineage."""
    task, run = f"task_{number}", f"018f3a5e-7d2b-7c43-8f6a-{number:012d}"
    of_dag = {"job": {"namespace": "default", "name": dag}, "run": {"runId": run[:-12] + "f" * 12}}
    names = [f"field_{position}" for position in range(FIELDS)]
    edges = {
        name: {
            "inputFields": [
                {
                    "namespace": "s3://bucket",
                    "name": f"in/{number}",
                    "field": name,
                    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}],
                }
            ]
        }
        for name in names
    }
    output = {
        "namespace": "s3://bucket",
        "name": f"out/{number}",
        "facets": {
            "schema": facet(
                "SchemaDatasetFacet", "1-2-0", fields=[{"name": name, "type": "string"} for name in names]
            ),
            "columnLineage": facet("ColumnLineageDatasetFacet", "1-2-0", fields=edges),
        },
    }
    instance = {
        "dag": {"dag_id": dag},
        "dagRun": {"dag_id": dag, "run_id": "manual__1", "conf": {}},
        "task": {"task_id": task, "retries": 0, "trigger_rule": "all_success", "mapped": False},
        "taskInstance": {"try_number": 1},
        "taskUuid": run,
    }
    airflow = {
        "_producer": PRODUCER,
        "_schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunFacet",
        **instance,
    }
    job_type = facet(
        "JobTypeJobFacet", "2-0-3", integration="AIRFLOW", jobType="TASK", processingType="BATCH"
    )
    return {
        "eventType": kind,
        "eventTime": f"2024-05-01T10:{number // 60 % 60:02d}:{number % 60:02d}.{1 + (kind == 'COMPLETE')}Z",
        "producer": PRODUCER,
        "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {
            "runId": run,
            "facets": {
                "airflow": airflow,
                "parent": facet("ParentRunFacet", "1-2-0", **of_dag, root=of_dag),
            },
        },
        "job": {"namespace": "default", "name": f"{dag}.{task}", "facets": {"jobType": job_type}},
        "inputs": [],
        "outputs": [output] if kind == "COMPLETE" else [],
    }


def write_case(folder: Path, events: int, expected: int, dags: int) -> None:
    """Half of the events are START; the expectations are for the first of them, and name few fields."""
    with (folder / "events.jsonl").open("w", encoding="utf-8") as file:
        for number in range(events // 2):
            dag = f"dag_{number * dags // (events // 2)}"
            for kind in ("START", "COMPLETE"):
                file.write(json.dumps(event(kind, dag, number)) + "\n")
    with (folder / "expected.yaml").open("w", encoding="utf-8") as file:
        for number in range(expected // 2):
            for kind in ("START", "COMPLETE"):
                document = event(kind, "dag_0", number)
                wanted = {"run": {"runId": document["run"]["runId"]}, "outputs": document["outputs"]}
                for output in wanted["outputs"]:
                    for each in output["facets"].values():
                        del each["_producer"], each["_schemaURL"]
                key = f"dag_0.task_{number}.event.{kind.lower()}"
                file.write(f"{key}:\n  eventTime: !datetime\n")
                file.writelines(f"  {name}: {json.dumps(value)}\n" for name, value in wanted.items())


def measure(folder: Path, scope: str) -> None:
    """In a process of its own: print seconds, CPU seconds, memory and the summary."""
    began, cpu = perf_counter(), process_time()
    from airflow_provider_spark_lineage.testing import compare, read_events, read_expected

    report = compare(
        read_expected(folder / "expected.yaml"), read_events(folder / "events.jsonl"), scope=scope
    )
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(perf_counter() - began, process_time() - cpu, peak_mb, report.summary, sep="\t")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="What comparing costs.")
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--expected", type=int, default=500)
    parser.add_argument("--measure", nargs=2, metavar=("FOLDER", "SCOPE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(Path(arguments.measure[0]), arguments.measure[1])
        return
    per_dag = arguments.events // arguments.expected
    print(
        f"{arguments.events} events against {arguments.expected} expectations, YAML and JSON Lines included"
    )
    print(f"  {'':<38} {'seconds':>8} {'CPU':>6} {'peak MB':>8}")
    for title, dags, scope in (
        ("one DAG of many, all as expected", per_dag, "dags"),
        ("all events compared, most unexpected", 1, "all"),
        ("only the expected keys, relations of all", 1, "keys"),
    ):
        with tempfile.TemporaryDirectory() as home:
            write_case(Path(home), arguments.events, arguments.expected, dags)
            command = [sys.executable, __file__, "--measure", home, scope]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, cpu, peak_mb, summary = done.stdout.strip().split("\t")
        print(f"  {title:<38} {float(seconds):8.2f} {float(cpu):6.2f} {float(peak_mb):8.0f}   {summary}")
    print(f"  allowed{ALLOWED_SECONDS:40.2f} {'':>6} {ALLOWED_MB:8d}")


if __name__ == "__main__":
    main()
