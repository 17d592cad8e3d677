"""Splits Spark's extended explain text into its four plans, and each plan into a tree of nodes' texts.

Knows how Spark draws a tree (`TreeNode.generateTreeString`), and no node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

PARSED, ANALYZED, OPTIMIZED, PHYSICAL = (
    "== Parsed Logical Plan ==",
    "== Analyzed Logical Plan ==",
    "== Optimized Logical Plan ==",
    "== Physical Plan ==",
)

_PREFIX = re.compile(r"((?:   |:  )*)(?:\+- |:- )")
_NAME = re.compile(r"['!~]*(?:\*\(\d+\) )?(\w+(?:\$\w+)*)")


class UnreadableError(ValueError):
    """A text is not what Spark prints for such a plan, or leaves open what it means."""


@dataclass
class Drawn:
    """One node of a drawn tree."""

    text: str
    depth: int
    children: list[Drawn] = field(default_factory=list)
    inner: list[Drawn] = field(default_factory=list)
    """Plans that its expressions or fields hold: subqueries, the query of a command."""

    @property
    def name(self) -> str:
        """Return the node's name as Spark prints it."""
        match = _NAME.match(self.text)
        return match[1] if match else ""

    @property
    def arguments(self) -> str:
        """Return what follows the name."""
        match = _NAME.match(self.text)
        return self.text[match.end() :].strip(" ") if match else self.text

    @property
    def is_stream(self) -> bool:
        """Return whether Spark marks the node as one of a stream; it marks no relation."""
        return self.text.startswith("~")

    def below(self) -> Iterator[Drawn]:
        """Yield the node and all below it, each before its children."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed((*node.inner, *node.children)))


def sections(text: str) -> dict[str, str]:
    """Return header -> section. Of a text that was cut before its end, the last section is left out."""
    starts = []
    position = 0
    for header in (PARSED, ANALYZED, OPTIMIZED, PHYSICAL):
        found = re.compile(rf"^{header}\n", re.MULTILINE).search(text, position)
        if found:
            starts.append((header, found.start(), found.end()))
            position = found.end()
    ends = [start for _, start, _ in starts[1:]]
    read = {
        header: text[begin:end].strip("\n")
        for (header, _, begin), end in zip(starts, [*ends, len(text)], strict=True)
    }
    if starts and starts[-1][0] != PHYSICAL:
        read.pop(starts[-1][0])
    return read


def draw(text: str) -> Drawn:
    """Read a drawn tree; lines that are no branch belong to the text of the node before them."""
    root: Drawn | None = None
    path: list[Drawn] = []
    for line in text.split("\n"):
        match = _PREFIX.match(line)
        depth = len(match[0]) // 3 if match else 0
        above = next((node for node in reversed(path) if node.depth < depth), None)
        if root is None:
            root = Drawn(line, 0)
            path = [root]
        elif match is None or above is None or depth - above.depth > 2:
            path[-1].text += "\n" + line
        else:
            node = Drawn(line[match.end() :], depth)
            while path[-1].depth >= depth:
                path.pop()
            (above.children if depth - above.depth == 1 else above.inner).append(node)
            path.append(node)
    if root is None or not root.name:
        raise UnreadableError("there is no plan in it")
    return root
