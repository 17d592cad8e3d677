"""Writes one HTML page with lineage in it: the viewer's modules, and the documents as JSON.

The page needs no other file and sends no request: the modules are `data:` addresses of an import map, and its
content security policy forbids everything else. Names in the documents are data: they never become markup.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:"
)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
html, body {{ height: 100%; margin: 0 }}
noscript {{ white-space: pre-wrap }}
</style>
</head>
<body>
<noscript>{text}</noscript>
<script type="application/json" id="spark-lineage">{data}</script>
<script type="importmap">{imports}</script>
<script type="module">import "spark-lineage/page.js";</script>
</body>
</html>
"""

NO_SCRIPT = "JavaScript is off, so nothing is drawn here. `spark-lineage explain` prints the same lineage."
"""Text of a page that is not drawn."""


def page_of(listed: Mapping[str, Any], text: str = NO_SCRIPT) -> str:
    """Return the HTML page of a listing; without scripts, it shows `text`."""
    return _PAGE.format(
        policy=html.escape(_POLICY),
        title=html.escape(str(listed["title"])),
        text=html.escape(text),
        data=_in_script(listed),
        imports=_in_script({"imports": _imports()}),
    )


def frame_of(listed: Mapping[str, Any], text: str, height_px: int = 640) -> str:
    """Return the page as a sandboxed frame for a notebook: its scripts reach nothing outside of it."""
    return (
        f'<iframe srcdoc="{html.escape(page_of(listed, text))}" sandbox="allow-scripts allow-downloads"'
        f' title="Spark lineage" width="100%" height="{height_px}" style="border: 0"></iframe>'
    )


def _imports() -> dict[str, str]:
    """Return the modules of the viewer: bare name -> `data:` address.

    A module of a `data:` address cannot import by a relative path, so the imports get names of the map.
    """
    addresses = {}
    for file in sorted(resources.files(__package__).joinpath("static").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".js"):
            source = file.read_text(encoding="utf-8").replace('from "./', 'from "spark-lineage/')
            encoded = base64.b64encode(source.encode()).decode()
            addresses[f"spark-lineage/{file.name}"] = f"data:text/javascript;base64,{encoded}"
    return addresses


def _in_script(value: Any) -> str:
    """Return JSON that cannot end the script element it is in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
