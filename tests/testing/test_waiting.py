"""Waiting for events ends when they are there, or at the deadline, and says what was there."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from time import monotonic

import pytest

from airflow_provider_spark_lineage.testing import DeadlineError, wait_for_events


def line(task: str) -> str:
    return json.dumps({"eventType": "START", "run": {}, "job": {"name": f"dag.{task}"}}) + "\n"


def test_events_that_are_there_are_not_waited_for(tmp_path: Path) -> None:
    """It looks before it waits."""
    (tmp_path / "events").write_text(line("a"))
    assert len(wait_for_events(tmp_path / "events", until=1, timeout_s=0)) == 1


def test_a_file_that_appears_later_is_waited_for(tmp_path: Path) -> None:
    """What does not exist yet holds no events; half an event is none."""
    path, half = tmp_path / "events", line("a")[:20]
    looked = threading.Event()

    def write() -> None:
        looked.wait(10)
        path.write_text(half)
        path.write_text(line("a") + line("b"))

    def until(events: object) -> bool:
        looked.set()
        return len(list(events)) == 2  # type: ignore[call-overload]

    writer = threading.Thread(target=write)
    writer.start()
    events = wait_for_events(path, until, timeout_s=10)
    writer.join()
    assert [event.key for event in events] == ["dag.a.event.start", "dag.b.event.start"]


def test_half_an_event_is_not_counted(tmp_path: Path) -> None:
    """An event that is being written is not there yet."""
    (tmp_path / "events").write_text(line("a") + line("b")[:20])
    with pytest.raises(DeadlineError, match=r"within 0.05 s; there are 1: dag\.a\.event\.start\."):
        wait_for_events(tmp_path / "events", until=2, timeout_s=0.05)


def test_the_deadline_ends_the_wait(tmp_path: Path) -> None:
    """A test that waits for nothing ends in the time it was given."""
    began = monotonic()
    with pytest.raises(DeadlineError, match="there are 0: none"):
        wait_for_events(tmp_path / "nothing", until=1, timeout_s=0.1)
    assert 0.1 <= monotonic() - began < 5
