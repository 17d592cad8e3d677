"""Where in an event a value stands, and how that is written; knows nothing of the values."""

from __future__ import annotations

Path = tuple[str, ...]


class Element(str):
    """The part of a path that picks a list element, written in brackets."""

    __slots__ = ()


def path_text(path: Path) -> str:
    """`inputs[file /in].facets."odd.key"`: keys with dots, list elements in brackets."""
    text = ""
    for part in path:
        if isinstance(part, Element):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if part.replace("_", "a").isalnum() else f'"{part}"')
    return text
