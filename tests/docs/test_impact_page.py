"""`docs/impact.md` and README show what the commands print for the events of the example DAGs."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from airflow_provider_spark_lineage.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/impact.md", "docs/zh/README.md")
EVENTS = ROOT / "tests" / "viewer" / "events" / "pipeline.jsonl.gz"

NEW_NAME, OTHER_TYPE = ("arrival_delay", "arrival_delay_minutes"), ("distance_miles", "double")
"""The changes of the branch in the example of `diff`."""


def shown():
    """Yield each command of the pages with what it prints there."""
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for block in re.findall(r"```\n\$ spark-lineage ((?:impact|diff|policy) .*?)```", text, re.DOTALL):
            command, _, output = block.partition("\n")
            policy = re.search(r"```yaml\n(tags:.*?)```", text, re.DOTALL)
            yield pytest.param(command, output, policy[1] if policy else "", id=f"{page}: {command[:40]}")


@pytest.fixture
def places(tmp_path):
    """The events of the example DAGs, and of a branch that renames a column and changes a type."""
    lines = gzip.decompress(EVENTS.read_bytes()).decode()
    for name, text in (("events", lines), ("main", lines), ("branch", of_branch(lines))):
        (tmp_path / f"{name}.jsonl").write_text(text)
    return tmp_path


def of_branch(lines):
    """Return events with the changes of the branch."""
    branch = []
    for event in map(json.loads, lines.splitlines()):
        for output in event["outputs"]:
            if output["name"] == "/data/silver/flights":
                facets = output["facets"]
                for field in facets.get("schema", {}).get("fields", []):
                    field["name"] = dict([NEW_NAME]).get(field["name"], field["name"])
                    field["type"] = dict([OTHER_TYPE]).get(field["name"], field["type"])
                fields = facets.get("columnLineage", {}).get("fields", {})
                if NEW_NAME[0] in fields:
                    fields[NEW_NAME[1]] = fields.pop(NEW_NAME[0])
        branch.append(json.dumps(event) + "\n")
    return "".join(branch)


@pytest.mark.parametrize(("command", "output", "policy"), [*shown()])
def test_a_command_prints_what_its_page_shows(places, monkeypatch, command, output, policy):
    """A page that shows something else would teach what is not so."""
    monkeypatch.chdir(places)
    Path("policy.yaml").write_text(policy)
    result = CliRunner().invoke(main, shlex.split(command))
    assert [without_times(line.rstrip()) for line in result.stdout.splitlines()] == [
        without_times(line) for line in output.splitlines()
    ]


def without_times(line):
    """The events are recorded anew when the example DAGs change; the page need not change for that."""
    line = re.sub(r"run [0-9a-f-]{36}", "run ID", line)
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d\.\d+\+00:00)?", "TIME", line)
