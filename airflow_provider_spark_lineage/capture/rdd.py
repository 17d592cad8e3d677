"""Asks an RDD which files it reads: the only trace of a DataFrame that went through `df.rdd`."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List

from airflow_provider_spark_lineage.record import without_secrets

MAX_RDDS = 300
MAX_PARTITIONS = 50
"""Each costs a few calls, and partitions of one read lie side by side."""


def files_behind(rdd: Any) -> List[Dict[str, Any]]:
    """Return `paths` and, where it is known, `schema` of each read that an RDD is made from."""
    found = []
    for one in _with_ancestors(rdd):
        kind = one.getClass().getSimpleName()
        if kind == "FileScanRDD":
            entry = {"paths": _scanned(one), "schema": one.readSchema().json()}
        elif kind in ("HadoopRDD", "NewHadoopRDD"):
            text = one.getConf().get("mapreduce.input.fileinputformat.inputdir") or ""
            entry = {"paths": text.split(",")}
        else:
            continue
        entry["paths"] = [without_secrets(path) for path in entry["paths"] if path]
        if entry["paths"] and entry not in found:
            found.append(entry)
    return found


def _with_ancestors(rdd: Any) -> Iterator[Any]:
    waiting, seen = [rdd], {rdd.id()}
    while waiting and len(seen) < MAX_RDDS:
        current = waiting.pop()
        yield current
        dependencies = current.dependencies()
        for index in range(dependencies.size()):
            parent = dependencies.apply(index).rdd()
            if parent.id() not in seen:
                seen.add(parent.id())
                waiting.append(parent)


def _scanned(rdd: Any) -> List[str]:
    """Return the distinct files of a scan's first partitions."""
    partitions = rdd.filePartitions()
    paths: Dict[str, None] = {}
    for index in range(min(partitions.size(), MAX_PARTITIONS)):
        for file in partitions.apply(index).files():
            paths[file.toPath().toString()] = None
    return list(paths)
