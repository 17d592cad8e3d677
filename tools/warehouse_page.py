"""Writes the reference in `docs/warehouse.md` from the tables and views of the package.

python tools/warehouse_page.py            writes the reference
python tools/warehouse_page.py --check    exits with 1 if the page has another one
"""

from __future__ import annotations

import sys
from pathlib import Path

from airflow_provider_spark_lineage.openlineage.warehouse.tables import (
    IMPACT_TABLES,
    TABLES,
    Fold,
    WarehouseTable,
)
from airflow_provider_spark_lineage.openlineage.warehouse.views import VIEWS, WarehouseView

PAGE = Path(__file__).resolve().parents[1] / "docs" / "warehouse.md"

BEGIN = "<!-- The rest is written by tools/warehouse_page.py. -->\n"


def reference() -> str:
    """Return the part of the page that lists tables, views and columns."""
    tables = "".join(map(_section, (*TABLES.values(), *IMPACT_TABLES.values())))
    return tables + "\n## Views\n" + "".join(map(_view, VIEWS.values()))


def _section(table: WarehouseTable) -> str:
    key = ", ".join(f"`{name}`" for name in table.key)
    dated = f" One folder for each `{table.partition}`." if table.partition else ""
    rows = [
        f"| `{column.name}` | {column.type} | {_rule(column.fold)}{column.about} |"
        for column in table.columns
    ]
    head = f"\n### {table.name}\n\n{table.about} Key: {key}.{dated}\n\n"
    return head + "\n".join(["| column | type | content |", "| --- | --- | --- |", *rows]) + "\n"


def _view(view: WarehouseView) -> str:
    rows = [f"| `{name}` | {about} |" for name, about in view.columns]
    head = f"\n### {view.name}\n\n{view.about}\n\n"
    return head + "\n".join(["| column | content |", "| --- | --- |", *rows]) + "\n"


def _rule(fold: Fold) -> str:
    words = {Fold.FIRST: "Least: ", Fold.LAST: "Greatest: ", Fold.LATEST: "Of the latest run: "}
    return words.get(fold, "")


def main(arguments: list[str]) -> int:
    """Return the exit code."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, _ = text.partition(BEGIN)
    wanted = head + BEGIN + reference()
    if "--check" in arguments:
        return int(wanted != text)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
