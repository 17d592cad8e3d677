"""The jobs of `tests/records`, read from Spark's event log: the text tells what the records tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from event_cases import FORMATTED, LOGS, columns_read, lineage_of_log, name_of, records_of, text_of
from record_cases import lineage

GOLDEN = Path(__file__).with_name("differences.txt")
"""Cases that the text does not tell in full: what is missing, or more, and the gaps that say so."""

GOLDEN_FORMATTED = Path(__file__).with_name("differences_formatted.txt")
"""The same of logs with the physical plan alone; `~` is an edge of another kind between the same columns."""

OPTIMIZED_AWAY = {"with_fields 4.1": "the field is overwritten before anything reads it"}
"""Cases whose physical plan lacks what the query says and nothing needs."""


def golden(place: Path) -> dict[str, str]:
    sections = place.read_text(encoding="utf-8").split("\n\n")
    return {name: text for name, _, text in (section.strip().partition("\n") for section in sections)}


@pytest.mark.parametrize("path", [pytest.param(path, id=name_of(path)) for path in LOGS])
def test_the_text_tells_what_the_records_tell(path: Path) -> None:
    """Every difference was read by eye, and none is without a gap."""
    text = text_of(path)
    assert text == golden(GOLDEN).get(name_of(path), "")
    assert not text or "\ngap " in text


@pytest.mark.parametrize("path", [pytest.param(path, id=name_of(path)) for path in FORMATTED])
def test_the_physical_plan_tells_what_the_records_tell(path: Path) -> None:
    """Every difference was read by eye, and has a gap unless it is only of another kind."""
    text = text_of(path)
    assert text == golden(GOLDEN_FORMATTED).get(name_of(path), "")
    differs = any(line.startswith(("+", "-")) for line in text.splitlines())
    assert not differs or "\ngap " in text or name_of(path) in OPTIMIZED_AWAY


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=f"{name_of(path)} {path.name[:6]}") for path in (*LOGS, *FORMATTED)]
)
def test_a_dataset_has_the_columns_that_the_records_have(path: Path) -> None:
    """Not those of the text that Spark reads to infer a schema; the physical plan has what is used alone."""
    of_log, of_records = columns_read(lineage_of_log(path)), columns_read(lineage(records_of(path)))
    for name in of_log.keys() & of_records.keys():
        if path in LOGS:
            assert of_log[name] == of_records[name]
        else:
            assert set(of_log[name]) <= set(of_records[name])
