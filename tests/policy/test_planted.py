"""Violations, look-alikes, and unknown cases: blocks of text in three files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from policy.pipelines import events_of

from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import NO_COLUMNS
from airflow_provider_spark_lineage.openlineage.policy import gap_kinds
from airflow_provider_spark_lineage.openlineage.policy.checking import check
from airflow_provider_spark_lineage.openlineage.policy.findings import PolicyFinding
from airflow_provider_spark_lineage.openlineage.policy.reading import policy_of
from airflow_provider_spark_lineage.openlineage.policy.tags import tags_in
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind

FOLDER = Path(__file__).parent
PERSONAL = ["crm/customers.email", "*/customers.phone", "raw/*.ssn"]


def blocks(name: str) -> list[tuple[str, str]]:
    text = (FOLDER / f"{name}.txt").read_text()
    return [tuple(block.split("\n", 1)) for block in text.split("\n--- ")[1:]]


def reported(block: str) -> set[str]:
    """Return the findings of a policy, in the words of a block."""
    rule, *lines = [line for line in block.splitlines() if line and not line.startswith("=>")]
    given = yaml.safe_load(rule.removeprefix("rule: "))
    document = {
        "tags": {"personal": PERSONAL},
        "rules": [{"name": "r", "datasets": "gold/*", **given}],
    }
    events = events_of("\n".join(lines))
    current = Current.of(events)
    report = check(policy_of(yaml.safe_dump(document)), current, tags_in(events, current.aliases))
    assert report.ok is not bool(report.violations)
    return {_line("broken", each) for each in report.violations} | {
        _line("unknown", each) for each in report.unknown
    }


def _line(head: str, finding: PolicyFinding) -> str:
    path = " > ".join(_shown(place.dataset, place.field) for place in finding.path)
    return f"{head} {_shown(finding.dataset, finding.field)}: {path}"


def _shown(dataset: tuple[str, str], field: str | None) -> str:
    name = dataset[1].removeprefix("/lake/")
    return name if field is None else f"{name}.{field}"


def expected(block: str) -> set[str]:
    lines = [line.removeprefix("=> ") for line in block.splitlines() if line.startswith("=>")]
    return set() if lines == ["nothing"] else set(lines)


CASES = [
    pytest.param(block, id=f"{name}-{title}")
    for name in ("planted", "look_alikes", "unknown")
    for title, block in blocks(name)
]


@pytest.mark.parametrize("block", CASES)
def test_a_policy_reports_exactly_what_the_case_says(block):
    """No violation is missed, nothing else is reported, and each path is the shortest one."""
    assert reported(block) == expected(block)


@pytest.mark.parametrize(("name", "word"), [("planted", "broken"), ("look_alikes", "nothing")])
def test_there_are_forty_cases_of_each_kind(name, word):
    """Every planted case is a violation, and no look-alike is one."""
    cases = blocks(name)
    assert len(cases) >= 40
    assert [title for title, block in cases if f"=> {word}" not in block] == []


def test_kinds_of_gaps_are_those_of_events():
    """A kind that is renamed would become one that hides nothing, or everything."""
    kinds = gap_kinds._WITH_ALL_INPUTS | gap_kinds._OF_EVERY_TEXT
    assert kinds - {NO_COLUMNS} <= {kind.value for kind in GapKind}
