"""The jobs of `tests/records`, read from Spark's event log: the text tells what the records tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from event_cases import LOGS, name_of, text_of

GOLDEN = Path(__file__).with_name("differences.txt")
"""Cases that the text does not tell in full: what is missing, or more, and the gaps that say so."""


def golden() -> dict[str, str]:
    sections = GOLDEN.read_text(encoding="utf-8").split("\n\n")
    return {name: text for name, _, text in (section.strip().partition("\n") for section in sections)}


@pytest.mark.parametrize("path", [pytest.param(path, id=name_of(path)) for path in LOGS])
def test_the_text_tells_what_the_records_tell(path: Path) -> None:
    """Every difference was read by eye, and none is without a gap."""
    text = text_of(path)
    assert text == golden().get(name_of(path), "")
    assert not text or "\ngap " in text
