"""Asks an RDD what it reads: the only trace of a DataFrame that went through `df.rdd`, and of RDD jobs."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Iterator, List

from airflow_provider_spark_lineage.credentials import without_secrets

MAX_RDDS = 300
MAX_PARTITIONS = 50
"""Each costs a few calls, and a scan knows its files by them alone."""

MAX_KNOWN = 10_000


def _schema(**types: str) -> str:
    columns = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in types.items()]
    return json.dumps({"type": "struct", "fields": columns}, separators=(",", ":"))


TEXT = _schema(value="string")
"""What Spark calls the column of a text file."""

PICKLED = "pickle"
"""Format of files whose records are batches of rows."""

_SCHEMAS = {"textFile": TEXT}
"""The method that made a Hadoop RDD -> what its files show, in Spark's words for the same format."""

_OF_FILES = ("HadoopRDD", "NewHadoopRDD", "WholeTextFileRDD", "BinaryFileRDD")


class RddReader:
    """Reads the lineage of RDDs; one for each application, because RDDs are numbered within it."""

    def __init__(self) -> None:
        self._known: Dict[int, List[Dict[str, Any]]] = {}
        """Id of an RDD -> its origins."""

    def hand_on(self, rdd_id: int) -> None:
        """Note that an RDD holds the rows of a query which has a record of its own."""
        self._know(rdd_id, [{"rdd": rdd_id}])

    def is_handed_on(self, rdd_id: int) -> bool:
        """Say whether an RDD is known to hold the rows of a query."""
        return self._known.get(rdd_id) == [{"rdd": rdd_id}]

    def remember(self, rdd: Any) -> None:
        """Note an RDD's origins while it knows them: a checkpoint forgets what it was made from."""
        self.origins(rdd)

    def origins(self, rdd: Any) -> List[Dict[str, Any]]:
        """Return one entry for each read that an RDD is made from.

        `paths` and, where it is known, `schema`; or `rdd`, the id under which a record stands for it;
        or `more`, where it is made from more RDDs than are asked; or `unasked`, where a scan has more
        partitions than are; or `unnamed`, the class of one that reads through a Hadoop input format which
        knows no files.
        """
        number = int(rdd.id())
        if number not in self._known:
            found: List[Dict[str, Any]] = []
            for one in self._read(rdd):
                if one not in found:
                    found.append(one)
            self._know(number, found)
        return self._known[number]

    def _know(self, rdd_id: int, origins: List[Dict[str, Any]]) -> None:
        while len(self._known) >= MAX_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[rdd_id] = origins

    def _read(self, rdd: Any) -> Iterator[Dict[str, Any]]:
        """Walk from an RDD to those that it is made from, as far as nothing is known."""
        waiting, seen = [rdd], {int(rdd.id())}
        while waiting and len(seen) < MAX_RDDS:
            current = waiting.pop()
            yield from _files(current)
            dependencies = current.dependencies()
            for index in range(dependencies.size()):
                parent = dependencies.apply(index).rdd()
                number = int(parent.id())
                if number in self._known:
                    yield from self._known[number]
                elif number not in seen:
                    waiting.append(parent)
                seen.add(number)
        if waiting:
            yield {"more": True}


def _files(rdd: Any) -> Iterator[Dict[str, Any]]:
    kind = rdd.getClass().getSimpleName()
    entry: Dict[str, Any]
    if kind == "FileScanRDD":
        partitions = rdd.filePartitions()
        count = int(partitions.size())
        if count > MAX_PARTITIONS:
            yield {"unasked": True}
        entry = {"paths": _scanned(partitions, count), "schema": _plain(rdd.readSchema().json())}
    elif kind in _OF_FILES:
        text = rdd.getConf().get("mapreduce.input.fileinputformat.inputdir") or ""
        entry = {"paths": split_paths(text)}
        scope = rdd.scope()
        schema = _SCHEMAS.get(scope.get().name()) if scope.isDefined() else None
        if schema:
            entry["schema"] = schema
    else:
        return
    entry["paths"] = [without_secrets(path) for path in entry["paths"] if path]
    if entry["paths"]:
        yield entry
    elif kind in _OF_FILES:
        yield {"unnamed": kind}


def _plain(schema: str) -> str:
    """Return a schema's JSON without comments and default values, which may be anything."""
    return json.dumps(json.loads(schema, object_hook=_without_metadata), separators=(",", ":"))


def _without_metadata(entry: Dict[str, Any]) -> Dict[str, Any]:
    is_field = "metadata" in entry and "type" in entry
    return {**entry, "metadata": {}} if is_field else entry


def split_paths(text: str) -> List[str]:
    """Split paths as Hadoop joins them (`StringUtils.escapeString`): a comma of a path has a backslash.

    >>> split_paths("file:/a,file:/{b\\\\,c}")
    ['file:/a', 'file:/{b,c}']
    """
    return [_ESCAPED.sub(r"\1", path) for path in _PATH.findall(text)]


_PATH = re.compile(r"(?:[^\\,]|\\.)+", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def _scanned(partitions: Any, count: int) -> List[str]:
    """Return the distinct files of a scan's partitions, or of some from its first to its last."""
    asked = min(count, MAX_PARTITIONS)
    paths: Dict[str, None] = {}
    for number in range(asked):
        for file in partitions.apply(number * (count - 1) // max(asked - 1, 1)).files():
            paths[file.toPath().toString()] = None
    return list(paths)
