"""Declarative pipelines, read from the event logs of their runs: `tools/capture_pipelines.py` wrote them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.spark.event_log.executions import LoggedApplication
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.runs.executions import executions

PLACE = Path(__file__).parent / "pipelines"
LOGS = sorted(PLACE.glob("*.jsonl.gz"))


def text_of(lines: list[bytes]) -> str:
    problems: list[str] = []
    lineage = compose(
        execution.lineage for execution in executions(LoggedApplication().records(lines, problems))
    )
    return "\n".join([render(lineage), *problems])


def lines_of(name: str) -> list[bytes]:
    return gzip.decompress((PLACE / f"{name}.jsonl.gz").read_bytes()).splitlines(keepends=True)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name.split(".jsonl")[0]) for path in LOGS])
def test_flows_are_read_from_the_log(path: Path) -> None:
    """Materialized views are overwritten, streams append, views are seen through, state is left out."""
    expected = path.with_name(path.name.replace(".jsonl.gz", ".txt")).read_text(encoding="utf-8")
    assert text_of(gzip.decompress(path.read_bytes()).splitlines(keepends=True)).strip() == expected.strip()


def test_there_are_logs() -> None:
    """A folder that was moved would otherwise pass."""
    assert len(LOGS) == 8


def test_a_table_that_was_emptied_and_not_filled_is_reported() -> None:
    """The run was killed before the flow: the table has lost its rows, and the text has no place for it."""
    lines = lines_of("shop-second-4.1")
    (last,) = (
        number for number, line in enumerate(lines) if b"SaveAsV1TableCommand `default`.`report`" in line
    )
    text = text_of(lines[:last])
    assert "TruncateTableCommand: the location of its table is not in the text" in text
    assert "TruncateTableCommand" not in text_of(lines)
