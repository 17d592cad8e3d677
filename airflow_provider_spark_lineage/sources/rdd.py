"""Rows that come out of an RDD: named by the files that the RDD reads, if it reads any.

An RDD that a query became is named by the query, whose record `lineage` finds by the RDD's id.
"""

from __future__ import annotations

import posixpath
import re
from typing import List, Tuple

from airflow_provider_spark_lineage.sources import files
from airflow_provider_spark_lineage.sources.dataset import Facts, Identity, Probe, Source

PROBES = (
    # A query that reads the same RDD twice gives its columns other ids the second time.
    Probe(
        node="LogicalRDD",
        accessors={"origins": "$files(rdd)", "rdd": "rdd.id", "rdd_class": "rdd.getClass.getSimpleName"},
    ),
    Probe(node="ExternalRDD", accessors={"origins": "$files(rdd)"}),
)


def origins(facts: Facts) -> Tuple[Facts, ...]:
    """Return the facts of each read behind an RDD, as those of a relation: its folders and its schema."""
    found: List[Facts] = []
    for origin in facts.get("origins") or ():
        if not origin.get("paths"):
            continue
        # Spark and Hadoop name what they write; any other file was named by a person, and keeps its name.
        folders = [
            posixpath.dirname(path) if posixpath.basename(path).startswith("part-") else path
            for path in map(_above_pattern, origin["paths"])
        ]
        found.append({**origin, "paths": list(dict.fromkeys(folders))})
    return tuple(found)


_PATTERN = re.compile(r"/[^/]*[*?\[{].*", re.DOTALL)


def _above_pattern(path: str) -> str:
    """Return the directory that all files have in common which a pattern of Hadoop matches."""
    return _PATTERN.sub("", path)


def queries(facts: Facts) -> Tuple[int, ...]:
    """Return the ids of the RDDs behind an RDD whose rows are those of a query."""
    return tuple(origin["rdd"] for origin in facts.get("origins") or () if "rdd" in origin)


def is_empty(facts: Facts) -> bool:
    """Say whether an RDD is made without rows, as the side of a union that happens to have none."""
    return facts.get("rdd_class") == "EmptyRDD"


_UNKNOWN = {
    "more": "an RDD is made from so many others that not all that it reads was recorded",
    "unasked": "an RDD reads so many partitions of files that only some were asked which files they have",
    "unnamed": "an RDD reads by a Hadoop input format that knows no files: what it reads is not recorded",
}


def unknown(facts: Facts) -> Tuple[str, ...]:
    """Say what an RDD reads and no origin names, a sentence each."""
    found = facts.get("origins") or ()
    return tuple(reason for key, reason in _UNKNOWN.items() if any(key in origin for origin in found))


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name every dataset that an RDD reads."""
    named = (identity for origin in origins(facts) for identity in files.identify(origin))
    return tuple(dict.fromkeys(named))


SOURCE = Source(name="rdd", probes=PROBES, identify=identify)
