"""Draws `docs/lineage.svg`, the picture of README, from the event in `docs/lineage.json`.

python tools/picture.py            writes the picture
python tools/picture.py --check    exits with 1 if the picture would change

`tools/first_task.py` writes the event. The picture has a background of its own, for light and dark pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
EVENT = DOCS / "lineage.json"
PICTURE = DOCS / "lineage.svg"

WIDTH, BOX, ROW, TITLE, GAP, MARGIN = 860, 220, 26, 34, 26, 28
"""Sizes in pixels: the picture, a dataset's box, a field's row, a title's row, between boxes, at the edge."""

COLORS = {"IDENTITY": "#2f6fd0", "TRANSFORMATION": "#8a4fc7", "AGGREGATION": "#c2571a"}
GRAY = "#6b7280"

STYLE = """\
text { font: 14px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2937; }
.title { font-weight: 600; }
.small { font-size: 12px; fill: #4b5563; }
.page { fill: #f8fafc; stroke: #cbd5e1; }
.box { fill: #ffffff; stroke: #cbd5e1; }
.head { fill: #eef2f7; }
.edge { fill: none; stroke-width: 2; }
.rows { stroke-dasharray: 5 4; stroke-width: 1.5; }"""


@dataclass(frozen=True)
class Box:
    """A dataset at its place."""

    name: str
    fields: tuple[tuple[str, str], ...]
    x: int
    y: int

    @property
    def height(self) -> int:
        """Height with the title and all fields."""
        return TITLE + ROW * len(self.fields) + 6

    def row(self, field: str) -> int:
        """Return the middle of a field's row."""
        return self.y + TITLE + ROW * [name for name, _ in self.fields].index(field) + ROW // 2 + 2

    def svg(self) -> Iterator[str]:
        """Yield the box, its title, and a line for each field."""
        yield f'<rect class="box" x="{self.x}" y="{self.y}" width="{BOX}" height="{self.height}" rx="6"/>'
        head = f'x="{self.x + 1}" y="{self.y + 1}" width="{BOX - 2}" height="{TITLE - 4}" rx="5"'
        yield f'<rect class="head" {head}/>'
        yield f'<text class="title" x="{self.x + 12}" y="{self.y + 21}">{escape(self.name)}</text>'
        for name, kind in self.fields:
            y = self.row(name) + 5
            yield f'<text x="{self.x + 12}" y="{y}">{escape(name)}</text>'
            right = f'x="{self.x + BOX - 12}" y="{y}" text-anchor="end"'
            yield f'<text class="small" {right}>{escape(kind)}</text>'


def boxes(datasets: list[dict[str, Any]], x: int, height: int = 0) -> dict[str, Box]:
    """Return the datasets below one another, by name; centred where a height is given."""
    placed: dict[str, Box] = {}
    y = MARGIN
    for dataset in datasets:
        fields = tuple((field["name"], field["type"]) for field in dataset["facets"]["schema"]["fields"])
        box = Box(dataset["name"], fields, x, y)
        placed[box.name] = Box(box.name, fields, x, (height - box.height) // 2) if height else box
        y += box.height + GAP
    return placed


def subtypes(source: dict[str, Any]) -> list[str]:
    return [edge["subtype"] for edge in source["transformations"]]


def edges(event: dict[str, Any], inputs: dict[str, Box], outputs: dict[str, Box]) -> Iterator[str]:
    """Yield a line for each source of a column, and a dashed one for each column that decides about rows."""
    for dataset in event["outputs"]:
        output, facet = outputs[dataset["name"]], dataset["facets"]["columnLineage"]
        rows = [(edge["name"], edge["field"], subtypes(edge)) for edge in facet.get("dataset", ())]
        bottom = output.y + output.height
        for name, field, kinds in rows:
            box = inputs[name]
            yield curve((box.x + BOX, box.row(field)), (output.x, bottom - 1), GRAY, "edge rows")
            words = ", ".join(kind.lower().replace("_", " ") for kind in kinds)
            yield label(box.x + BOX + 8, box.row(field) - 6, words, GRAY)
        for column, sources in facet["fields"].items():
            for edge in sources["inputFields"]:
                kind = next((kind for kind in subtypes(edge) if kind in COLORS), None)
                if kind is None:
                    continue
                box = inputs[edge["name"]]
                start, end = (box.x + BOX, box.row(edge["field"])), (output.x, output.row(column))
                yield curve(start, end, COLORS[kind])
                yield label(output.x - 8, output.row(column) - 6, kind.lower(), COLORS[kind], anchor="end")
        if rows:
            yield label(
                output.x + BOX // 2,
                bottom + 20,
                "dashed: decides which rows there are",
                GRAY,
                anchor="middle",
            )


def curve(start: tuple[int, int], end: tuple[int, int], color: str, css: str = "edge") -> str:
    (x, y), (to_x, to_y) = start, end
    middle = (x + to_x) // 2
    path = f"M{x},{y} C{middle},{y} {middle},{to_y} {to_x},{to_y}"
    return f'<path class="{css}" d="{path}" stroke="{color}"/>'


def label(x: int, y: int, text: str, color: str, *, anchor: str = "start") -> str:
    place = f'x="{x}" y="{y}" text-anchor="{anchor}"'
    return f'<text class="small" {place} style="fill: {color}">{escape(text)}</text>'


def picture(event: dict[str, Any]) -> str:
    """Return the SVG of a task's event: inputs on the left, outputs on the right."""
    inputs = boxes(event["inputs"], MARGIN)
    height = max(box.y + box.height for box in inputs.values()) + MARGIN
    outputs = boxes(event["outputs"], WIDTH - BOX - MARGIN, height)
    job = event["job"]["name"]
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>Column lineage of the task {escape(job)}</title>",
        f"<style>\n{STYLE}\n</style>",
        f'<rect class="page" x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="10"/>',
        label(WIDTH // 2, MARGIN + 4, job, "#1f2937", anchor="middle"),
        *edges(event, inputs, outputs),
        *(line for box in (*inputs.values(), *outputs.values()) for line in box.svg()),
        "</svg>",
    ]
    return "\n".join(body) + "\n"


def main(arguments: list[str]) -> int:
    """Write the picture, or print whether it would change."""
    text = picture(json.loads(EVENT.read_text(encoding="utf-8")))
    if arguments == ["--check"]:
        return int(PICTURE.read_text(encoding="utf-8") != text)
    PICTURE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
