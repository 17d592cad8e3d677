"""Tells a typing error from a name that is merely another one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

_MOST_WRONG = 2
"""Letters: `OwnershipRunFacet` is no misspelt `OwnershipJobFacet`, though most of it is the same."""

_IN_COMMON = 0.8
"""Of two names, because two letters are most of a short one: `aws` is no misspelt `sql`."""


def misspelt(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant; None where the name is known, or like none of them.

    >>> misspelt("schemma", ["schema", "symlinks"])
    'schema'
    >>> misspelt("schemaRegistry", ["schema", "symlinks"])
    """
    by_lower = {one.lower(): one for one in known}
    if name in by_lower.values():
        return None
    for close in get_close_matches(name.lower(), by_lower, n=1, cutoff=_IN_COMMON):
        blocks = SequenceMatcher(None, close, name.lower()).get_matching_blocks()
        if max(len(name), len(close)) - sum(block.size for block in blocks) <= _MOST_WRONG:
            return by_lower[close]
    return None
