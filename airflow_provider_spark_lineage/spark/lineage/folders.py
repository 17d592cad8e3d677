"""Folders of one dataset, with look-up of the parents and of the subfolders of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from airflow_provider_spark_lineage.spark.sources.paths import is_within

Thing = TypeVar("Thing")


class Folders(dict[str, Thing]):
    """A mapping of folders, relative to their dataset, to values; an empty name is the whole dataset.

    >>> folders = Folders()
    >>> folders["2024/01"], folders["2024/02"], folders[""] = "a", "b", "c"
    >>> folders.around("2024/01"), sorted(folders.below("2024"))
    (['2024/01', ''], ['2024/01', '2024/02'])
    """

    __slots__ = ("_below",)

    def __init__(self) -> None:
        super().__init__()
        self._below: dict[str, int] | None = None
        """Folder -> number of folders below it, which saves a search; None as long as all are whole."""

    def __setitem__(self, folder: str, thing: Thing) -> None:
        if folder not in self:
            self._count(folder, 1)
        super().__setitem__(folder, thing)

    def __delitem__(self, folder: str) -> None:
        super().__delitem__(folder)
        self._count(folder, -1)

    def _count(self, folder: str, change: int) -> None:
        below = self._below or {}
        for parent in _parents(folder):
            below[parent] = below.get(parent, 0) + change
            self._below = below

    def around(self, folder: str) -> list[str]:
        """Return a folder and its parents, from the inside out, as far as the mapping has them."""
        return [each for each in (folder, *_parents(folder)) if each in self]

    def below(self, folder: str) -> list[str]:
        """Return the subfolders of a folder in the mapping, at any depth."""
        if not (self._below and self._below.get(folder)):
            return []
        return [each for each in self if each != folder and is_within(each, folder)]


def _parents(folder: str) -> Iterator[str]:
    """Yield the parents of a folder, from the inside out; the last is the whole dataset."""
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder
