"""Writes the table of parts in `docs/design.md`, from the layers in `pyproject.toml` and from docstrings.

python tools/parts_table.py            writes the table
python tools/parts_table.py --check    exits with 1 if the page has another table
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "airflow_provider_spark_lineage"
PAGE = ROOT / "docs" / "design.md"
HEAD = "| part | responsibility |\n| --- | --- |\n"


def table() -> str:
    """Return the table: the lowest floor first, and in it the lowest layer; one line for each part."""
    settings: Any = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    floors = {
        contract["containers"][0].partition(".")[2]: _parts(contract["layers"])
        for contract in contracts
        if contract["type"] == "layers"
    }
    rows = []
    for part in floors.pop(""):
        rows += [part, *(f"{part}/{room}" for room in floors.get(part, ()))]
    return HEAD + "".join(map(_row, rows))


def _parts(layers: list[str]) -> list[str]:
    return [part.strip() for layer in reversed(layers) for part in layer.split("|")]


def _row(part: str) -> str:
    folder = PACKAGE / part
    file = folder / "__init__.py" if folder.is_dir() else PACKAGE / f"{part}.py"
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    title = " ".join(docstring.partition("\n\n")[0].split()).rstrip(".").replace("|", "\\|")
    name = f"`{part}{'/' * folder.is_dir()}`"
    return f"| {name if '/' in part else f'**{name}**'} | {title} |\n"


def main(arguments: list[str]) -> int:
    """Return the exit code."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(HEAD)
    rows = rest.splitlines(keepends=True)
    end = next(index for index, line in enumerate(rows) if not line.startswith("|"))
    now = before + table() + "".join(rows[end:])
    if "--check" not in arguments:
        PAGE.write_text(now, encoding="utf-8")
    elif now != page:
        print("docs/design.md has another table of parts: python tools/parts_table.py writes it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
