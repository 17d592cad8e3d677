"""`docs/warehouse.md` lists the tables that the package has, and README shows what a query prints."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from docs.test_impact_page import of_branch
from warehouse.plain_tables import plain_warehouse

from airflow_provider_spark_lineage.cli import main

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "warehouse_page.py"
EVENTS = ROOT / "tests" / "viewer" / "events" / "pipeline.jsonl.gz"
PAGES = ("README.md", "docs/zh/README.md")


def test_the_reference_is_that_of_the_tables():
    """`python tools/warehouse_page.py` writes it."""
    done = subprocess.run([sys.executable, str(TOOL), "--check"], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("page", PAGES)
def test_the_query_of_readme_prints_what_it_shows(page, tmp_path):
    """`duckdb -csv` prints a header and a line for each row."""
    text = (ROOT / page).read_text(encoding="utf-8")
    views, query, output = re.search(
        r"\$ spark-lineage (warehouse views .*) \| duckdb lineage.db\n"
        r"\$ duckdb -csv lineage.db \"(.*)\"\n(.*?)```",
        text,
        re.DOTALL,
    ).groups()
    lines = gzip.decompress(EVENTS.read_bytes()).splitlines()
    warehouse = plain_warehouse(tmp_path / "lineage", [json.loads(line) for line in lines])
    done = CliRunner().invoke(main, views.replace("lineage", str(warehouse)).split())
    assert done.exit_code == 0, done.output
    with duckdb.connect() as database:
        database.execute(done.output)
        found = database.execute(query)
        names = [each[0] for each in found.description]
        rows = [names, *found.fetchall()]
    assert [",".join(map(str, row)) for row in rows] == output.splitlines()


def test_the_changes_of_the_page_are_those_of_its_command(tmp_path, monkeypatch):
    """On the 20th of May the task of a dataset renamed a column, and gave another one another type."""
    text = (ROOT / "docs/warehouse.md").read_text(encoding="utf-8")
    command, output = re.search(r"\$ spark-lineage (changes .*)\n((?s:.*?))```", text).groups()
    first = re.sub(r"2026-\d\d-\d\dT", "2026-04-20T", gzip.decompress(EVENTS.read_bytes()).decode())
    # The first digits of a run id are a time.
    later = re.sub(
        r'"0[0-9a-f]{7}(-[0-9a-f]{4}-7)', r'"0fffffff\1', first.replace("2026-04-20T", "2026-05-20T")
    )
    lines = (first + of_branch(later)).splitlines()
    plain_warehouse(tmp_path / "lineage", [json.loads(line) for line in lines])
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, command.split())
    assert (done.exit_code, done.stdout) == (1, output)
