"""Hadoop paths: their namespaces and names, and their folders that are partitions."""

from __future__ import annotations

import posixpath
import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from airflow_provider_spark_lineage.spark.gaps import of_datasets
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason

_FOLDED_SCHEMES = {"s3a": "s3", "s3n": "s3"}
_OBJECT_STORES = frozenset({"s3", "gs", "abfs", "abfss", "wasb", "wasbs"})
_PARTITION = re.compile(r"[^/=?]+=[^/]*\Z")
"""Spark escapes `?` in a partition's name, so an unescaped one starts a store's signature."""

_YEAR, _MONTH, _DAY = r"(?:19|20)\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_DATE = re.compile(rf"{_YEAR}[-_]?{_MONTH}(?:[-_]?{_DAY}(?:[T_-]?\d\d(?:[-:_]?\d\d){{0,2}}(?:\.\d+)?Z?)?)?\Z")
_DATE_FOLDERS = re.compile(rf"(.+)/{_YEAR}/{_MONTH}(?:/{_DAY}(?:/[0-2]\d)?)?\Z")
"""2024/01, 2024/01/31, 2024/01/31/23; a year alone may be anything."""

_STAGE = re.compile(r"(.+)/stages/\d+_[A-Za-z]\w*_[0-9a-f]{12}(?:/.*)?\Z")
"""A path of `PipelineSharedReadWrite.getStagePath`, or below it."""

MAX_SIBLINGS = 50
"""Limit of sibling folders in one read; above it, their parent is the dataset."""

TOO_MANY = of_datasets.TOO_MANY_FOLDERS(limit=MAX_SIBLINGS)

_PART = re.compile(r"part-\d{5,}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[^/]*\Z")
"""A file written by a task of Spark, which is part of its folder's dataset."""

_FILE = re.compile(r".+\.[A-Za-z][A-Za-z0-9]{0,9}\Z")


def split_location(location: str) -> Tuple[str, str]:
    """Split a Hadoop path into the namespace and the name of its dataset.

    A path without a scheme is local. Credentials in the authority are left out.
    """
    scheme, _, path_part = location.partition(":")
    if "/" in scheme or not path_part:
        scheme, path_part = "file", location
    scheme = _FOLDED_SCHEMES.get(scheme.lower(), scheme.lower())
    authority = ""
    if path_part.startswith("//"):
        authority, _, path = path_part[2:].partition("/")
        path_part = "/" + path
    if scheme == "file":
        return "file", _normal(path_part)
    if scheme not in ("abfss", "abfs", "wasbs", "wasb") and "@" in authority:
        authority = authority.rsplit("@", 1)[1]
    # Keys of object stores do not begin with a slash, paths of file systems do. The text after a question
    # mark is a signature for the store, not part of the key.
    name = _normal(path_part)
    if scheme in _OBJECT_STORES:
        name = _normal(path_part.partition("?")[0]).lstrip("/") or "/"
    return (f"{scheme}://{authority}" if authority else scheme), name


def completed(path: str, file_system: str) -> str:
    """Return a user's path, with Hadoop's default file system if it has none.

    >>> completed("/out", "hdfs://nn:8020")
    'hdfs://nn:8020/out'
    """
    if is_complete(path) or not file_system:
        return path
    return f"{file_system.rstrip('/')}/{path.lstrip('/')}"


def is_complete(path: str) -> bool:
    """Return whether a path names its file system; a colon after the first slash is part of a folder."""
    return ":" in path.partition("/")[0]


def _normal(path: str) -> str:
    """Drop doubled and trailing slashes; an empty path is the root."""
    return re.sub(r"/+", "/", "/" + path).rstrip("/") or "/"


def uri_of(namespace: str, name: str) -> str:
    """Return the URI of a namespace and a name that `split_location` returned."""
    path = name.lstrip("/")
    return f"{namespace}/{path}" if "://" in namespace else f"{namespace}:/{path}"


class PathGroup(NamedTuple):
    """Paths of one dataset in one read."""

    paths: List[str]
    """The files and folders that were read."""

    patterns: List[str]
    """The patterns that matched them, with full names; empty without a pattern."""

    note: Optional[Reason] = None
    """What is not known about it."""


def roots(paths: Sequence[str]) -> Dict[str, PathGroup]:
    """Return the datasets of paths, in the order of their names."""
    groups: Dict[str, List[str]] = {}
    for path in paths:
        groups.setdefault(trim_partitions(path), []).append(path)
    folders: Dict[str, List[str]] = {}
    for root in groups:
        if _FILE.match(posixpath.basename(root)):
            folders.setdefault(trim_partitions(posixpath.dirname(root)), []).append(root)
    for folder, files in folders.items():
        if len(files) > 1 or folder in groups:
            _move(groups, files, folder)
    # Many siblings are their parent.
    below: Dict[str, List[str]] = {}
    for root in groups:
        below.setdefault(posixpath.dirname(root), []).append(root)
    parents = set()
    for folder, siblings in below.items():
        if len(siblings) > MAX_SIBLINGS and not _is_root(folder):
            _move(groups, siblings, folder)
            parents.add(folder)
    if len(groups) > MAX_SIBLINGS:
        folder = _common_folder(list(groups))
        if not _is_root(folder):
            _move(groups, list(groups), folder)
            parents.add(folder)
    return {
        root: PathGroup(groups[root], [], TOO_MANY if root in parents else None) for root in sorted(groups)
    }


def _move(groups: Dict[str, List[str]], names: List[str], to: str) -> None:
    """Move the paths of some groups to another one."""
    moved = [path for name in names for path in groups.pop(name)]
    groups.setdefault(to, []).extend(moved)


def _common_folder(paths: Sequence[str]) -> str:
    """Return the innermost folder around paths; empty without one."""
    split = sorted(path.split("/") for path in paths)
    # What the first and the last have in common, all have.
    return "/".join(posixpath.commonprefix([split[0], split[-1]]))


def is_within(folder: str, other: str) -> bool:
    """Return whether a folder is the other folder or inside it, by their names in a dataset.

    >>> is_within("2024/01", "2024"), is_within("2024", ""), is_within("20240", "2024")
    (True, True, False)
    """
    return not other or folder == other or folder.startswith(other + "/")


def is_part_of_model(path: str) -> bool:
    """Return whether a path is inside a stage of a saved pipeline."""
    return bool(_STAGE.match(path.rstrip("/")))


def is_file_name(path: str) -> bool:
    """Return whether the last name of a path looks like a file's: it has an ending, or Spark wrote it."""
    name = posixpath.basename(path)
    return bool(_FILE.match(name) or name.startswith("part-"))


def parent_of(path: str) -> str:
    """Return the folder around a path.

    >>> parent_of("s3a://lake/in/a.csv"), parent_of("file:/a.csv")
    ('s3a://lake/in', 'file:/')
    """
    parent = posixpath.dirname(path.rstrip("/"))
    return parent + "/" if parent.endswith(":") else parent


def trim_partitions(path: str) -> str:
    """Cut partition suffixes from a path: `k=v` directories, and directories named by a date.

    The stages of a saved pipeline, which MLlib names by random ids, are also cut. The first directory below a
    root is never cut: a root is not a dataset.
    """
    trimmed = path.rstrip("/") or path
    if trimmed.endswith(":") and "/" not in trimmed:
        # `file:/` is the root, `file:` is nothing.
        return trimmed + "/"
    while True:
        parent, _, last = trimmed.rpartition("/")
        folders = _DATE_FOLDERS.match(trimmed) or _STAGE.match(trimmed)
        if folders and not _is_root(folders[1]):
            trimmed = folders[1]
        elif _is_root(parent):
            return trimmed
        elif any(pattern.match(last) for pattern in (_PARTITION, _DATE, _PART)) or (
            _FILE.match(last) and _PARTITION.match(parent.rpartition("/")[2])
        ):
            trimmed = parent
        else:
            return trimmed


def _is_root(path: str) -> bool:
    """Return whether a path is only a scheme, a bucket or a host."""
    return "/" not in re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?", "", path).rstrip("/")
