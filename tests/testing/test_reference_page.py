"""`docs/testing-reference.md` is correct: its files and the values in its tables are tried."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.openlineage.testing.keys import DISTRIBUTIONS
from airflow_provider_spark_lineage.openlineage.testing.matchers import BUILDERS, CHECKS, HOLDERS
from airflow_provider_spark_lineage.testing import RELATIONS, Events, compare, read_expected

PAGE = Path(__file__).parents[2] / "docs" / "testing-reference.md"
VARIABLES = {"BUCKET": "lake"}
EXAMPLES = re.findall(r"```yaml\n(.*?)```\n```json\n(.*?)```", PAGE.read_text(), flags=re.S)


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading."""
    section = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def values() -> Iterator[tuple[str, Any, bool]]:
    for written, _, good, bad in rows("Matchers"):
        for text in code(good):
            yield code(written)[0], json.loads(text), True
        for text in code(bad):
            yield code(written)[0], json.loads(text), False


@pytest.mark.parametrize(("expected", "events"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example(tmp_path, expected, events):
    """The events under a file are as the file expects them, and without any one of them it fails."""
    file = tmp_path / "shop.yaml"
    file.write_text(expected)
    documents = [json.loads(line) for line in events.splitlines()]

    def ok(events: list[dict[str, Any]]) -> bool:
        report = compare(read_expected(file), Events.of(events), variables=VARIABLES, without=RELATIONS)
        return report.ok

    assert ok(documents)
    for position in range(len(documents)):
        assert not ok(documents[:position] + documents[position + 1 :])
        assert not ok([*documents, documents[position]])


def test_all_examples_are_found():
    """No file on the page is without events."""
    assert len(EXAMPLES) == PAGE.read_text().count("```yaml") > 2


@pytest.mark.parametrize(("written", "value", "good"), list(values()))
def test_a_value_in_the_table(tmp_path, written, value, good):
    """Values under "for example" are accepted, values under "but not" are refused."""
    file = tmp_path / "dag.yaml"
    twice = "".join(f"dag.task.event.{kind}: {{run: {{facets: {written} }}}}\n" for kind in ("start", "fail"))
    file.write_text(twice)
    run = {"run": {"facets": value}, "job": {"name": "dag.task"}}
    events = Events.of([{**run, "eventType": kind} for kind in ("START", "FAIL")])
    assert compare(read_expected(file), events, without=RELATIONS).ok is good


def test_every_matcher_is_in_the_table():
    """The page has every matcher, and no other."""
    written = {re.split(r"[ !]", code(row[0])[0].removeprefix("!"))[0] for row in rows("Matchers")}
    assert written == {*CHECKS, *BUILDERS, *HOLDERS}


def test_every_version_is_in_the_table():
    """The names that `when` takes, and the distributions that are asked."""
    table = {code(name)[0]: "".join(code(installed)) for name, _, _, installed in rows("Versions: `when`")}
    assert table == {**DISTRIBUTIONS, "spark": "pyspark", "python": ""}


def test_every_relation_is_in_the_table():
    """Checks that run unasked can be looked up, in the order of the report."""
    assert [code(name)[0] for name, _ in rows("Relations")] == list(RELATIONS)
