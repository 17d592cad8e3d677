"""`docs/events.md` and its golden files are what the code builds from the records of a real run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from openlineage_client import needs_newest_client
from shop_events import EVENTS, FOLDER, GOLDEN

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "events.md"

pytestmark = needs_newest_client


def test_events_and_page_are_what_the_code_builds() -> None:
    """A changed facet changes them: run `python tools/events_page.py` and read what changed."""
    check = [sys.executable, str(ROOT / "tools" / "events_page.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", EVENTS)
def test_golden_event_is_valid(name: str) -> None:
    """Every facet follows the schema that it names."""
    assert problems_of(json.loads((GOLDEN / f"{name}.json").read_text())) == []


def test_page_shows_each_golden_event_in_order() -> None:
    """One block of JSON for each event, of the same run and state."""
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)]
    events = [json.loads((GOLDEN / f"{name}.json").read_text()) for name in EVENTS]
    for key in ("eventType", "eventTime", "producer"):
        assert [block[key] for block in blocks] == [event[key] for event in events]
    assert [block["run"]["runId"] for block in blocks] == [event["run"]["runId"] for event in events]


def test_all_are_of_one_run() -> None:
    """Parents on the page are runs on the page: executions of the tasks, tasks of one DAG run."""
    events = {name: json.loads((GOLDEN / f"{name}.json").read_text()) for name in EVENTS}
    tasks = {event["run"]["runId"] for name, event in events.items() if name.startswith("task")}
    for name, event in events.items():
        parent = event["run"]["facets"]["parent"]
        assert (parent["run"]["runId"] in tasks) == (not name.startswith("task")), name
        assert parent["root"]["job"]["name"] == "shop"


def test_no_path_of_the_recording_machine_is_committed() -> None:
    """Folders of the recording machine are replaced."""
    for path in (*FOLDER.rglob("*.json"), PAGE):
        assert not re.search(r"/(root|home|tmp|work|Users)/", path.read_text()), path
