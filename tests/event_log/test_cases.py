"""The jobs of `tests/records`, read from Spark's event log: same lineage as from the records."""

from __future__ import annotations

from pathlib import Path

import pytest
from event_cases import (
    FORMATTED,
    LOGS,
    columns_read,
    lineage_of_log,
    text_of,
    without_gap,
)
from record_cases import lineage
from recordings import RECORDS, Recording

BOTH = (*FORMATTED, *LOGS)

GOLDEN = Path(__file__).with_name("differences.txt")
"""Cases that the text does not have in full: missing or additional lines, and the gaps that say so."""

GOLDEN_FORMATTED = Path(__file__).with_name("differences_formatted.txt")
"""The same of logs with the physical plan alone; `~` is an edge of another kind between the same columns."""

WITHOUT_GAP = Path(__file__).with_name("without_gap.txt")
"""Datasets that differ and that no gap names: `case: reason`, and a line for each of them."""


def golden(place: Path) -> dict[str, str]:
    sections = place.read_text(encoding="utf-8").split("\n\n")
    return {name: text for name, _, text in (section.strip().partition("\n") for section in sections)}


def known_without_gap() -> dict[str, set[str]]:
    blocks = [block.split("\n") for block in WITHOUT_GAP.read_text(encoding="utf-8").strip().split("\n\n")]
    return {first.partition(": ")[0]: set(names) for first, *names in blocks}


@pytest.mark.parametrize("log", [pytest.param(log, id=log.name) for log in LOGS])
def test_the_text_has_the_lineage_of_the_records(log: Recording) -> None:
    """Every difference was read by eye."""
    assert text_of(log) == golden(GOLDEN).get(log.name, "")


@pytest.mark.parametrize("log", [pytest.param(log, id=log.name) for log in FORMATTED])
def test_the_physical_plan_has_the_lineage_of_the_records(log: Recording) -> None:
    """Every difference was read by eye."""
    assert text_of(log) == golden(GOLDEN_FORMATTED).get(log.name, "")


@pytest.mark.parametrize("log", [pytest.param(log, id=f"{log.kind[:1]} {log.name}") for log in BOTH])
def test_a_dataset_that_differs_has_a_gap(log: Recording) -> None:
    """Otherwise `without_gap.txt` has the reason."""
    assert without_gap(log) <= known_without_gap().get(log.name, set())


def test_no_reason_is_out_of_date() -> None:
    """Each dataset of `without_gap.txt` differs in one of the logs of its case."""
    differing: dict[str, set[str]] = {}
    for log in BOTH:
        differing.setdefault(log.name, set()).update(without_gap(log))
    assert {case: names for case, names in differing.items() if names} == known_without_gap()


@pytest.mark.parametrize("log", [pytest.param(log, id=f"{log.name} {log.kind}") for log in BOTH])
def test_a_dataset_has_the_columns_that_the_records_have(log: Recording) -> None:
    """Not the columns of the text that Spark infers a schema from; a physical plan has used ones alone."""
    of_log, of_records = columns_read(lineage_of_log(log)), columns_read(lineage(log.of(RECORDS)))
    for name in of_log.keys() & of_records.keys():
        if log in LOGS:
            assert of_log[name] == of_records[name]
        else:
            assert set(of_log[name]) <= set(of_records[name])
