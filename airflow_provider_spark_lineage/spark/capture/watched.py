"""The watched methods of pyspark, and one call of such a method.

Spark's listeners receive queries only. An action or a save of an RDD is not a query, and listener events do
not have the origins of an RDD, so these methods are watched. A listener in Python would be called for each
task of Spark, and when it learns of a job, the RDD may be gone. Jobs that a library of the JVM starts by
itself are not recorded. Reads of files are watched, too, because Spark replaces several patterns by their
matches.
"""

from __future__ import annotations

import inspect
import itertools
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Dict, List, Optional, Tuple

from airflow_provider_spark_lineage.spark.capture.rdd_saves import RDD_SAVES

RDD_ACTIONS = tuple(
    """
    aggregate collect collectAsMap collectWithJobGroup count countApprox countApproxDistinct countByKey
    countByValue first fold foreach foreachPartition histogram isEmpty lookup max mean meanApprox min reduce
    reduceByKeyLocally sampleStdev sampleVariance stats stdev sum sumApprox take takeOrdered takeSample
    toLocalIterator top treeAggregate treeReduce variance
    """.split()
)
"""The methods of pyspark's `RDD` that run jobs and return the result to the program.

Sorting and numbering call some of these to sample or count rows before they return an RDD.
"""


READS = ("csv", "json", "load", "orc", "parquet", "text", "xml")
"""The methods of pyspark's `DataFrameReader` that take one path or several."""


class CallKind(Enum):
    """Kind of a watched method; `capture.calls` has its handlers."""

    RDD_JOB = "runs a job over an RDD, or saves it"
    CONTEXT_JOB = "runs a job over the RDD that is its argument"
    STATEMENT = "runs a statement of SQL"
    QUERY_TO_RDD = "returns the rows of a query as an RDD"
    CHECKPOINT = "removes the origins of an RDD"
    READ = "reads files by their paths"
    STREAM_BATCH = "passes a batch of a stream to a function of the program"


RETURN_EARLY = frozenset({"countApprox", "meanApprox", "sumApprox", "toLocalIterator"})
"""Actions that may return before their jobs have ended, so the counts of the jobs are not complete."""


@dataclass(frozen=True)
class Site:
    """One watched method of pyspark."""

    owner: Any
    name: str
    kind: CallKind

    @property
    def scope(self) -> str:
        """Name shared by methods that call each other; only the outermost call is recorded."""
        return (CallKind.RDD_JOB if self.kind is CallKind.CONTEXT_JOB else self.kind).name


_NUMBERS = itertools.count(1)


@dataclass
class WatchedCall:
    """One call of a watched method; watchers receive it before its start and after its end."""

    site: Site
    subject: Any
    args: Tuple[Any, ...]
    kwargs: Dict[str, Any]
    began: datetime
    ended: Optional[datetime] = None
    result: Any = None
    error: Optional[BaseException] = None
    number: str = field(default_factory=lambda: str(next(_NUMBERS)))
    """Unique among the calls of this process."""

    @property
    def tag(self) -> str:
        """Mark of its jobs; empty if they may continue after the call and are not counted."""
        return "" if self.site.name in RETURN_EARLY else self.number

    @property
    def rdd(self) -> Any:
        """The RDD of the call."""
        return self.arguments()["rdd"] if self.site.kind is CallKind.CONTEXT_JOB else self.subject

    @property
    def context(self) -> Any:
        """The Spark context of the call."""
        if self.site.kind is CallKind.STREAM_BATCH:
            return self.subject.session.sparkContext
        if self.site.kind is CallKind.READ:
            return self.subject._spark._sc
        if self.site.kind in (CallKind.STATEMENT, CallKind.QUERY_TO_RDD):
            return self.subject._sc
        return self.rdd.ctx

    def arguments(self) -> Dict[str, Any]:
        """Return the passed arguments, by name."""
        method = inspect.signature(getattr(self.site.owner, self.site.name))
        return dict(method.bind(self.subject, *self.args, **self.kwargs).arguments)


def sites() -> List[Site]:
    """Return the methods to watch in the installed pyspark."""
    from pyspark import RDD, SparkContext

    try:
        from pyspark.sql.classic.dataframe import DataFrame
    except ImportError:  # Spark 3.5
        from pyspark.sql import DataFrame
    from pyspark.sql import SparkSession
    from pyspark.sql.readwriter import DataFrameReader
    from pyspark.sql.utils import ForeachBatchFunction

    watched = [
        *(Site(RDD, name, CallKind.RDD_JOB) for name in (*RDD_ACTIONS, *RDD_SAVES)),
        Site(SparkContext, "runJob", CallKind.CONTEXT_JOB),
        Site(SparkSession, "sql", CallKind.STATEMENT),
        Site(DataFrame, "rdd", CallKind.QUERY_TO_RDD),
        Site(DataFrame, "toJSON", CallKind.QUERY_TO_RDD),
        *(Site(DataFrameReader, name, CallKind.READ) for name in READS),
        Site(RDD, "checkpoint", CallKind.CHECKPOINT),
        Site(RDD, "localCheckpoint", CallKind.CHECKPOINT),
        Site(ForeachBatchFunction, "call", CallKind.STREAM_BATCH),
    ]
    # Some versions of pyspark do not have all of these.
    return [site for site in watched if site.name in vars(site.owner)]
