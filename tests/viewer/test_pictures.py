"""The graph as text: pictures in `pictures/`, which are read in review.

ACCEPT_PICTURES=1 pytest tests/viewer/test_pictures.py    writes them anew
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from viewer import documents
from viewer.mounting import Show

FOLDER = Path(__file__).parent / "pictures"

OPENED = """(text) => {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml");
  if (svg.querySelector("parsererror")) throw new Error(svg.querySelector("parsererror").textContent);
}"""

PICTURES: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "simple": (documents.simple(), "", []),
    "failed": (documents.failed(), "", ["Show what it read"]),
    "cyclic": (documents.cyclic(), "", ["Open all"]),
    "composed": (documents.composed(), "", []),
    "traced": (documents.simple(), "?sl_dataset=file+/shop/revenue&sl_column=revenue", []),
    "all_rows": (documents.simple(), "?sl_dataset=file+/shop/revenue&sl_column=", []),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture(show: Show, page: Any, server: str, name: str) -> None:
    """A change of a picture is seen, and accepted by a person."""
    shown, address, buttons = PICTURES[name]
    page.goto(f"{server}/{address}")
    show(documents.answer(shown))
    for button in buttons:
        page.get_by_role("button", name=button).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    page.evaluate(OPENED, text)
    lines = re.sub("<style>.*?</style>", "", text, flags=re.DOTALL).replace("><", ">\n<") + "\n"
    golden = FOLDER / f"{name}.svg"
    if os.environ.get("ACCEPT_PICTURES"):
        FOLDER.mkdir(exist_ok=True)
        golden.write_text(lines, encoding="utf-8")
    assert lines == golden.read_text(encoding="utf-8")
