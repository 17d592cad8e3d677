"""Pictures of a warehouse, by `spark-lineage show` and in a notebook, without Spark."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from graph.estate import current, dataset, edges, run
from warehouse.stored_graphs import store

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.viewer import around
from airflow_provider_spark_lineage.openlineage.viewer.around import MOST_BOXES
from airflow_provider_spark_lineage.warehouse import picture

EVENTS = Path(__file__).resolve().parents[1] / "viewer" / "events" / "pipeline.jsonl.gz"


def copy(job: str, source: str, *targets: str, **more: Any) -> dict[str, Any]:
    outputs = [dataset(target, "x:long", **edges(f"x <- {source}.x")) for target in targets]
    return run(job, [dataset(source, "x:long")], outputs, **more)


CHAIN = [
    copy("extract", "raw", "bronze/a", "bronze/other"),
    copy("clean", "bronze/a", "silver/a"),
    copy("publish", "silver/a", "gold/a", state="FAIL"),
    copy("report", "gold/a", "report"),
    run("watch", [dataset("silver/a", "x:long")]),
]
"""`bronze/other` neither leads to `silver/a` nor follows from it."""


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store(tmp_path_factory.mktemp("chain"), current(*CHAIN))


def show(folder: Path, *arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["show", *map(str, arguments), "--out", str(folder / "page.html")])


def shown(folder: Path, *arguments: str | Path) -> dict[str, Any]:
    result = show(folder, *arguments)
    assert (result.exit_code, result.output) == (0, f"{folder / 'page.html'}\n")
    text = (folder / "page.html").read_text(encoding="utf-8")
    page: dict[str, Any] = json.loads(re.search(r'id="spark-lineage">(.*?)</script>', text, re.DOTALL)[1])
    return page


def document_of(page: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = page["runs"][0]["answer"]["document"]
    return document


def names_in(page: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Return the names of the datasets and jobs of a page."""
    document = document_of(page)
    return {each["name"] for each in document["datasets"]}, {task["title"] for task in document["tasks"]}


@pytest.mark.parametrize(
    ("depth", "datasets", "jobs"),
    [
        ("0", {"silver/a"}, set()),
        ("1", {"bronze/a", "silver/a", "gold/a"}, {"clean", "publish", "watch"}),
        (
            "2",
            {"raw", "bronze/a", "silver/a", "gold/a", "report"},
            {"extract", "clean", "publish", "watch", "report"},
        ),
    ],
)
def test_the_picture_has_what_is_within_so_many_jobs(chain, tmp_path, depth, datasets, jobs):
    """Upstream of it and downstream, and nothing beside; two jobs are the default."""
    page = shown(tmp_path, "--warehouse", chain, "--dataset", "silver/a", "--depth", depth)
    assert names_in(page) == (datasets, jobs)
    assert page["chosen"] == {"namespace": "s3://lake", "name": "silver/a", "column": None}
    if depth == "2":
        assert shown(tmp_path, chain, "--dataset", "silver/a") == page


def test_a_box_tells_how_many_jobs_are_outside_of_the_picture(chain, tmp_path):
    """A person sees where the lineage goes on. A job whose last run failed is marked."""
    document = document_of(shown(tmp_path, "--warehouse", chain, "--dataset", "silver/a", "--depth", "1"))
    assert {each["name"]: each["beyond"] for each in document["datasets"]} == {
        "bronze/a": 1,
        "silver/a": 0,
        "gold/a": 1,
    }
    assert {task["title"]: task["state"] for task in document["tasks"]}["publish"] == "fail"


def test_events_give_the_picture_of_their_warehouse(tmp_path):
    """With columns, edges, pairs of rows and gaps, around a dataset and as a whole."""
    warehouse = store(tmp_path / "w", Current.of(read_events(EVENTS)))
    around = ["--dataset", "silver/flights", "--depth", "1"]
    page = shown(tmp_path, "--warehouse", warehouse, *around)
    assert shown(tmp_path, EVENTS, *around) == page
    document = document_of(page)
    labels = [each["label"] for each in document["datasets"]]
    edges_ = {(labels[each["from"]], each["field"], each["column"]) for each in document["edges"]}
    assert ("weather", "temperature_f", "temperature_f") in edges_
    whole = document_of(shown(tmp_path, "--warehouse", warehouse))
    assert len(whole["datasets"]) == len(Current.of(read_events(EVENTS)).datasets)
    assert len(whole["tasks"]) > len(document["tasks"])


def test_several_datasets_are_in_one_picture(chain, tmp_path):
    """The first is the one that the page opens; a column begins with its trace."""
    page = shown(tmp_path, "--warehouse", chain, "--dataset", "raw.x", "--dataset", "report", "--depth", "1")
    assert names_in(page)[0] == {"raw", "bronze/a", "bronze/other", "gold/a", "report"}
    assert page["chosen"] == {"namespace": "s3://lake", "name": "raw", "column": "x"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give one of PATH... (OpenLineage events) and --warehouse PATH"),
        ([EVENTS, "--warehouse", "CHAIN"], "give one of PATH... (OpenLineage events) and --warehouse PATH"),
        (["--warehouse", "none"], "none has no warehouse"),
        (["--warehouse", "CHAIN", "--dataset", "silver/b"], "the nearest are silver/a"),
        (["--warehouse", "CHAIN", "--dataset", "a"], "a is not unique: give one of s3://lake/bronze/a, "),
        (["--warehouse", "CHAIN", "--dataset", "clean"], "clean is a job: give the name of a dataset"),
        (["--warehouse", "CHAIN", "--depth", "2"], "--depth counts from a dataset"),
        (["--warehouse", "CHAIN", "--job", "clean"], "--job chooses runs of events"),
    ],
)
def test_a_mistake_is_one_sentence(chain, tmp_path, monkeypatch, arguments, sentence):
    """It says what to do, with exit code 2, and no page is written."""
    monkeypatch.chdir(tmp_path)
    result = show(tmp_path, *(chain if each == "CHAIN" else each for each in arguments))
    assert (result.exit_code, (tmp_path / "page.html").exists()) == (2, False)
    assert sentence in result.stderr


def test_a_dataset_of_very_many_jobs_has_a_picture_of_both_sides(tmp_path):
    """The rest is counted; a picture of everything is refused with the cure."""
    feeds = [copy(f"feed_{number}", f"raw/{number}", "hub") for number in range(MOST_BOXES)]
    marts = [copy(f"mart_{number}", "hub", f"mart/{number}") for number in range(10)]
    warehouse = store(tmp_path / "w", current(*feeds, *marts))
    page = shown(tmp_path, "--warehouse", warehouse, "--dataset", "hub")
    datasets, jobs = names_in(page)
    assert len(datasets) + len(jobs) == MOST_BOXES
    assert {f"mart/{number}" for number in range(10)} < datasets
    left_out = 2 * MOST_BOXES + 2 * 10 + 1 - MOST_BOXES
    [note] = page["runs"][0]["answer"]["notes"]
    assert sum(int(count) for count in re.findall(r"(\d+) (?:dataset|job)s", note)) == left_out
    refused = show(tmp_path, "--warehouse", warehouse)
    assert refused.exit_code == 2
    assert "has 1,011 datasets, 1,010 jobs: too many for one picture. Choose a dataset (--dataset NAME)." in (
        refused.stderr
    )


def test_edges_of_columns_have_a_limit_too(chain, tmp_path, monkeypatch):
    """Wide tables make a page large before there are many of them."""
    monkeypatch.setattr(around, "MOST_EDGES", 3)
    page = shown(tmp_path, "--warehouse", chain, "--dataset", "silver/a")
    assert len(document_of(page)["edges"]) == 3
    assert names_in(page)[0] == {"raw", "bronze/a", "silver/a", "gold/a"}
    [note] = page["runs"][0]["answer"]["notes"]
    assert "Left out for want of room: 1 dataset and 1 job." in note
    # `extract` comes in by one of its outputs.
    monkeypatch.setattr(around, "MOST_EDGES", 1)
    both = shown(tmp_path, "--warehouse", chain, "--dataset", "bronze/a", "--dataset", "bronze/other")
    assert len(document_of(both)["edges"]) == 1
    [note] = both["runs"][0]["answer"]["notes"]
    assert "the column edges of 1 write" in note
    monkeypatch.setattr(around, "MOST_EDGES", 3)
    refused = show(tmp_path, "--warehouse", chain)
    assert (refused.exit_code, "5 jobs, 5 column edges: too many" in refused.stderr) == (2, True)


def test_a_notebook_shows_the_picture_of_a_warehouse(chain):
    """In a sandboxed frame; its text has the jobs, and a wrong name is an error with the nearest."""
    drawn = picture(chain, "silver/a", depth=1)
    assert repr(drawn).splitlines() == [
        "Around silver/a",
        "  clean: bronze/a -> silver/a",
        "  publish: silver/a -> gold/a",
        "  watch: silver/a -> nothing",
    ]
    assert drawn._repr_html_().startswith("<iframe srcdoc=")
    assert "extract: raw -> bronze/a, other" in repr(picture(str(chain)))
    with pytest.raises(BadInputError, match="the nearest are silver/a"):
        picture(chain, "silver/b")
