"""The lineage of every query as text: `expected/<group>.txt`, the same for each Spark version."""

from __future__ import annotations

import re
from pathlib import Path

PLACE = Path(__file__).resolve().parent / "expected"


def read() -> dict[str, str]:
    """Return the expected lineage by the query's name."""
    texts = {}
    for path in sorted(PLACE.glob("*.txt")):
        sections = re.split(r"^-- (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for name, text in zip(sections[1::2], sections[2::2], strict=True):
            texts[f"{path.stem}: {name}"] = text.strip()
    return texts


def write(texts: dict[str, str]) -> None:
    """Replace the expected lineage of queries by the actual one."""
    groups: dict[str, list[str]] = {}
    for name, text in texts.items():
        group, _, rest = name.partition(": ")
        groups.setdefault(group, []).append(f"-- {rest}\n{text}\n")
    PLACE.mkdir(exist_ok=True)
    for group, sections in groups.items():
        (PLACE / f"{group}.txt").write_text("\n".join(sections), encoding="utf-8")
