"""Hadoop's wildcards in the paths of a read: `*`, `?`, `[ab]` and `{a,b}`; a backslash makes a letter plain.

A read by a pattern is named by the pattern, not by how much it matches today. Grouped files belong to the
folder before the first wildcard; each matched folder is the dataset that others write under that name.
"""

from __future__ import annotations

import posixpath
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from airflow_provider_spark_lineage.spark.gaps import of_datasets
from airflow_provider_spark_lineage.spark.sources.paths import (
    MAX_SIBLINGS,
    TOO_MANY,
    PathGroup,
    is_complete,
    is_file_name,
    parent_of,
    roots,
    split_location,
    trim_partitions,
)

_MAX_ALTERNATIVES = 50
"""Limit of the patterns of one path with slashes in braces."""

_LETTER = re.compile(r"\\(.)|([*?\[{])", re.DOTALL)
"""An escaped letter, or the first letter of a wildcard."""

_HIDDEN = re.compile(r"\.|_(?!.*=)")
"""Beginning of the names that Spark does not read: `_SUCCESS`, `.crc`."""

_NAMES_FILES = re.compile(r"part-.*|.+\.[A-Za-z*{\[][^/]*")
"""A name with an ending, which may have wildcards itself: `*.json`, `t_?.csv.*`, `*.{json,csv}`."""


def has_wildcard(path: str) -> bool:
    r"""Return whether a path is a pattern.

    >>> has_wildcard("/in/t_*.json"), has_wildcard(r"/in/a\[1\]")
    (True, False)
    """
    return any(match[2] for match in _LETTER.finditer(path))


class Pattern(NamedTuple):
    """A path that a program gave, with or without wildcards."""

    folder: str
    """The folder before the first wildcard, without backslashes; of a plain path, the path."""

    rest: Tuple[str, ...] = ()
    """The names from the first wildcard on."""

    @classmethod
    def of(cls, path: str) -> Pattern:
        """Split a path at its first name with a wildcard.

        >>> Pattern.of("s3a://lake/in/day=*/*.json")
        Pattern(folder='s3a://lake/in', rest=('day=*', '*.json'))
        """
        names = path.split("/")
        first = next((at for at, name in enumerate(names) if has_wildcard(name)), len(names))
        folder = _LETTER.sub(lambda match: match[1] or match[0], "/".join(names[:first]))
        if first and not folder.strip("/"):
            folder = "/"
        return cls(folder, tuple(name for name in names[first:] if name))

    @property
    def names_files(self) -> bool:
        """Return whether the text alone says that it matches files, or partitions of its folder."""
        *above, last = self.rest
        is_partition = "=" in last or (last == "*" and bool(above) and all("=" in name for name in above))
        # `/in/*/orders.parquet` may as well be folders that Spark wrote.
        return is_partition or (has_wildcard(last) and _NAMES_FILES.fullmatch(last) is not None)

    def folder_of(self, path: str) -> Optional[str]:
        """Return the full name of the pattern's folder, for a path that it matches; None for another path.

        >>> Pattern.of("in/*/x").folder_of("hdfs://nn:8020/user/me/in/a/x")
        'hdfs://nn:8020/user/me/in'
        """
        folder = path
        for _ in self.rest:
            folder = parent_of(folder)
        name = split_location(folder)[1].strip("/")
        if is_complete(self.folder) or self.folder.startswith("/"):
            return folder if split_location(self.folder)[1].strip("/") == name else None
        relative = posixpath.normpath(self.folder) if self.folder else "."
        is_below = relative == "." or relative.startswith("../") or f"/{name}".endswith(f"/{relative}")
        return folder if is_below else None

    def full(self, folder: str) -> str:
        """Return the pattern below the full name of its folder."""
        return "/".join((folder.rstrip("/"), *self.rest))


def alternatives(path: str) -> List[str]:
    """Return the patterns of a path, which are several if braces have a slash, as in Hadoop.

    >>> alternatives("/in/{a/x,b}/*.json"), alternatives("/in/{a,b}")
    (['/in/a/x/*.json', '/in/b/*.json'], ['/in/{a,b}'])
    """
    done: List[str] = []
    waiting = [path]
    while waiting and len(done) + len(waiting) <= _MAX_ALTERNATIVES:
        current = waiting.pop(0)
        start, parts, end = _braces_with_slash(current)
        if parts:
            waiting[:0] = [current[:start] + part + current[end:] for part in parts]
        else:
            done.append(current)
    return done + waiting


def _braces_with_slash(path: str) -> Tuple[int, List[str], int]:
    """Return the first outer braces with a slash: their start, what stands between commas, and their end."""
    depth = start = last = 0
    parts: List[str] = []
    letters = enumerate(path)
    for at, letter in letters:
        if letter == "\\":
            next(letters, None)
        elif letter == "{":
            depth += 1
            if depth == 1:
                start, last, parts = at, at + 1, []
        elif depth == 1 and letter in ",}":
            parts.append(path[last:at])
            last = at + 1
        if letter == "}" and depth:
            depth -= 1
            if depth == 0 and any("/" in part for part in parts):
                return start, parts, at + 1
    return 0, [], 0


def matches(patterns: Sequence[str], paths: Sequence[str], is_file: Sequence[bool]) -> Dict[str, PathGroup]:
    """Return the datasets of a read by their full paths.

    `patterns` are the program's; `paths` are their matches, and the paths without a wildcard. Where `is_file`
    is not recorded, names with an ending are files.
    """
    split = [Pattern.of(path) for text in patterns for path in alternatives(text)]
    matched: Dict[Tuple[str, bool], PathGroup] = {}
    plain: List[str] = []
    for number, path in enumerate(paths):
        is_one_file = is_file[number] if number < len(is_file) else is_file_name(path)
        if not is_one_file and _HIDDEN.match(posixpath.basename(path)):
            continue
        folder, pattern = _matching(split, path)
        if not pattern.rest:
            plain.append(path)
            continue
        group = matched.setdefault((folder, is_one_file), PathGroup([], []))
        group.paths.append(path)
        if pattern.full(folder) not in group.patterns:
            group.patterns.append(pattern.full(folder))
    groups = roots(plain)
    for (folder, of_files), group in matched.items():
        for root, of_dataset in _datasets(folder, group, of_files=of_files):
            _add(groups, root, of_dataset)
    return groups


def without_matches(patterns: Sequence[str]) -> Dict[str, PathGroup]:
    """Return the datasets of a read whose matches are not recorded, by the texts alone."""
    groups: Dict[str, PathGroup] = {}
    for pattern in (Pattern.of(path) for text in patterns for path in alternatives(text)):
        text = pattern.full(pattern.folder) if pattern.rest else pattern.folder
        note = of_datasets.UNMATCHED() if pattern.rest and not pattern.names_files else None
        _add(groups, trim_partitions(pattern.folder), PathGroup([], [text] if pattern.rest else [], note))
    return groups


def _matching(patterns: Sequence[Pattern], path: str) -> Tuple[str, Pattern]:
    """Return the first pattern that a path may have been matched by, and its folder; else a plain path."""
    for pattern in patterns:
        folder = pattern.folder_of(path)
        if folder is not None:
            return folder, pattern
    return path, Pattern(path)


def _datasets(folder: str, group: PathGroup, *, of_files: bool) -> Iterator[Tuple[str, PathGroup]]:
    """Yield the datasets of the files or the folders that patterns below `folder` matched."""
    if of_files:
        yield trim_partitions(folder), group
        return
    by_root: Dict[str, List[str]] = {}
    for path in group.paths:
        by_root.setdefault(trim_partitions(path), []).append(path)
    if len(by_root) > MAX_SIBLINGS:
        yield trim_partitions(folder), group._replace(note=TOO_MANY)
        return
    yield from ((root, group._replace(paths=below)) for root, below in by_root.items())


def _add(groups: Dict[str, PathGroup], root: str, group: PathGroup) -> None:
    """Add a group to the other paths of its dataset."""
    before = groups.get(root, PathGroup([], []))
    patterns = dict.fromkeys((*before.patterns, *group.patterns))
    groups[root] = PathGroup([*before.paths, *group.paths], list(patterns), before.note or group.note)
