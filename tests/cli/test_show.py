"""`spark-lineage show`: one HTML page for events, records and event logs, and a sentence for each mistake."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.events import reader

EMITTED = Path(__file__).resolve().parents[1] / "testing" / "emitted" / "nycflights.jsonl"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page is written to the current folder, unless `--out` says otherwise."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def show(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["show", *map(str, arguments)])


def data_of(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    listed: dict[str, Any] = json.loads(re.search(r'id="spark-lineage">(.*?)</script>', text, re.DOTALL)[1])
    return listed


def labels_of(page: Path) -> list[str]:
    return [run["label"] for run in data_of(page)["runs"]]


def test_the_page_of_events_has_every_task_and_all_together(here):
    """The last line is the path, for whoever calls the command."""
    result = show(EMITTED)
    assert (result.exit_code, result.output) == (0, "spark-lineage.html\n")
    assert labels_of(here / "spark-lineage.html") == [
        "newest run of each",
        "all together",
        "delay_per_mile",
        "deliver",
        "gold_delays_by_weather",
    ]


@pytest.mark.parametrize("way", ["gz", "folder"])
def test_events_may_be_compressed_or_in_a_folder(here, way):
    """They are the same events."""
    (here / "events").mkdir()
    if way == "gz":
        (here / "events" / "a.jsonl.gz").write_bytes(gzip.compress(EMITTED.read_bytes()))
    else:
        (here / "events" / "a.jsonl").write_bytes(EMITTED.read_bytes())
    place = here / "events" / "a.jsonl.gz" if way == "gz" else here / "events"
    assert show(place, "--out", "a.html").exit_code == 0
    assert show(EMITTED, "--out", "b.html").exit_code == 0
    assert data_of(here / "a.html")["runs"] == data_of(here / "b.html")["runs"]


def test_records_of_a_run_are_drawn(here, recorded):
    """The page of a recorded run is the page of its events."""
    result = show(recorded("group_by"))
    assert result.exit_code == 0, result.output
    [run] = data_of(here / "spark-lineage.html")["runs"]
    assert run["answer"]["document"]["edges"]


@pytest.mark.parametrize("name", ["nycflights.gold_delays_by_weather", "nycflights"])
def test_a_job_may_be_chosen(here, name):
    """A DAG's name chooses all its tasks."""
    assert show(EMITTED, "--job", name).exit_code == 0
    assert labels_of(here / "spark-lineage.html") == ["gold_delays_by_weather"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing.jsonl"], "nothing.jsonl: no such file or folder"),
        (["empty.jsonl"], "empty.jsonl has no OpenLineage event"),
        ([EMITTED, "--job", "nycflights.gold_delays"], "did you mean `nycflights.gold_delays_by_weather`?"),
        ([EMITTED, "--out", "missing/a.html"], "choose another file with --out"),
        (["torn.gz"], "torn.gz: cannot be read"),
        ([], "give one of PATH... (OpenLineage events) and --warehouse PATH"),
    ],
)
def test_a_mistake_is_one_sentence(here, arguments, sentence):
    """It says what to do, with exit code 2."""
    (here / "empty.jsonl").write_text("")
    (here / "torn.gz").write_bytes(gzip.compress(EMITTED.read_bytes())[:900])
    result = show(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_broken_lines_are_named_and_the_rest_is_drawn(here):
    """The page says it, too: whoever gets the page does not see the terminal."""
    (here / "events.jsonl").write_text(EMITTED.read_text(encoding="utf-8") + '{"eventType": "COM')
    result = show(here / "events.jsonl")
    assert result.exit_code == 2
    assert "the file ends in the middle of an event" in result.stderr
    listed = data_of(here / "spark-lineage.html")
    assert len(listed["runs"]) == 5
    assert "the file ends in the middle of an event" in listed["notes"][0]


def test_a_small_file_cannot_fill_the_memory(here, monkeypatch):
    """A gzip file of zeros has a thousandth of its content's size."""
    monkeypatch.setattr(reader, "MAX_BYTES", 100_000)
    bomb = zlib.compressobj(wbits=31)
    (here / "bomb.gz").write_bytes(bomb.compress(b"0" * 1_000_000) + bomb.flush())
    result = show("bomb.gz")
    assert result.exit_code == 2
    assert "more than 100,000 bytes" in result.stderr


def test_a_name_that_is_no_unicode_text_is_drawn(here):
    """JSON may have half of a character, which no file can."""
    event = {
        "eventType": "COMPLETE",
        "run": {"runId": "1"},
        "job": {"namespace": "n", "name": "j"},
        "outputs": [{"namespace": "file", "name": "/half \ud800"}],
    }
    (here / "events.jsonl").write_text(json.dumps(event))
    assert show("events.jsonl").exit_code == 0
    [run] = data_of(here / "spark-lineage.html")["runs"]
    assert run["answer"]["document"]["datasets"][0]["name"] == "/half ?"


OF_NO_RUN = [
    {"job": {"namespace": "ns", "name": "etl"}, "inputs": [{"namespace": "file", "name": "/a"}]},
    {"dataset": {"namespace": "file", "name": "/a"}},
]


@pytest.mark.parametrize("command", ["show", "explain"])
def test_events_of_no_run_are_a_sentence_and_a_code(here, command):
    """Job and dataset events: without any run, nothing is written; beside runs, the code says so."""
    events, sentence = here / "events.jsonl", "belong to no run: 1 job event, 1 dataset event."
    events.write_text("".join(f"{json.dumps(event)}\n" for event in OF_NO_RUN), encoding="utf-8")
    result = CliRunner().invoke(main, [command, str(events)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert not (here / "spark-lineage.html").exists()
    with events.open("a", encoding="utf-8") as file:
        file.write(EMITTED.read_text(encoding="utf-8"))
    result = CliRunner().invoke(main, [command, str(events)])
    assert (result.exit_code, bool(result.stdout)) == (2, True)
    assert sentence in result.stderr
    if command == "show":
        assert any(sentence in note for note in data_of(here / "spark-lineage.html")["notes"])
