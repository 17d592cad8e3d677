"""Events of all producers that tests have: recorded ones, and those made by the real client."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from graph.test_producers import all_producers

TESTS = Path(__file__).resolve().parents[1]

RECORDED = (
    # The example DAGs: tasks and executions of this package, and Airflow's own events.
    "viewer/events/pipeline.jsonl.gz",
    "testing/emitted/nycflights.jsonl",
    "testing/emitted/small.jsonl",
    "viewer/events/java_agent.jsonl",
)


def copied(folder: Path) -> Path:
    """Return a folder with a file of events for each producer."""
    folder.mkdir()
    for file in RECORDED:
        shutil.copy(TESTS / file, folder)
    lines = (json.dumps(event) + "\n" for event in all_producers())
    (folder / "made.jsonl").write_text("".join(lines))
    return folder
