"""Split of Spark's extended explain text into its four plans, and of each plan into a tree of texts.

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


class UnreadablePlanError(ValueError):
    """A text is not in Spark's form for such a plan, or is ambiguous."""


def required(match: re.Match[str] | None, missing: str) -> re.Match[str]:
    """Return a match; without one, raise UnreadableError that names the missing part."""
    if not match:
        raise UnreadablePlanError(missing)
    return match


@dataclass
class Drawn:
    """One node of a drawn tree."""

    text: str
    depth: int
    children: list[Drawn] = field(default_factory=list)
    inner: list[Drawn] = field(default_factory=list)
    """Plans in its expressions or fields: subqueries, the query of a command."""

    @property
    def name(self) -> str:
        """Return the node's name as Spark prints it."""
        match = _NAME.match(self.text)
        return match[1] if match else ""

    @property
    def arguments(self) -> str:
        """Return the text after the name."""
        match = _NAME.match(self.text)
        return self.text[match.end() :].strip(" ") if match else self.text

    @property
    def is_stream(self) -> bool:
        """Return whether Spark marks the node as a node of a stream; it never marks relations."""
        return self.text.startswith("~")

    def below(self) -> Iterator[Drawn]:
        """Yield the node and all nodes below it, each before its children."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed((*node.inner, *node.children)))


def sections(text: str) -> dict[str, str]:
    """Return header -> section. If the text was cut before its end, its last section is left out."""
    starts = []
    position = 0
    for header in (PARSED, ANALYZED, OPTIMIZED, PHYSICAL):
        match = re.compile(rf"^{header}\n", re.MULTILINE).search(text, position)
        if match:
            starts.append((header, match.start(), match.end()))
            position = match.end()
    ends = [start for _, start, _ in starts[1:]]
    read = {
        header: text[begin:end].strip("\n")
        for (header, _, begin), end in zip(starts, [*ends, len(text)], strict=False)
    }
    if starts and starts[-1][0] != PHYSICAL:
        read.pop(starts[-1][0])
    return read


def draw(text: str) -> Drawn:
    """Read a drawn tree; a line that is not a branch belongs to the text of the node before it."""
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
        raise UnreadablePlanError("it has no plan")
    return root
