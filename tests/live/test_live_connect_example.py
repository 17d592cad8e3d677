"""The example pipeline on Spark Connect: same lineage as of the same functions in a classic session.

The steps of `dags/nycflights_steps.py` run as they are, and the expectations that the system test of the DAG
has for the classic run are applied to them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from gap_kinds import gap_kinds
from servers.connect import client, connect

from airflow_provider_spark_lineage import capture_lineage

pytestmark = pytest.mark.spark

TABLES = ("airlines", "airports", "flights", "planes", "weather")
DAGS = Path(__file__).resolve().parents[2] / "dags"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("nycflights")


@pytest.fixture(scope="module")
def steps(home):
    before = os.environ.get("NYCFLIGHTS_HOME")
    os.environ["NYCFLIGHTS_HOME"] = str(home)
    sys.path.insert(0, str(DAGS))
    try:
        import nycflights_source
        import nycflights_steps

        nycflights_source.deliver()
        yield nycflights_steps
    finally:
        sys.path.remove(str(DAGS))
        for name in ("nycflights_source", "nycflights_steps"):
            sys.modules.pop(name, None)
        if before is None:
            del os.environ["NYCFLIGHTS_HOME"]
        else:
            os.environ["NYCFLIGHTS_HOME"] = before


@pytest.fixture(scope="module")
def lineages(steps, home):
    """Return the lineage captured of each task, by its name, in the order of the pipeline."""
    conf = {"spark.sql.warehouse.dir": str(home / "warehouse"), "spark.sql.session.timeZone": "UTC"}
    with connect(home, **conf) as url, client(url) as session:
        lineages = {}
        tasks = {
            **{
                f"bronze_{table}": (lambda table=table: steps.csv_to_parquet(table, session))
                for table in TABLES
            },
            **{
                name: (lambda name=name: getattr(steps, name)(session))
                for name in (
                    "silver_weather",
                    "silver_flights",
                    "gold_delays_by_carrier",
                    "gold_worst_routes",
                    "gold_delays_by_weather",
                )
            },
        }
        for name, task in tasks.items():
            with capture_lineage(session) as captured:
                task()
            lineages[name] = captured
        yield lineages


def edges_of(event):
    """(output, column, input, field, type, subtype) of the edges of each column in an event."""
    return {
        (
            output["name"],
            column,
            source["name"],
            source["field"],
            step["type"],
            step["subtype"],
        )
        for output in event["outputs"]
        for column, value in output["facets"]["columnLineage"]["fields"].items()
        for source in (value or {}).get("inputFields", ())
        for step in source["transformations"]
    }


def rows_of(event):
    """The same of the edges of the rows, whose output column is the whole dataset."""
    return {
        (output["name"], source["name"], source["field"], step["subtype"])
        for output in event["outputs"]
        for source in output["facets"]["columnLineage"].get("dataset") or ()
        for step in source["transformations"]
    }


@pytest.fixture(scope="module")
def classic(home):
    """Task -> the event of its classic run, as the system test expects it."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_multi_constructor("!", lambda loader, suffix, node: None)
    path = DAGS.parent / "system_tests" / "expected" / "nycflights.yaml"
    text = path.read_text().replace("${DATA}", str(home))
    events = yaml.load(text, Loader)  # noqa: S506  a file of this repository
    return {
        key.split(".")[1]: event
        for key, event in events.items()
        if key.endswith(".event.complete") and key.count(".") == 3
    }


def test_no_task_has_a_gap(lineages):
    """All that the example does is explained."""
    gaps = {name: gap_kinds(captured.lineage) for name, captured in lineages.items()}
    assert {name: kinds for name, kinds in gaps.items() if kinds} == {}


def test_every_task_has_the_lineage_of_its_classic_run(lineages, classic):
    """Datasets, columns and edges are those that the classic run is expected to have: one truth for both."""
    assert len(lineages) == 10
    for name, captured in lineages.items():
        event, want = captured.events(job=name)[-1], classic[name]
        for side in ("inputs", "outputs"):
            actual = {(dataset["namespace"], dataset["name"]) for dataset in event[side]}
            assert actual == {(dataset["namespace"], dataset["name"]) for dataset in want[side]}, name
        assert edges_of(event) == edges_of(want), name
        assert rows_of(event) == rows_of(want), name
        for actual, wanted in zip(event["outputs"], want["outputs"], strict=True):
            columns = [(field["name"], field["type"]) for field in actual["facets"]["schema"]["fields"]]
            assert columns == [
                (field["name"], field["type"]) for field in wanted["facets"]["schema"]["fields"]
            ], name
