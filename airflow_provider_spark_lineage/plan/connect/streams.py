"""Conversion of the explained plan of a stream to the plan of a query over the same files.

Spark marks the nodes of a stream, and prints its source with the program's objects.
"""

from __future__ import annotations

import re

_MARK = re.compile(r"^((?:   |:  )*(?:\+- |:- )?)~", re.MULTILINE)
_SOURCE = re.compile(
    r"\bStreamingRelation DataSource\([^,\n]*,(?P<format>\w+),.*?\), FileSource\[[^\]\n]*\], "
    r"\[(?P<columns>[^\n]*)\]$",
    re.DOTALL | re.MULTILINE,
)


def as_batch(text: str) -> str:
    """Return a text without the marks of streams, and with sources of streams as relations."""
    if "~" not in text:
        return text

    def relation(match: re.Match[str]) -> str:
        return f"Relation [{match['columns'].replace(', ', ',')}] {match['format']}"

    return _SOURCE.sub(relation, _MARK.sub(r"\1", text))
