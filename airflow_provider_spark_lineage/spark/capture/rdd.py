"""Reads the files behind an RDD, which Spark's listener events do not name."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Iterator, List

from airflow_provider_spark_lineage.spark.records.credentials import without_secrets

MAX_RDDS = 300
"""Limit of RDDs that are visited for one RDD; each takes a few calls of the JVM."""

MAX_PARTITIONS = 50
"""Limit of a scan's partitions that are read; only partitions name its files."""

MAX_STORED = 10_000
"""Limit of RDDs with stored origins."""


TEXT = '{"type":"struct","fields":[{"name":"value","type":"string","nullable":true,"metadata":{}}]}'
"""Spark's schema of a text file."""

PICKLED = "pickle"
"""Format of `saveAsPickleFile`: a record is a batch of rows."""

_OF_FILES = ("HadoopRDD", "NewHadoopRDD", "WholeTextFileRDD", "BinaryFileRDD")


class RddReader:
    """Reads the origins of RDDs; one for each application, because ids of RDDs are unique within it."""

    def __init__(self) -> None:
        self._origins: Dict[int, List[Dict[str, Any]]] = {}
        """Id of an RDD -> its origins."""

    def add_query_rdd(self, rdd_id: int) -> None:
        """Mark an RDD as the rows of a query, which has its own record."""
        self._store(rdd_id, [{"rdd": rdd_id}])

    def is_query_rdd(self, rdd_id: int) -> bool:
        """Return whether an RDD was stored by `add_query_rdd`."""
        return self._origins.get(rdd_id) == [{"rdd": rdd_id}]

    def origins(self, rdd: Any) -> List[Dict[str, Any]]:
        """Return, and store, one entry for each read behind an RDD, in one of these forms.

        - `paths` and, if known, `schema`;
        - `rdd`: the `rdd_id` of the record of the query behind it;
        - `more`: the RDD depends on more than `MAX_RDDS` others;
        - `unasked`: a scan has more than `MAX_PARTITIONS` partitions;
        - `unnamed`: the class of an RDD that reads through a Hadoop input format without files.
        """
        number = int(rdd.id())
        if number not in self._origins:
            origins: List[Dict[str, Any]] = []
            for origin in self._read(rdd):
                if origin not in origins:
                    origins.append(origin)
            self._store(number, origins)
        return self._origins[number]

    def _store(self, rdd_id: int, origins: List[Dict[str, Any]]) -> None:
        while len(self._origins) >= MAX_STORED:
            del self._origins[next(iter(self._origins))]
        self._origins[rdd_id] = origins

    def _read(self, rdd: Any) -> Iterator[Dict[str, Any]]:
        """Yield the origins of an RDD and of its ancestors; stop at RDDs with stored origins."""
        waiting, visited = [rdd], {int(rdd.id())}
        while waiting and len(visited) < MAX_RDDS:
            current = waiting.pop()
            yield from _files(current)
            dependencies = current.dependencies()
            for index in range(dependencies.size()):
                parent = dependencies.apply(index).rdd()
                number = int(parent.id())
                if number in self._origins:
                    yield from self._origins[number]
                elif number not in visited:
                    waiting.append(parent)
                visited.add(number)
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
        # Its name is the method that created the RDD.
        if scope.isDefined() and scope.get().name() == "textFile":
            entry["schema"] = TEXT
    else:
        return
    entry["paths"] = [without_secrets(path) for path in entry["paths"] if path]
    if entry["paths"]:
        yield entry
    elif kind in _OF_FILES:
        yield {"unnamed": kind}


def _plain(schema: str) -> str:
    """Return a schema's JSON without metadata: comments and default values may contain any text."""
    return json.dumps(json.loads(schema, object_hook=_without_metadata), separators=(",", ":"))


def _without_metadata(entry: Dict[str, Any]) -> Dict[str, Any]:
    is_field = "metadata" in entry and "type" in entry
    return {**entry, "metadata": {}} if is_field else entry


def split_paths(text: str) -> List[str]:
    """Split paths as Hadoop joins them (`StringUtils.escapeString`): a comma inside a path is escaped.

    >>> split_paths("file:/a,file:/{b\\\\,c}")
    ['file:/a', 'file:/{b,c}']
    """
    return [_ESCAPED.sub(r"\1", path) for path in _PATH.findall(text)]


_PATH = re.compile(r"(?:[^\\,]|\\.)+", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def _scanned(partitions: Any, count: int) -> List[str]:
    """Return the distinct files of a scan's partitions, or of an even sample of many partitions."""
    count_read = min(count, MAX_PARTITIONS)
    paths: Dict[str, None] = {}
    for number in range(count_read):
        for file in partitions.apply(number * (count - 1) // max(count_read - 1, 1)).files():
            paths[file.toPath().toString()] = None
    return list(paths)
