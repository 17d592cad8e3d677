"""Makes README fit for the page of a package index, which knows nothing of the files beside it.

There, a link must be absolute. `[tool.hatch.metadata.hooks.custom] repository` in pyproject.toml is the one
place for the address of the repository: with it, links lead there and `[project.urls]` is filled in. Without
it, a link becomes the name of its page, and pictures are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)]+)\)")
"""A link or picture whose address is relative."""


class IndexPageHook(MetadataHookInterface):
    """Gives the package its long description and its addresses."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what pyproject.toml lists as dynamic."""
        repository = self.config.get("repository", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_page(text, repository)}
        metadata["urls"] = urls(repository)


def index_page(readme: str, repository: str) -> str:
    """Return README without relative links."""

    def absolute(link: re.Match[str]) -> str:
        picture, text, path = link.groups()
        if repository:
            return f"{picture}[{text}]({repository}/{'raw' if picture else 'blob'}/main/{path})"
        return "" if picture else f"`{path}`" if text == path else f"{text} (`{path}`)"

    return LINK.sub(absolute, readme)


def urls(repository: str) -> dict[str, str]:
    """Return `[project.urls]`."""
    if not repository:
        return {}
    pages = {
        "Documentation": "/blob/main/README.md",
        "Changelog": "/blob/main/CHANGELOG.md",
        "Issues": "/issues",
    }
    return {"Homepage": repository, **{name: repository + path for name, path in pages.items()}}
