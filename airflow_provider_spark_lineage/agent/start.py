"""Starts capture when the driver creates its Spark context, and ends it with the context or the program.

`spark.lineage.*` properties of the job are the settings. Nothing happens in processes that have no driver:
Python workers, programs that the driver starts.
"""

from __future__ import annotations

import atexit
import functools
import importlib.abc
import importlib.util
import sys
import threading
from typing import Any, Callable, List, Optional

from airflow_provider_spark_lineage.agent.folder import Folder, folder_of
from airflow_provider_spark_lineage.capture.guard import harmless, tell
from airflow_provider_spark_lineage.capture.jvm import compile_reader
from airflow_provider_spark_lineage.capture.sessions import DRAIN_TIMEOUT_SECONDS, MAX_PLAN_BYTES, Capture
from airflow_provider_spark_lineage.driver_note import DriverNote
from airflow_provider_spark_lineage.record import FULL, NONE, SQL_TEXTS, Record, encode_record

RECORDS = "spark.lineage.records"
"""Where the records go: a local folder, or any URI that Spark's Hadoop file systems can write."""

SQL_TEXT = "spark.lineage.sqlText"
DRAIN_TIMEOUT = "spark.lineage.drainTimeoutSeconds"
MAX_PLAN = "spark.lineage.maxPlanBytes"


def wait_for_pyspark() -> None:
    """Have the agent started when the program imports pyspark."""
    sys.meta_path.insert(0, _Importer())


class _Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the package `pyspark` as without it, and then calls `_watch_contexts`."""

    def __init__(self) -> None:
        self._loader: Any = None

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Return pyspark's spec with this object as its loader; None for all other modules."""
        if fullname != "pyspark":
            return None
        # Libraries ask for the spec alone, to see whether there is pyspark.
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and hasattr(spec.loader, "get_code"):
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: Any) -> None:
        """Have Python create the module."""

    def exec_module(self, module: Any) -> None:
        """Run pyspark's code; in Python 3.9 the loader of a zip cannot."""
        sys.meta_path.remove(self)
        module.__loader__ = module.__spec__.loader = self._loader
        exec(self._loader.get_code("pyspark"), module.__dict__)  # noqa: S102  what an import does
        with harmless("the agent could not be started"):
            _watch_contexts(module.SparkContext)


def _watch_contexts(context_class: Any) -> None:
    """Start capture after each Spark context that is created from now on."""
    create = context_class._do_init

    @functools.wraps(create)
    def create_captured(context: Any, *args: Any, **kwargs: Any) -> None:
        with harmless("the agent's code could not be compiled"):
            # Creating the context takes longer, so the job does not wait for the compiler.
            threading.Thread(target=_compile, args=(context_class,), daemon=True).start()
        create(context, *args, **kwargs)
        with harmless("the agent could not be started"):
            _begin(context)

    context_class._do_init = create_captured


def _compile(context_class: Any) -> None:
    with harmless("the agent's code could not be compiled"):
        compile_reader(context_class._gateway, context_class._jvm)


def _begin(context: Any) -> None:
    conf = context.getConf()
    place = conf.get(RECORDS, "")
    if not place:
        tell(f"nothing is captured: set {RECORDS} to the folder or URI for the records")
        return
    agent = Agent(folder_of(place, context), context, conf.get)
    atexit.register(agent.end)
    agent.begin()


class Agent(Capture):
    """Captures one Spark context, and writes its records and a note to a folder."""

    def __init__(self, folder: Folder, context: Any, conf: Callable[..., Optional[str]]) -> None:
        unreadable: List[str] = []
        super().__init__(
            self._write,
            drain_timeout_seconds=_number(conf, DRAIN_TIMEOUT, DRAIN_TIMEOUT_SECONDS, unreadable),
            max_plan_bytes=int(_number(conf, MAX_PLAN, MAX_PLAN_BYTES, unreadable)),
            sql_text=_sql_text(conf, unreadable),
        )
        self.problems.extend(unreadable)
        self._folder = folder
        self._attempt = _attempt(context)
        self._note = DriverNote(
            application_id=str(context.applicationId),
            application_name=str(context.appName),
            spark_version=str(context.version),
            tracking_url=str(context.uiWebUrl or ""),
        )
        self._writing = threading.Lock()
        self._is_open = True

    def begin(self) -> None:
        """Write the note that the driver began, and start capture."""
        # A file system that does not answer must not keep the driver from its work.
        threading.Thread(target=self._write_note, daemon=True).start()
        self.arm()

    def context_stops(self, context: Any) -> None:
        """End the capture of a context that is about to stop, and the agent with it."""
        if context is self._context:
            self.end()

    def end(self) -> None:
        """Wait for what has ended, and write the note that the capture is complete; for a limited time."""
        if not self._is_open or self._is_forked():
            return
        self._is_open = False
        with harmless("the agent could not be ended", self.problems):
            # A file system that does not answer must not keep the driver from ending.
            thread = threading.Thread(target=self._end, daemon=True)
            thread.start()
            thread.join(2 * self._drain_timeout_seconds)

    def _end(self) -> None:
        with harmless("the agent could not be ended"):
            self.disarm()
            self._note.is_complete = True
            self._write_note()

    def _write(self, record: Record) -> None:
        with harmless("a record could not be written", self.problems):
            self._folder.write(*encode_record(record, self._attempt))

    def _write_note(self) -> None:
        with self._writing, harmless("the driver's note could not be written", self.problems):
            self._note.problems = self.problems
            self._note.agent_configured = self.agent_configured
            self._folder.write(*self._note.encode(self._attempt))


def _attempt(context: Any) -> str:
    """Return which attempt at its application a driver is: YARN starts one that failed again; else empty."""
    attempt = context._jsc.sc().applicationAttemptId()
    return str(attempt.get()) if attempt.isDefined() else ""


def _number(conf: Callable[..., Optional[str]], name: str, default: float, problems: List[str]) -> float:
    text = conf(name, None)
    try:
        value = default if text is None else float(text)
        if value < 0:
            raise ValueError(text)
    except ValueError:
        tell(f"{name} = {text!r} is not a number of 0 or more; using {default:g}", problems)
        return default
    return value


def _sql_text(conf: Callable[..., Optional[str]], problems: List[str]) -> str:
    word = conf(SQL_TEXT, FULL) or FULL
    if word in SQL_TEXTS:
        return word
    tell(f"{SQL_TEXT} = {word!r} is not one of {', '.join(SQL_TEXTS)}; using {NONE}", problems)
    return NONE
