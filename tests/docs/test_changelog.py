"""CHANGELOG: one section for each version, groups of bullets, and a sentence in each bullet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from airflow_provider_spark_lineage import __version__

TEXT = (Path(__file__).resolve().parents[2] / "CHANGELOG.md").read_text()
SECTIONS = re.split(r"^## (.*)\n", TEXT, flags=re.MULTILINE)
VERSIONS = SECTIONS[1::2]
BULLET = re.compile(r"- [^\n]+(?:\n  [^\n]+)*")


def test_sections_are_versions_the_newest_first() -> None:
    """A reader looks from the version that is installed up to the newest."""
    numbers = [tuple(map(int, version.split("."))) for version in VERSIONS]
    assert SECTIONS[0] == "# Changelog\n\n"
    assert numbers == sorted(set(numbers), reverse=True)
    assert VERSIONS[0] == __version__, "the first section is of the version in `__init__.py`"


@pytest.mark.parametrize("section", SECTIONS[2::2], ids=VERSIONS)
def test_section_has_groups_of_bullets(section: str) -> None:
    """Each change is in the group of its feature; a group has its title once."""
    blocks = section.strip("\n").split("\n\n")
    if not blocks[0].startswith("- ") and not blocks[0].endswith(":"):
        blocks = blocks[1:]  # A sentence about the whole version.
    titles, lists = blocks[::2], blocks[1::2]
    assert [title for title in titles if not re.fullmatch(r"[A-Z][^\n]*:", title)] == []
    assert len(titles) == len(lists) == len(set(titles))
    assert [
        text for text in lists if not re.fullmatch(rf"{BULLET.pattern}(?:\n{BULLET.pattern})*", text)
    ] == []


@pytest.mark.parametrize("section", SECTIONS[2::2], ids=VERSIONS)
def test_bullet_ends_its_sentence_and_is_short(section: str) -> None:
    """What needs more than a few lines is explained on a page, which the bullet links."""
    bullets = BULLET.findall(section)
    assert bullets
    assert [bullet for bullet in bullets if not bullet.endswith(".")] == []
    assert [bullet for bullet in bullets if len(bullet.splitlines()) > 5] == []
