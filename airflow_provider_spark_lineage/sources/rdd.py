"""Rows that come out of an RDD: named by the files that the RDD reads, if it reads any.

An RDD that a query became is named by the query, whose record `lineage` finds by the RDD's id.
"""

from __future__ import annotations

import posixpath
import re
from typing import List, Tuple, cast

from airflow_provider_spark_lineage.sources import files
from airflow_provider_spark_lineage.sources.dataset import Facts, Identity, Probe, Source

PROBES = (
    # A query that reads an RDD twice has new column ids the second time: the RDD's id identifies it.
    Probe(
        node="LogicalRDD",
        accessors={"origins": "$files(rdd)", "rdd": "rdd.id", "rdd_class": "rdd.getClass.getSimpleName"},
    ),
    Probe(node="ExternalRDD", accessors={"origins": "$files(rdd)"}),
)


def origins(facts: Facts) -> Tuple[files.FileFacts, ...]:
    """Return the facts of each read behind an RDD, as those of a relation: its folders and its schema."""
    reads: List[files.FileFacts] = []
    for origin in facts.get("origins") or ():
        if not origin.get("paths"):
            continue
        # `part-...` is a file of a folder that Spark or Hadoop wrote; any other file is a dataset by itself.
        folders = [
            posixpath.dirname(path) if posixpath.basename(path).startswith("part-") else path
            for path in map(_above_pattern, origin["paths"])
        ]
        reads.append(cast(files.FileFacts, {**origin, "paths": list(dict.fromkeys(folders))}))
    return tuple(reads)


_PATTERN = re.compile(r"/[^/]*[*?\[{].*", re.DOTALL)


def _above_pattern(path: str) -> str:
    """Return the part of a path above the first folder that is a pattern of Hadoop."""
    return _PATTERN.sub("", path)


def queries(facts: Facts) -> Tuple[int, ...]:
    """Return the ids of the RDDs behind an RDD whose rows are those of a query."""
    return tuple(origin["rdd"] for origin in facts.get("origins") or () if "rdd" in origin)


def is_empty(facts: Facts) -> bool:
    """Return whether an RDD has no rows, as the empty side of a union."""
    return facts.get("rdd_class") == "EmptyRDD"


_UNKNOWN = {
    "more": "an RDD is made from so many others that not all that it reads was recorded",
    "unasked": "an RDD reads so many partitions of files that only some were asked which files they have",
    "unnamed": "an RDD reads by a Hadoop input format that knows no files: what it reads is not recorded",
}


def gap_reasons(facts: Facts) -> Tuple[str, ...]:
    """Return the reasons for gaps: one for each kind of read behind an RDD that has no name."""
    reads = facts.get("origins") or ()
    return tuple(reason for key, reason in _UNKNOWN.items() if any(key in origin for origin in reads))


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Return every dataset that an RDD reads."""
    identities = (identity for origin in origins(facts) for identity in files.identify(origin))
    return tuple(dict.fromkeys(identities))


SOURCE = Source(name="rdd", probes=PROBES, identify=identify)
