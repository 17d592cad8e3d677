"""`capture_lineage` anywhere in a program: it never raises, its run begins and ends, no file stays."""

from __future__ import annotations

import asyncio
import html
import json
import os
import re
import tempfile
import threading

import pytest
from gap_kinds import gap_kinds

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.runs import memory

pytestmark = pytest.mark.spark


def in_a_thread(block, monkeypatch):
    thread = threading.Thread(target=block)
    thread.start()
    thread.join()


def in_a_notebook(block, monkeypatch):
    """A notebook's cells run inside of an event loop."""

    async def cell():
        block()

    asyncio.run(cell())


def in_another_capture(block, monkeypatch):
    with capture_lineage():
        block()


def without_a_folder(block, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    block()


def without_permission(block, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    block()


def on_a_full_disk(block, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    block()


PLACES = (
    in_a_thread,
    in_a_notebook,
    in_another_capture,
    without_a_folder,
    without_permission,
    on_a_full_disk,
)


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The folder for temporary files, which records need at once."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(memory, "SPILL_BYTES", 0)
    return folder


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_block_is_captured_wherever_it_stands(spark, tmp_path, scratch, place, monkeypatch):
    """It works without a writable disk, and leaves no file there."""
    captures = []

    def block():
        with capture_lineage(spark) as captured:
            spark.range(3).write.parquet(str(tmp_path / "out"))
        captures.append(captured)

    place(block, monkeypatch)
    (captured,) = captures
    assert [output.dataset.id.name for output in captured.lineage.outputs] == [str(tmp_path / "out")]
    assert captured.lineage.gaps == ()
    names = [event["eventType"] for event in captured.events()]
    assert names == ["START", "START", "COMPLETE", "COMPLETE"]
    assert list(scratch.iterdir()) == []


def test_a_fault_of_the_lineage_itself_is_a_gap(spark, tmp_path, monkeypatch):
    """A fault in our own code does not reach the block, and its events have a gap."""
    from airflow_provider_spark_lineage.spark.runs import recorded

    def broken(*_, **__):
        raise RuntimeError("on purpose")

    monkeypatch.setattr(recorded.Composer, "add", broken)
    monkeypatch.setattr(recorded.Composer, "lineage", broken)
    with capture_lineage(spark) as captured:
        spark.range(3).write.parquet(str(tmp_path / "out"))
    events = captured.events()
    assert (events[0]["eventType"], events[-1]["eventType"]) == ("START", "COMPLETE")
    assert "on purpose" in str(events[-1])


def test_a_captured_block_shows_its_lineage(spark, tmp_path):
    """At a prompt the readable lineage; in a notebook a sandboxed picture, or text where scripts are off."""
    with capture_lineage(spark) as captured:
        spark.range(3).write.parquet(str(tmp_path / "out"))
    assert repr(captured) == captured.text().rstrip("\n")
    pattern = r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts[^"]*"[^>]*></iframe>'
    frame = re.fullmatch(pattern, captured._repr_html_())
    page = html.unescape(frame[1])
    assert f"<noscript>{html.escape(repr(captured))}</noscript>" in page
    data = json.loads(re.search(r'id="spark-lineage">(.*?)</script>', page, re.DOTALL)[1])
    [run] = data["runs"]
    assert [each["name"] for each in run["answer"]["document"]["datasets"]] == [str(tmp_path / "out")]
    with capture_lineage(spark) as captured:
        spark.range(3).write.parquet(str(tmp_path / "<b>"))
    assert "<b>" not in captured._repr_html_()
    assert "nothing" in repr(capture_nothing())


def capture_nothing():
    with capture_lineage() as captured:
        pass
    return captured


def test_a_session_that_was_stopped_is_a_gap(spark):
    """Spark tells the program that it is stopped, and a gap tells the reader. The module's last test."""
    spark.stop()
    with capture_lineage(spark) as captured:
        pass
    assert [event["eventType"] for event in captured.events()] == ["START", "COMPLETE"]
    assert gap_kinds(captured.lineage)[0] == "not_recorded"
