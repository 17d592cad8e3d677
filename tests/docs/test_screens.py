"""Screens of output in README and below docs/ match the commands' output."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from recordings import Recording

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.spark.records.record import Record, write_record

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "docs" / "demo.md"
EXPECTED = ROOT / "system_tests" / "expected"


def screens(page: str) -> list[str]:
    """Return the blocks of a page that have no language: output as a terminal shows it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for language, block in blocks if not language]


def printed(*arguments: str | Path) -> str:
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


@pytest.mark.parametrize("page", ["README.md", "docs/zh/README.md"])
def test_readme_shows_the_page_of_explain(page: str, tmp_path: Path) -> None:
    """The records come from `tests/records/cte`; only the name of their folder is shortened."""
    for line in Recording("cte").lines:
        write_record(tmp_path, Record.from_json(json.loads(line)))
    assert f"$ spark-lineage explain DIR\n{printed('explain', tmp_path)}" in screens(page)


def test_usage_shows_one_column_through_all_tasks(tmp_path: Path) -> None:
    """Three tasks: a file is loaded, its amounts are added up."""
    events = tmp_path / "events.jsonl"
    events.write_text(
        complete("shop.orders", "raw/orders.csv", "bronze/orders", "IDENTITY")
        + complete("shop.totals", "bronze/orders", "gold/totals", "AGGREGATION"),
        encoding="utf-8",
    )
    command = "explain --events events.jsonl --column totals.amount"
    text = printed("explain", "--events", events, "--column", "totals.amount")
    assert f"$ spark-lineage {command}\n{text}" in screens("docs/usage.md")


def complete(job: str, source: str, target: str, subtype: str) -> str:
    """Return the COMPLETE event of a task that writes `amount` of a dataset from `amount` of another."""
    read: dict[str, Any] = {"namespace": "file", "name": f"/lake/{source}"}
    kinds = [{"type": "DIRECT", "subtype": subtype}]
    fields = {"amount": {"inputFields": [{**read, "field": "amount", "transformations": kinds}]}}
    written = {
        "namespace": "file",
        "name": f"/lake/{target}",
        "facets": {"columnLineage": {"fields": fields}},
    }
    event = {
        "eventType": "COMPLETE",
        "run": {"runId": job, "facets": {}},
        "job": {"namespace": "ns", "name": job},
        "inputs": [{**read, "facets": {}}],
        "outputs": [written],
    }
    return json.dumps(event) + "\n"


def test_develop_shows_a_golden_text() -> None:
    """The text comes from `tests/records/apply_in_pandas`."""
    golden = ROOT / "tests" / "records" / "apply_in_pandas" / "lineage.txt"
    assert golden.read_text(encoding="utf-8") in screens("docs/develop.md")


def test_demo_shows_the_datasets_and_rows_of_the_expected_events() -> None:
    """The system tests compare the same events with `system_tests/expected`."""
    [screen] = screens("docs/demo.md")
    texts = [
        (EXPECTED / f"{dag}.yaml").read_text(encoding="utf-8")
        for dag in ("nycflights", "nycflights_report", "nycflights_fails", "nycflights_checks")
    ]
    events = dict(
        re.findall(
            r"^\w+\.(\w+)\.event\.(?:complete|fail):(.*?)(?=^\w|\Z)",
            "\n".join(texts),
            re.MULTILINE | re.DOTALL,
        )
    )
    task, checked = "", 0
    for line in screen.splitlines():
        if re.fullmatch(r"\w+", line):
            task = line
        elif dataset := re.fullmatch(r"  (?:reads|writes) +(\S+) *(?:([\d,]+) rows)?", line):
            name, rows = dataset.groups()
            assert f"${{DATA}}/{name}" in events[task], line
            assert rows is None or f"rowCount: {rows.replace(',', '')}" in events[task], line
            checked += 1
        elif check := re.fullmatch(
            r"    (passed|failed) +(\S+) .* (error|warn) +expected (.+), found (.+)", line
        ):
            status, name, severity, expected, actual = check.groups()
            success = str(status == "passed").lower()
            written = f"name: {name}, success: {success}, severity: {severity}, expected: "
            [found] = [row for row in events[task].splitlines() if written in row]
            assert re.search(f"expected: '?{re.escape(expected)}'?, actual: '{re.escape(actual)}'", found), (
                line
            )
            checked += 1
    assert checked > 20
