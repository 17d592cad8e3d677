"""Files of a declarative pipeline: its specification, and its SQL as statements over plain tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_AS_TABLES = (
    (r"\bCREATE\s+(?:OR\s+REFRESH\s+)?MATERIALIZED\s+VIEW\b", "CREATE OR REPLACE TABLE"),
    (r"\bCREATE\s+(?:OR\s+REFRESH\s+)?STREAMING\s+TABLE\b", "CREATE TABLE IF NOT EXISTS"),
    (r"\bCREATE\s+FLOW\s+[^\s;]+\s+(?:COMMENT\s+'[^']*'\s+)?AS\s+(?=INSERT\b)", ""),
    (r"\bSTREAM\s*\(\s*([^\s()]+)\s*\)", r"\1"),
    (r"\b(FROM|JOIN)\s+STREAM\s+(?=[\w`])", r"\1 "),
)
"""Pairs (pattern of a pipeline's syntax, plain SQL): a materialized view is a table, a flow an insert."""

_VIEW = re.compile(r"\bCREATE\s+(?:OR\s+REPLACE\s+)?TEMP(?:ORARY)?\s+VIEW\s+(`[^`]+`|\w+)", re.IGNORECASE)


def read_spec(path: Path) -> dict[str, Any]:
    """Return a pipeline's specification; empty if the file has none."""
    import yaml

    spec = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    return spec if isinstance(spec, dict) else {}


def definitions(path: Path, spec: Mapping[str, Any]) -> list[Path]:
    """Return the files that a specification at `path` includes, by the rules of `spark-pipelines`."""
    patterns = [str(library["glob"]["include"]) for library in spec.get("libraries") or ()]
    files = (
        file
        for pattern in patterns
        for file in sorted(path.parent.glob(f"{pattern}/*" if pattern.endswith("/**") else pattern))
    )
    return [file for file in dict.fromkeys(files) if file.is_file() and "__pycache__" not in file.parts]


def statements(spec: Mapping[str, Any], files: Iterable[Path]) -> str:
    """Return the SQL of a pipeline's files as statements over plain tables."""
    place = [spec.get("catalog"), spec.get("database", spec.get("schema")) or "default"]
    use = "USE " + ".".join(f"`{name}`" for name in place if name)
    texts = [file.read_text(encoding="utf-8-sig") for file in files if file.suffix == ".sql"]
    # Flows have no order: a view may be defined after it is used.
    views = "".join(
        f"CREATE TEMP VIEW {name} AS SELECT 1;\n" for text in texts for name in _VIEW.findall(text)
    )
    # Each file starts in the pipeline's schema. A file may end in a comment: so `;` is on a new line.
    text = views + "".join(f"{use};\n{text}\n;\n" for text in texts)
    for pattern, plain in _AS_TABLES:
        text = re.sub(pattern, plain, text, flags=re.IGNORECASE)
    return text
