r"""Patterns of datasets and columns, as people write them in a policy.

A pattern is the whole name of a dataset, with or without its namespace, or the end of it from a `/` or a `.`
on. `*` is any text, also with `/` and `.` in it; `\` takes the next character literally.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from airflow_provider_spark_lineage.openlineage.events.shapes import Id

_PART = re.compile(r"\\(.)|(\\$)|(\*)|(.)", re.DOTALL)


class DatasetPattern:
    r"""Pattern of the names of datasets.

    >>> DatasetPattern("gold/*").matches(["s3://lake/gold/orders"])
    True
    >>> DatasetPattern("rders").matches(["gold/orders"])
    False
    >>> DatasetPattern(r"a\*").matches(["ab"])
    False
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(f"(?s:(?:.*[/.])?){_translated(self.text)}")

    def matches(self, names: Iterable[str]) -> bool:
        """Return whether one of a dataset's names matches."""
        return any(map(self._regex.match, names))


class ColumnPattern:
    r"""Pattern of columns: `DATASET.COLUMN`; the case of the column does not matter.

    The last dot separates them, unless `\` precedes it.

    >>> pattern = ColumnPattern(r"crm/customers.address\.street")
    >>> pattern.dataset.text, pattern.matches_field("Address.Street"), pattern.matches_field("address")
    ('crm/customers', True, False)
    """

    def __init__(self, text: str) -> None:
        place = _last_dot(text)
        if place is None or not text[:place] or not text[place + 1 :]:
            raise ValueError(
                f"`{text}` does not name a column: write `DATASET.COLUMN`, or `DATASET.*` for all"
            )
        self.text = text
        self.dataset = DatasetPattern(text[:place])
        self._field = text[place + 1 :]

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(_translated(self._field), re.IGNORECASE)

    def matches_field(self, field: str) -> bool:
        """Return whether the name of a column matches."""
        return self._regex.match(field) is not None


def names_of(dataset: Id) -> Iterator[str]:
    """Yield the texts that a pattern may match: the name, and the name after its namespace.

    >>> [*names_of(("s3://lake", "gold/orders"))], [*names_of(("file", "/gold/orders"))]
    (['gold/orders', 's3://lake/gold/orders'], ['/gold/orders', 'file/gold/orders'])
    """
    namespace, name = dataset
    yield name
    yield f"{namespace.rstrip('/')}/{name.lstrip('/')}"


def _last_dot(text: str) -> int | None:
    places = [match.start() for match in _PART.finditer(text) if match[4] == "."]
    return places[-1] if places else None


def _translated(text: str) -> str:
    """Return a pattern as a regular expression; `fnmatch` makes one that takes no exponential time."""
    return fnmatch.translate("".join(map(_of_fnmatch, _PART.finditer(text))))


def _of_fnmatch(part: re.Match[str]) -> str:
    escaped, backslash, star, plain = part.groups()
    if star:
        return "*"
    letter = escaped or backslash or plain
    return f"[{letter}]" if letter in "*?[" else letter
