"""What a Python program asks of Spark that no query listener is told of, and the record of each such call.

An RDD's actions and saves are jobs without a query. They are known where they are called; what they read
is asked of the RDD itself.
"""

from __future__ import annotations

import inspect
import itertools
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from airflow_provider_spark_lineage.capture.application import Application, fill, new_record
from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.capture.jvm import CALL, MOST_LETTERS_OF_MESSAGE
from airflow_provider_spark_lineage.capture.rdd import PICKLED, TEXT
from airflow_provider_spark_lineage.capture.streams import BATCH, behind
from airflow_provider_spark_lineage.credentials import without_secrets
from airflow_provider_spark_lineage.plan_json import simple_name
from airflow_provider_spark_lineage.record import FULL, Record

RDD_ACTIONS = (
    "aggregate",
    "collect",
    "collectAsMap",
    "collectWithJobGroup",
    "count",
    "countApprox",
    "countApproxDistinct",
    "countByKey",
    "countByValue",
    "first",
    "fold",
    "foreach",
    "foreachPartition",
    "histogram",
    "isEmpty",
    "lookup",
    "max",
    "mean",
    "meanApprox",
    "min",
    "reduce",
    "reduceByKeyLocally",
    "sampleStdev",
    "sampleVariance",
    "stats",
    "stdev",
    "sum",
    "sumApprox",
    "take",
    "takeOrdered",
    "takeSample",
    "toLocalIterator",
    "top",
    "treeAggregate",
    "treeReduce",
    "variance",
)
"""The methods of pyspark's `RDD` that run jobs and give the result to the program.

Sorting and numbering look at the data by some of these before they give another RDD.
"""

RDD_SAVES: Dict[str, Callable[[Mapping[str, Any]], Dict[str, Any]]] = {
    "saveAsTextFile": lambda given: {"paths": given["path"], "format": "text", "schema": TEXT},
    "saveAsPickleFile": lambda given: {"paths": given["path"], "format": PICKLED},
    "saveAsSequenceFile": lambda given: {"paths": given["path"], "format": "sequence"},
    "saveAsHadoopFile": lambda given: {"paths": given["path"], **_format(given["outputFormatClass"])},
    "saveAsNewAPIHadoopFile": lambda given: {"paths": given["path"], **_format(given["outputFormatClass"])},
    "saveAsHadoopDataset": lambda given: _of_conf(given["conf"]),
    "saveAsNewAPIHadoopDataset": lambda given: _of_conf(given["conf"]),
}
"""The methods of pyspark's `RDD` that write, each with the facts of its target by its arguments."""


@dataclass(frozen=True)
class Site:
    """One method of pyspark that is watched."""

    owner: Any
    name: str
    kind: str
    """`rdd`: a job over an RDD; `run`: the same, of the context; `statement`: a statement of SQL;
    `hand on`: a query becomes an RDD; `cut`: an RDD is about to forget what it was made from; `batch`: a
    batch of a stream is given to a function of the program."""

    @property
    def inside(self) -> str:
        """Return what a call like this is made of: such calls inside of it are not told."""
        return "rdd" if self.kind == "run" else self.kind


_NUMBERS = itertools.count(1)


@dataclass
class Call:
    """One call of a watched method, told twice: before it began and when it had ended."""

    site: Site
    subject: Any
    args: Tuple[Any, ...]
    kwargs: Dict[str, Any]
    began: datetime
    ended: Optional[datetime] = None
    result: Any = None
    error: Optional[BaseException] = None
    number: str = field(default_factory=lambda: str(next(_NUMBERS)))
    """Tells it from all other calls of this process."""

    @property
    def rdd(self) -> Any:
        """Return the RDD that the call is about."""
        return self.argument("rdd") if self.site.kind == "run" else self.subject

    @property
    def context(self) -> Any:
        """Return the Spark context that the call runs in."""
        if self.site.kind == "batch":
            return self.subject.session.sparkContext
        if self.site.kind == "statement":
            return self.subject._sc
        return self.subject._sc if self.site.kind == "hand on" else self.rdd.ctx

    def argument(self, name: str) -> Any:
        """Return an argument by its name, however it was passed."""
        return self.arguments()[name]

    def arguments(self) -> Dict[str, Any]:
        """Return all arguments by name; those that were not given are not there."""
        method = inspect.signature(getattr(self.site.owner, self.site.name))
        return dict(method.bind(self.subject, *self.args, **self.kwargs).arguments)


def sites() -> List[Site]:
    """Return what is watched of the pyspark that is installed."""
    from pyspark import RDD, SparkContext

    try:
        from pyspark.sql.classic.dataframe import DataFrame
    except ImportError:  # Spark 3.5
        from pyspark.sql import DataFrame
    from pyspark.sql import SparkSession
    from pyspark.sql.utils import ForeachBatchFunction

    found = [
        *(Site(RDD, name, "rdd") for name in (*RDD_ACTIONS, *RDD_SAVES)),
        Site(SparkContext, "runJob", "run"),
        Site(SparkSession, "sql", "statement"),
        Site(DataFrame, "rdd", "hand on"),
        Site(DataFrame, "toJSON", "hand on"),
        Site(RDD, "checkpoint", "cut"),
        Site(RDD, "localCheckpoint", "cut"),
        Site(ForeachBatchFunction, "call", "batch"),
    ]
    # What a version of pyspark does not have, nobody calls.
    return [site for site in found if site.name in vars(site.owner)]


def record_of(call: Call, application: Application) -> Optional[Record]:
    """Return the record of a call, None where there is nothing to record yet, or nothing at all."""
    note = (_BEFORE if call.ended is None else _AFTER).get(call.site.kind)
    return note(call, application) if note else None


_FORESEEN = re.compile(
    r"""\b(?: drop\s+(?:table|view|database|schema|namespace) | if\s+not\s+exists
    | or\s+replace\s+(?:table|view) | create\b.*\blocation )\b""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""Statements that are asked about before they run."""


def _foresee(call: Call, application: Application) -> None:
    text = call.args[0] if call.args else call.kwargs.get("sqlQuery")
    if isinstance(text, str) and _FORESEEN.search(text):
        application.reader.foresee(call.subject._jsparkSession, text)


def _remember(call: Call, application: Application) -> None:
    application.rdds.remember(_live(call.rdd))


def _batch(call: Call, application: Application) -> Optional[Record]:
    """Record where the rows come from that `foreachBatch` is given as an RDD, before they are used."""
    rdd_id = int(call.argument("jdf").queryExecution().analyzed().rdd().id())
    query = behind(call.subject.session._jsparkSession, rdd_id)
    if query is None:
        return None
    record = new_record(application, "foreachBatch", call.began, call.began, failed=False)
    _read(record, application, query.sparkSession(), query)
    # What is below the sink that calls the function.
    record.plan = record.plan[1:]
    record.facts = [fact for fact in record.facts if fact["node"] != BATCH]
    record.rdd_id = rdd_id
    application.rdds.hand_on(rdd_id)
    return record


def _read(record: Record, application: Application, session: Any, query: Any) -> None:
    """Write the plan of a query down, and where its data lie."""
    with harmless("the plan could not be read", record.problems):
        fill(record, application.reader.read(session, query, application.max_plan_bytes))


def _handed_on(call: Call, application: Application) -> Optional[Record]:
    """Record the query whose rows an RDD holds from now on; nothing has run."""
    from pyspark import RDD

    if not isinstance(call.result, RDD):
        return None
    rdd_id = int(_live(call.result).id())
    if application.rdds.is_handed_on(rdd_id):
        # Spark 3.5 computes the property `rdd` anew each time, and gives the same RDD.
        return None
    record = _begun(call, application)
    frame = call.subject._jdf
    _read(record, application, frame.sparkSession(), frame.queryExecution())
    record.rdd_id = rdd_id
    application.rdds.hand_on(rdd_id)
    return record


_LATER = frozenset({"countApprox", "meanApprox", "sumApprox", "toLocalIterator"})
"""Actions whose jobs may go on after they have returned: what these count is not known when they end."""


def _announce(call: Call, application: Application) -> None:
    """Tell Spark which call the jobs of this thread belong to."""
    if call.site.name not in _LATER:
        call.context.setLocalProperty(CALL, call.number)


def _job(call: Call, application: Application) -> Record:
    """Write down what a job over an RDD read and wrote, as a small plan and its facts."""
    call.context.setLocalProperty(CALL, None)
    record = _begun(call, application)
    record.plan_kind = "rdd"
    scan: Dict[str, Any] = {"class": "RDD", "num-children": 0, "output": []}
    record.plan = [scan]
    with harmless("what an RDD is made from could not be read", record.problems):
        origins = application.rdds.origins(_live(call.rdd))
        record.facts.append({"node": "RDD", "expr_id": -1, "relation": "", "probed": {"origins": origins}})
    target_of = RDD_SAVES.get(call.site.name)
    if target_of is None:
        return record
    record.plan.insert(0, {"class": "SavedRDD", "num-children": 1})
    if call.error is None:
        with harmless("where an RDD was saved could not be read", record.problems):
            target = {**target_of(call.arguments()), "mode": "errorifexists"}
            if "schema" in target:
                scan["output"] = [[_VALUE]]
            if "paths" in target:
                target["paths"] = _qualified(call.context, target["paths"])
            record.facts.append({"node": "SavedRDD", "expr_id": None, "relation": "", "probed": target})
    return record


def _begun(call: Call, application: Application) -> Record:
    """Return the record of a call that has ended, with its error and nothing yet of what it did."""
    ended = call.ended or call.began
    record = new_record(application, call.site.name, call.began, ended, failed=call.error is not None)
    if call.error is not None:
        record.error = _error(call.error, application)
    return record


_BEFORE: Dict[str, Callable[[Call, Application], Optional[Record]]] = {
    "rdd": _announce,
    "run": _announce,
    "cut": _remember,
    "batch": _batch,
    "statement": _foresee,
}
_AFTER: Dict[str, Callable[[Call, Application], Optional[Record]]] = {
    "rdd": _job,
    "run": _job,
    "hand on": _handed_on,
}
"""Kind of a call -> what is noted of it, before it begins and when it has ended."""

_VALUE = {
    "class": "org.apache.spark.sql.catalyst.expressions.AttributeReference",
    "num-children": 0,
    "name": "value",
    "dataType": "string",
    "exprId": {"id": -1},
}
"""The one column of an RDD that is saved as text, in the words of Spark's plan JSON."""


def _live(rdd: Any) -> Any:
    """Return the JVM's RDD behind one of pyspark's.

    One that only adds Python code has none until it runs: the one before it reads the same.
    """
    return (getattr(rdd, "_prev_jrdd", None) or rdd._jrdd).rdd()


def _qualified(context: Any, path: str) -> str:
    """Return a path with scheme and authority, as Hadoop completes it."""
    given = context._jvm.org.apache.hadoop.fs.Path(path)
    system = given.getFileSystem(context._jsc.hadoopConfiguration())
    return without_secrets(str(system.makeQualified(given).toString()))


def _format(output_format: str) -> Dict[str, Any]:
    """Return the name of a Hadoop output format, without what all of them are called."""
    name = simple_name(output_format)
    for ending in ("OutputFormat", "File"):
        name = name[: -len(ending)] if name.endswith(ending) else name
    return {"format": name.lower()}


def _of_conf(conf: Mapping[str, str]) -> Dict[str, Any]:
    """Return the facts of a target that a Hadoop configuration describes, which may be no file."""
    output_format = next((conf[key] for key in _OUTPUT_FORMATS if key in conf), "")
    path = next((conf[key] for key in _OUTPUT_FOLDERS if key in conf), "")
    return {"paths": path, **_format(output_format)} if path else {"relation_class": output_format}


_OUTPUT_FORMATS = ("mapreduce.job.outputformat.class", "mapred.output.format.class")
_OUTPUT_FOLDERS = ("mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir")


def _error(error: BaseException, application: Application) -> Dict[str, str]:
    """Return class and message of what a call raised: of the JVM's exception where there is one."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is not None:
        with harmless("the error could not be read"):
            return application.reader.error(java)
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    message = without_secrets(str(error)) if application.sql_text == FULL else ""
    return {"class": name, "message": message[:MOST_LETTERS_OF_MESSAGE]}
