"""Changes single values inside a text and leaves every other character as it is.

All edits are of the text as it was read; `applied` makes them at once. What cannot be edited in place (a
value that a merge key brings in, say) makes the edits `stuck`, and the caller writes something larger anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.testing.places import Place
from airflow_provider_spark_lineage.testing.updates.writing import Notation

Entry = tuple[str, Any]
"""A key and its value; for an element of a list, the key means nothing."""

_COLON = re.compile(r"[ \t]*:")
_DASH = re.compile(r"^[ \t]*(-)(?=\s)", re.MULTILINE)
_BLOCK_SCALAR = re.compile(r"(?:[!&]\S*[ \t]+)*[|>][-+0-9]*([ \t]+#[^\r\n]*)")
_LINE_END = re.compile(r"\r?\n|\Z")
_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


class Edits:
    """Pending changes of one text.

    >>> from airflow_provider_spark_lineage.testing.places import yaml_places
    >>> from airflow_provider_spark_lineage.testing.updates.writing import Yaml
    >>> text = "a: 1  # one\\nb: [x, y]\\n"
    >>> place, edits = yaml_places(text), Edits(text, Yaml())
    >>> edits.replace(place, 0, 2)
    >>> edits.remove(place.items[1], [0])
    >>> edits.insert(place, 1, [("c", {})])
    >>> print(edits.applied(), end="")
    a: 2  # one
    b: [y]
    c: {}
    """

    def __init__(self, text: str, notation: Notation) -> None:
        self._text = text
        self._notation = notation
        self._edits: list[_Edit] = []
        self._line_break = "\r\n" if "\r\n" in text else "\n"
        self.stuck = False

    def mark(self) -> tuple[int, bool]:
        """What is pending now, for `rewind`."""
        return len(self._edits), self.stuck

    def rewind(self, mark: tuple[int, bool]) -> None:
        """Forget all that happened since the mark."""
        del self._edits[mark[0] :]
        self.stuck = mark[1]

    def applied(self) -> str:
        """The text with all changes made."""
        parts, position = [], 0
        for edit in sorted(self._edits, key=lambda edit: (edit.start, edit.end)):
            parts += [self._text[position : edit.start], edit.text]
            position = edit.end
        return "".join([*parts, self._text[position:]])

    def replace(self, place: Place, position: int, value: Any) -> None:
        """Put another value in the place of a key's value or of an element."""
        old = place.items[position]
        if not place.block:
            self._edit(old.start, old.end, self._notation.inside(value, self._margin(place, position)))
        elif place.kind == "list":
            self._put(old.start, old.end, self._notation.block(value, self._column(old.start)))
        else:
            self._replace_behind_key(place, position, value)

    def remove(self, place: Place, positions: Sequence[int]) -> None:
        """Take entries or elements out; never all of them, as a block without any is no longer one."""
        for first, last in _runs(positions):
            if not place.block:
                self._remove_inside(place, first, last)
            elif first == 0 and self._shares_line(place):
                self._remove_behind_dash(place, last)
            else:
                for position in range(first, last + 1):
                    self._remove_lines(self._begin(place, position), place.items[position].end)

    def insert(self, place: Place, after: int, new: Sequence[Entry]) -> None:
        """Put new entries or elements behind a position; -1 is the beginning."""
        if not place.items:
            self.stuck = True
        elif place.block:
            self._insert_lines(place, after, new)
        else:
            self._insert_inside(place, after, new)

    def make_list(self, place: Place, position: int, more: Sequence[Any]) -> None:
        """Make a key's value the first element of a list with more behind it."""
        old = place.items[position]
        if not place.block:
            margin = self._margin(place, position)
            texts = [f", {self._notation.inside(value, margin)}" for value in more]
            self._edit(old.start, old.start, "[")
            self._edit(old.end, old.end, f"{''.join(texts)}]")
            return
        key = place.keys[position]
        column, colon = self._column(key.start), _COLON.match(self._text, key.end)
        if colon is None or old.anchored:
            self.stuck = True
        elif old.block and self._column(old.start) >= column + 2:
            column = self._column(old.start) - 2
            self._edit(old.start - 2, old.start, "- ")
        elif not old.block and "\n" not in self._text[colon.end() : old.start]:
            self._edit(colon.end(), old.start, f"{self._line_break}{' ' * column}- ")
        else:
            self.stuck = True
        texts = [f"\n{' ' * column}- {self._notation.block(value, column + 2)}" for value in more]
        end = self._line_end(old.end)
        self._edit(end, end, "".join(texts))

    def _edit(self, start: int, end: int, text: str) -> None:
        if self._line_break != "\n":
            text = text.replace("\r\n", "\n").replace("\n", self._line_break)
        self._edits.append(_Edit(start, end, text))

    def _put(self, start: int, end: int, text: str) -> None:
        """Replace the last value of a line; a comment behind it stays on the first line of the new text."""
        head, line_break, body = text.partition("\n")
        line_end = self._line_end(end)
        if line_break:
            text, end = f"{head}{self._text[end:line_end].rstrip()}\n{body}", line_end
        self._edit(start, end, text)

    def _replace_behind_key(self, place: Place, position: int, value: Any) -> None:
        key, old = place.keys[position], place.items[position]
        colon = _COLON.match(self._text, key.end)
        if colon is None:
            self.stuck = True
            return
        text = self._notation.after_key(value, self._column(key.start))
        header = _BLOCK_SCALAR.match(self._text, old.start, old.end)
        comments = self._text[colon.end() : old.start].rstrip() + (header[1] if header else "")
        if "#" not in comments:
            self._put(colon.end(), old.end, text)
            return
        line_end = self._line_end(old.end)
        behind = self._text[old.end : line_end].strip()
        comments += f"\n{' ' * self._column(old.start)}{behind}" if behind else ""
        head, line_break, body = text.partition("\n")
        if head.strip() and line_break and "\n" in comments:
            # Between the `|` and the lines of a text, a comment would be part of the text.
            head, line_break, body = f" {self._notation.inside(value, None)}", "", ""
        self._edit(colon.end(), line_end, f"{head}{comments}{line_break}{body}")

    def _remove_inside(self, place: Place, first: int, last: int) -> None:
        if first:
            self._edit(place.items[first - 1].end, place.items[last].end, "")
        else:
            self._edit(self._begin(place, 0), self._begin(place, last + 1), "")

    def _remove_behind_dash(self, place: Place, last: int) -> None:
        begin, following = self._begin(place, 0), self._begin(place, last + 1)
        end = place.items[last].end
        if "#" in self._text[end:following]:
            # A comment, maybe about what follows; a dash may be alone on its line.
            following = end
        self._edit(begin, following, "")

    def _remove_lines(self, start: int, end: int) -> None:
        # The end of the text has no line break to take along; the one before is taken then.
        line_end = _LINE_END.search(self._text, end)
        stop = line_end.end() if line_end else end
        self._edit(self._line_start(start), stop, "")

    def _insert_inside(self, place: Place, after: int, new: Sequence[Entry]) -> None:
        near = max(after, 0)
        margin = self._margin(place, near)
        texts = [
            self._notation.entry_inside(key, value, margin)
            if place.kind == "mapping"
            else self._notation.inside(value, margin)
            for key, value in new
        ]
        space = " " if margin is None else f"\n{margin}"
        if after < 0:
            begin = self._begin(place, 0)
            self._edit(begin, begin, "".join(f"{text},{space}" for text in texts))
        else:
            end = place.items[after].end
            self._edit(end, end, "".join(f",{space}{text}" for text in texts))

    def _insert_lines(self, place: Place, after: int, new: Sequence[Entry]) -> None:
        begin = self._begin(place, 0)
        column = self._column(begin)
        margin = " " * column
        apart = "\n" if self._blank_lines_between(place) else ""
        texts = [
            self._notation.entry(key, value, column)
            if place.kind == "mapping"
            else f"- {self._notation.block(value, column + 2)}"
            for key, value in new
        ]
        if after < 0 and self._shares_line(place):
            self._edit(begin, begin, "".join(f"{text}\n{apart}{margin}" for text in texts))
        elif after < 0:
            # Where the line starts: what begins on it may be removed, with the whole line.
            start = self._line_start(begin)
            self._edit(start, start, "".join(f"{margin}{text}\n{apart}" for text in texts))
        else:
            end = self._line_end(place.items[after].end)
            self._edit(end, end, "".join(f"\n{apart}{margin}{text}" for text in texts))

    def _begin(self, place: Place, position: int) -> int:
        """Where the key or the dash of an entry is; inside brackets, the element itself."""
        if place.kind == "mapping":
            return place.keys[position].start
        item = place.items[position]
        if not place.block:
            return item.start
        before = place.items[position - 1].end if position else place.start
        dash = _DASH.search(self._text[before : item.start])
        if dash is None:
            self.stuck = True
        return before + dash.start(1) if dash else item.start

    def _blank_lines_between(self, place: Place) -> bool:
        gaps = [
            self._text[place.items[i].end : self._begin(place, i + 1)] for i in range(len(place.items) - 1)
        ]
        return bool(gaps) and all(_BLANK_LINE.search(gap) for gap in gaps)

    def _margin(self, place: Place, position: int) -> str | None:
        """What a line inside brackets begins with; None where all is on one line."""
        begin = self._begin(place, position)
        before = self._text[self._line_start(begin) : begin]
        laid_out = "\n" in self._text[place.start : begin] and not before.strip()
        return before if laid_out else None

    def _shares_line(self, place: Place) -> bool:
        begin = self._begin(place, 0)
        return bool(self._text[self._line_start(begin) : begin].strip())

    def _line_start(self, position: int) -> int:
        return self._text.rfind("\n", 0, position) + 1

    def _line_end(self, position: int) -> int:
        found = _LINE_END.search(self._text, position)
        return found.start() if found else len(self._text)

    def _column(self, position: int) -> int:
        return position - self._line_start(position)


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of positions that follow one another."""
    runs: list[tuple[int, int]] = []
    for position in sorted(positions):
        if runs and runs[-1][1] == position - 1:
            runs[-1] = (runs[-1][0], position)
        else:
            runs.append((position, position))
    return runs
