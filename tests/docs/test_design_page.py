"""`docs/design.md` stays one page, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "airflow_provider_spark_lineage"
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
PATH = re.compile(r"`([\w./-]*(?:/|\.(?:py|java|txt|yaml|md|toml)))`")

MAX_WORDS = 3_500
"""Who reads it before a first change has a quarter of an hour."""


def places(name: str) -> list[Path]:
    """Return what a path of the page may be: below the package or the repository, or a file's own name."""
    own = () if "/" in name else (*PACKAGE.rglob(name), *(ROOT / "tests").rglob(name))
    return [path for path in (PACKAGE / name, ROOT / name, *own) if path.exists()]


def test_page_is_short() -> None:
    """Rules of the lineage are in rules.md, reasons of a detail beside its code."""
    assert sum(bool(re.search(r"\w", word)) for word in PAGE.split()) <= MAX_WORDS


def test_every_path_that_the_page_names_exists() -> None:
    """A path that is gone leads a newcomer nowhere."""
    names = set(PATH.findall(PAGE))
    assert len(names) > 100
    assert sorted(name for name in names if not places(name)) == []


def test_every_table_that_gets_a_row_is_in_a_file_of_its_line() -> None:
    """A newcomer searches the table in the file that is named beside it."""
    rows = [line.split(" | ") for line in PAGE.partition("| add |")[2].splitlines() if line.startswith("| a")]
    assert len(rows) > 15
    for _, files, tables, _ in rows:
        named = [place for name in PATH.findall(f"{files} {tables}") for place in places(name)]
        modules = [path for place in named for path in ([place] if place.is_file() else place.glob("*.py"))]
        text = "\n".join(path.read_text(encoding="utf-8") for path in modules)
        for table in re.findall(r"`([A-Z_]{3,})`", tables):
            assert re.search(rf"^{table}\b", text, re.MULTILINE), table
