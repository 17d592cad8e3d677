"""The site of `make docs`: which pages it has, and how their lists are written for its Markdown."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    specification = importlib.util.spec_from_file_location("build_site", ROOT / "tools" / "build_site.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "PREPARED", tmp_path / "docs")
    return module


def test_every_page_is_in_the_navigation_once_and_readme_is_the_first(tool: Any, tmp_path: Path) -> None:
    """A page outside of it is found by search alone."""
    sections = [names for section in tool.prepare() for names in section.values()]
    pages = [name for names in sections for name in names]
    assert pages[0] == "README.md"
    assert sorted(pages) == sorted(
        path.relative_to(tmp_path / "docs").as_posix() for path in (tmp_path / "docs").rglob("*.md")
    )
    assert {"docs/zh/README.md", "docs/public-api.md", "CONTRIBUTING.md"} <= set(pages)


def test_reference_has_every_public_name(tool: Any, tmp_path: Path) -> None:
    """It is written from the list that holds the public names."""
    tool.prepare()
    texts = "".join(path.read_text() for path in (tmp_path / "docs" / "reference").glob("*.md"))
    names = json.loads((ROOT / "tests" / "docs" / "public_api.json").read_text())["python"]
    assert re.findall(r"^::: (.*)$", texts, re.MULTILINE) != []
    assert sorted(re.findall(r"^::: (.*)$", texts, re.MULTILINE)) == sorted(names)


@pytest.mark.parametrize(
    ("page", "written"),
    [
        ("- a\n  - b\n    more of b\n- c\n\nd\n", "- a\n    - b\n        more of b\n- c\n\nd\n"),
        (
            "1. a\n\n   ```python\n     x\n   - y\n   ```\n2. b\n",
            "1. a\n\n    ```python\n      x\n    - y\n    ```\n2. b\n",
        ),
        ("- a\n\n  | t |\n", "- a\n\n    | t |\n"),
        ("a\n\n```\n  - no list\n```\n", "a\n\n```\n  - no list\n```\n"),
    ],
    ids=["nested", "code", "table", "code outside of a list"],
)
def test_text_of_an_item_is_indented_by_four_spaces_for_each_level(
    tool: Any, page: str, written: str
) -> None:
    """Forges take two or three; Python-Markdown would end the list."""
    assert tool.indented(page) == written
