"""Planned lineage against the real one: the jobs of `tests/records`, and the differences of their texts."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage

RECORDS = Path(__file__).parents[1] / "records"
DIFFERENCES = Path(__file__).with_name("planned_records.txt")
CASES = sorted(path.parent.name for path in RECORDS.glob("*/job.py"))
BY_CATALOG = r"file:/data/warehouse default\.(\w+)$"
"""Name by the text of a table in its catalog's default location; the run names it by the location."""


def script(case: str) -> tuple[str, dict[str, str]]:
    """Return the text of a job as a script that runs it, without its set-up, and its settings."""
    tree = ast.parse((RECORDS / case / "job.py").read_text(encoding="utf-8"))
    conf = {"spark.sql.warehouse.dir": "/data/warehouse", "spark.hadoop.fs.defaultFS": "file:///"}
    for node in list(tree.body):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CONF":
            settings = ast.literal_eval(node.value)
            conf |= {name: text.replace("{root}", "/data") for name, text in settings.items()}
        if isinstance(node, ast.FunctionDef) and node.name == "setup":
            tree.body.remove(node)
    return f"{ast.unparse(tree)}\ndef path(name): return '/data/' + name\njob(spark, path)\n", conf


def datasets(text: str) -> set[str]:
    """Return the inputs and outputs of a readable lineage."""
    lines = re.findall(r"^(reads|writes) +(.*?)(?:   .*)?$", text, re.MULTILINE)
    return {verb + " " + re.sub(BY_CATALOG, r"file /data/warehouse/\1", name) for verb, name in lines}


def difference(case: str) -> str:
    """Return the datasets that only the plan has (+), and those that only the run has (-)."""
    text, conf = script(case)
    planned = datasets(render(planned_lineage(text, language="python", conf=conf)))
    ran = datasets((RECORDS / case / "lineage.txt").read_text(encoding="utf-8"))
    more, missing = sorted(planned - ran), sorted(ran - planned)
    return "\n".join([*(f"+ {line}" for line in more), *(f"- {line}" for line in missing)])


def known() -> dict[str, str]:
    """Return the differences of each case; its first line has the reason."""
    blocks = DIFFERENCES.read_text(encoding="utf-8").strip().split("\n\n")
    return {block.partition(":")[0]: block.partition("\n")[2] for block in blocks}


@pytest.mark.parametrize("case", CASES)
def test_plan_names_what_the_run_reads_and_writes(case: str) -> None:
    """If it does not, `planned_records.txt` has the reason."""
    assert difference(case) == known().get(case, "")
