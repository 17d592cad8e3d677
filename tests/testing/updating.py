"""Updates of expected files, with the guarantees of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Events,
    Report,
    Update,
    compare,
    read_expected,
    update_expected,
)

VARIABLES = {"DATA": "/in"}
ID = "018f3a5e-7d2b-7c43-8f6a-000000000001"

Documents = list[dict[str, Any]]


def compared(file: Path, events: Documents, **more: Any) -> Report:
    given = {"variables": VARIABLES, **more}
    return compare(read_expected(file), Events.of(events), without=RELATIONS, **given)


def update(file: Path, events: Documents, **more: Any) -> Update:
    """Update, and check the guarantees of every update: the same events pass, and again nothing changes."""
    given = {"variables": VARIABLES, **more}
    updated = update_expected(file, Events.of(events), **given)
    report = compared(file, events, **more)
    assert [entry.key for entry in report.differences] == updated.kept, f"{report.text()}\n{file.read_text()}"
    content = file.read_bytes()
    again = update_expected(file, Events.of(events), **given)
    assert not again.changed, again.text()
    assert file.read_bytes() == content
    return updated


def run_event(values: dict[str, Any], task: str = "task", kind: str = "START") -> dict[str, Any]:
    return {"eventType": kind, "run": {"facets": {"own": values}}, "job": {"name": f"dag.{task}"}}


def refreshed(tmp_path: Path, text: str, values: dict[str, Any], name: str = "dag.yaml", **more: Any) -> str:
    """Return the updated text of an expected file whose only task emits these values."""
    file = tmp_path / name
    file.write_text(text)
    update(file, [run_event(values)], **more)
    return file.read_text()
