"""Runs the examples of README in real Airflow, and checks their events.

python tools/first_task.py [REPORT [EVENT]]

It needs the package, Airflow and Spark, and nothing of the checkout but README. REPORT is a JUnit file. EVENT
is a file for the COMPLETE event of the first example, without what differs from run to run:
`tests/viewer/test_pictures_of_pages.py` draws its picture from it, docs/lineage.json.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

README = Path(__file__).resolve().parents[1] / "README.md"

MAKE_DATA = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
folder = sys.argv[1]
orders = [(1, 10, 20.5, "paid"), (2, 10, 1.5, "paid"), (3, 11, 7.0, "open")]
schema = "id int, customer_id int, amount double, status string"
spark.createDataFrame(orders, schema).write.parquet(f"{folder}/orders")
customers = [(10, "NL"), (11, "DE")]
spark.createDataFrame(customers, "id int, country string").write.parquet(f"{folder}/customers")
spark.stop()
"""


class Place:
    """An AIRFLOW_HOME with its data, and the environment of its commands."""

    def __init__(self, folder: Path, event_file: Path | None) -> None:
        self.event_file = event_file
        self.folder = folder
        self.dags = folder / "dags"
        self.dags.mkdir()
        self.variables = {
            **os.environ,
            "AIRFLOW_HOME": str(folder / "airflow"),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            **exports(),
            "AIRFLOW__OPENLINEAGE__NAMESPACE": "my_team",
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        self.run(sys.executable, "-c", MAKE_DATA, str(folder))
        self.run(sys.executable, "-m", "airflow", "db", "migrate")

    def run(self, *command: str, **variables: str) -> str:
        """Run a command to its end and return its output; raise with the output if it fails."""
        result = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.variables, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise AssertionError(
                f"{' '.join(command)} ended with {result.returncode}:\n{result.stdout}\n{result.stderr}"
            )
        return result.stdout

    def events(self, name: str, text: str, **options: str) -> list[dict[str, Any]]:
        """Run the only DAG of a text, and return its OpenLineage events."""
        events = self.folder / f"{name}.jsonl"
        transport = {"type": "file", "log_file_path": str(events), "append": True}
        (self.dags / "shop.py").write_text(text.replace("/shop/", f"{self.folder}/"), encoding="utf-8")
        printed = self.run(
            *(sys.executable, "-m", "airflow", "dags", "test", "shop"),
            AIRFLOW__OPENLINEAGE__TRANSPORT=json.dumps(transport),
            **options,
        )
        if not events.exists():
            raise AssertionError(f"no event was written:\n{printed}")
        # As README shows them, where the data is in /shop.
        text = events.read_text(encoding="utf-8").replace(f"{self.folder}/", "/shop/")
        return [json.loads(line) for line in text.splitlines()]


def blocks(language: str) -> list[str]:
    """Return the code of README in a language."""
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def exports() -> dict[str, str]:
    """Return the environment variables that README's shell examples export."""
    return dict(re.findall(r"^export (\w+)='(.*)'$", "".join(blocks("bash")), re.MULTILINE))


def example() -> str:
    """Return the first example: a DAG file."""
    return blocks("python")[0]


def complete(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the task's last event."""
    events_of_task = [
        event
        for event in events
        if event["eventType"] == "COMPLETE" and event["job"]["name"] == "shop.revenue"
    ]
    assert len(events_of_task) == 1, [(event["eventType"], event["job"]["name"]) for event in events]
    return events_of_task[0]


def contains(real: Any, shown: Any, path: str = "event") -> None:
    """Raise where something that is shown is not so: objects and lists may have more in them."""
    if isinstance(shown, dict):
        assert isinstance(real, dict), f"{path}: {real}"
        for key, value in shown.items():
            assert key in real, f"{path} has no {key}: {sorted(real)}"
            contains(real[key], value, f"{path}.{key}")
    elif isinstance(shown, list):
        for number, value in enumerate(shown):
            if not any(holds(item, value) for item in real):
                raise AssertionError(f"{path}[{number}]: nothing like {value} in {json.dumps(real)}")
    else:
        assert real == shown, f"{path}: {real!r} in place of {shown!r}"


def holds(real: Any, shown: Any) -> bool:
    """Return whether `contains` finds nothing."""
    try:
        contains(real, shown)
    except AssertionError:
        return False
    return True


def lasting(event: dict[str, Any]) -> dict[str, Any]:
    """Return the part of an event that is the same in every run."""
    job = {name: event["job"][name] for name in ("namespace", "name")}
    datasets = {
        side: [
            {
                "namespace": dataset["namespace"],
                "name": dataset["name"],
                "facets": {
                    name: dataset["facets"][name]
                    for name in ("schema", "columnLineage")
                    if name in dataset["facets"]
                },
            }
            for dataset in event[side]
        ]
        for side in ("inputs", "outputs")
    }
    return {"eventType": event["eventType"], "job": job, **datasets}


# ---- checks ---------------------------------------------------------------------------------------


def doctor(place: Place) -> None:
    """The doctor finds nothing to fix, with a transport set."""
    transport = json.dumps({"type": "file", "log_file_path": "events.jsonl"})
    command = (sys.executable, "-m", "airflow_provider_spark_lineage", "doctor", "--json")
    report = json.loads(place.run(*command, AIRFLOW__OPENLINEAGE__TRANSPORT=transport))
    assert report["healthy"], report


def drop_in(place: Place) -> None:
    """The example with our decorator has the event that README shows."""
    event = complete(place.events("drop_in", example()))
    contains(event, json.loads(blocks("json")[0]))
    if place.event_file:
        place.event_file.write_text(json.dumps(lasting(event), indent=1) + "\n", encoding="utf-8")


def configuration_only(place: Place) -> None:
    """The example with Airflow's own decorator, and README's options, has the same event."""
    text = example().replace("@task.pyspark_lineage", "@task.pyspark")
    assert text != example()
    options = configparser.ConfigParser()
    options.read_string(next(block for block in blocks("ini") if "auto_capture" in block))
    variables = {
        f"AIRFLOW__{section}__{key}".upper(): value
        for section in options.sections()
        for key, value in options[section].items()
    }
    event = complete(place.events("configuration_only", text, **variables))
    contains(event, json.loads(blocks("json")[0]))


def main(report: Path | None, event_file: Path | None) -> int:
    """Run every check, print the failures, and return 1 if there are any."""
    suite = ElementTree.Element("testsuite", name="first_task")
    failed, begin = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), event_file)
        for check in (doctor, drop_in, configuration_only):
            case = ElementTree.SubElement(suite, "testcase", classname="first_task", name=check.__name__)
            try:
                check(place)
                print(f"passed {check.__name__}")
            except Exception:  # A check that breaks in any way is a failed check, and is reported.
                failed += 1
                ElementTree.SubElement(case, "failure").text = text = traceback.format_exc()
                print(f"FAILED {check.__name__}\n{text}")
    suite.set("tests", str(len(suite)))
    suite.set("time", f"{time.monotonic() - begin:.0f}")
    if report:
        ElementTree.ElementTree(suite).write(report)
    return int(failed > 0)


if __name__ == "__main__":
    files = [Path(argument).absolute() for argument in sys.argv[1:]]
    sys.exit(main(*[*files, None, None][:2]))
