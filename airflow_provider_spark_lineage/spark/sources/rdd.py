"""Rows of an RDD, named by the files that the RDD reads, if any.

An RDD made of a query is named by the query, whose record `lineage` finds by the RDD's id.
"""

from __future__ import annotations

import posixpath
import re
from typing import Tuple, cast

from airflow_provider_spark_lineage.spark.gaps import of_datasets
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.sources.dataset import Facts, Identity
from airflow_provider_spark_lineage.spark.sources.delta import is_log
from airflow_provider_spark_lineage.spark.sources.files import FileFacts, Files
from airflow_provider_spark_lineage.spark.sources.probe import Probe
from airflow_provider_spark_lineage.spark.sources.source import Source

PROBES = (
    # A query that reads an RDD twice has new column ids the second time: the RDD's id identifies it.
    Probe(
        node="LogicalRDD",
        accessors={"origins": "$files(rdd)", "rdd": "rdd.id", "rdd_class": "rdd.getClass.getSimpleName"},
    ),
    Probe(node="ExternalRDD", accessors={"origins": "$files(rdd)"}),
)


def origins(facts: Facts) -> Tuple[FileFacts, ...]:
    """Return the facts of each read behind an RDD: folders and schema, as for a relation."""
    return tuple(
        cast(FileFacts, {**origin, "paths": list(dict.fromkeys(map(_folder, origin["paths"])))})
        for origin in facts.get("origins") or ()
        if origin.get("paths")
    )


_PATTERN = re.compile(r"/[^/]*[*?\[{].*", re.DOTALL)
"""The part of a path from the first folder with a Hadoop pattern on."""


def _folder(path: str) -> str:
    """Return the folder of a file `part-...` of Spark or Hadoop; any other file is its own dataset."""
    path = _PATTERN.sub("", path)
    return posixpath.dirname(path) if posixpath.basename(path).startswith("part-") else path


def queries(facts: Facts) -> Tuple[int, ...]:
    """Return the ids of RDDs behind an RDD that have the rows of a query."""
    return tuple(origin["rdd"] for origin in facts.get("origins") or () if "rdd" in origin)


def is_empty(facts: Facts) -> bool:
    """Return whether an RDD has no rows, for example the empty side of a union."""
    return facts.get("rdd_class") == "EmptyRDD"


_UNKNOWN = {
    "more": of_datasets.MORE_RDDS,
    "unasked": of_datasets.UNASKED_PARTITIONS,
    "unnamed": of_datasets.UNNAMED_READ,
}


def gap_reasons(facts: Facts) -> Tuple[Reason, ...]:
    """Return the reasons for gaps, one for each kind of read behind an RDD that cannot be named."""
    reads = facts.get("origins") or ()
    return tuple(sentence() for key, sentence in _UNKNOWN.items() if any(key in origin for origin in reads))


class Rdd(Source[Facts]):
    """Files behind an RDD."""

    probes = PROBES

    def identify(self) -> Tuple[Identity, ...]:
        """Return every dataset that an RDD reads."""
        identities = (identity for origin in origins(self.facts) for identity in Files(origin).identify())
        return tuple(dict.fromkeys(identities))

    def is_internal(self) -> bool:
        """Return whether an RDD reads only the log of a Delta table, as Delta itself does."""
        return all(is_log(path) for origin in self.facts["origins"] for path in origin.get("paths") or ())
