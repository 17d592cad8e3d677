"""Lineage of one try of a task that runs a Spark command, for example `spark-submit`.

In a Python driver, the agent writes records; a driver without Python writes Spark's event log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from airflow_provider_spark_lineage.airflow.submitted.jobs import Job
from airflow_provider_spark_lineage.airflow.submitted.planned import planned_of
from airflow_provider_spark_lineage.airflow.submitted.records_folder import TIMEOUT_SECONDS, RecordsFolder
from airflow_provider_spark_lineage.spark import (
    RECORDS,
    OnExecution,
    OtherProcess,
    Run,
    RunBuilder,
    alarm_paused,
    event_log_settings,
    harmless,
    local_path,
    of_tasks,
    tell,
    without_secrets,
    write_agent,
)

REDACTION = "spark.redaction.regex"
_TRANSPORT = "spark.openlineage.transport."
_REDACTED = "(?i)secret|password|token|access[.]?key|api[.]?key|[.]headers[.]"
"""Spark's default, and the names of secrets of OpenLineage's Java agent, which it would log."""

_AT_ONCE_SECONDS = 3.0
"""Limit for reading while the task is stopped (`on_kill`): less than `task_lineage.KILL_TIMEOUT_SECONDS`."""


@dataclass(eq=False)
class Submitted(OtherProcess):
    """Adds the agent or an event log to the job of an operator's hook, and reads its driver's files.

    `settings` are `spark.lineage.*` properties for the driver; `agent` is the URI of the agent's zip, for a
    driver that cannot get a file of this machine.
    """

    task: Any
    place: RecordsFolder
    _: KW_ONLY
    job_class: type[Job]
    settings: Mapping[str, str]
    agent: str = ""
    keep: bool = False
    on_execution: OnExecution | None = None
    on_begin: OnExecution | None = None

    def __post_init__(self) -> None:
        super().__init__()
        self._job: Job | None = None
        """Set when the hook starts it; None in a try that resumes the job of an earlier try."""

        self._is_armed = self._has_written = False
        self._problems: list[str] = []
        self._hook: Any = None

    def start(self) -> None:
        """Have the operator's hook start its job with the agent or an event log."""
        # A hook that exists already is not watched.
        vars(self.task).pop("hook", None)
        if callable(getattr(self.task, "_get_hook", None)):
            self.task._get_hook = self._watching(self.task._get_hook)
            self.task._hook = None
            return
        # Leave the operator's `hook` lazy: `execute` may change the attributes that it is created from.
        owner = next((parent for parent in type(self.task).__mro__ if "hook" in vars(parent)), None)
        if owner is None:
            tell(of_tasks.NO_HOOK(operator=type(self.task).__name__), self._problems)
        else:
            self._methods.replace(owner, "hook", self._watching)

    def _watching(self, get_hook: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of the function that creates the operator's hook; it watches the hook."""

        def get_watched_hook(*task: Any) -> Any:
            hook = get_hook(*task)
            if task and task[0] is not self.task:
                return hook
            with harmless("the job's hook could not be watched", self._problems):
                if hook is not self._hook:
                    self._hook, name = hook, self.job_class.run_method
                    setattr(hook, name, self._armed(hook, getattr(hook, name)))
            return hook

        return get_watched_hook

    def _armed(self, hook: Any, run: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of the hook's method that starts the job; it arms the job first."""

        def run_armed(*args: Any, **kwargs: Any) -> Any:
            application = args[0] if args else kwargs.get("application", "")
            self._job = job = self.job_class(hook, application)
            with alarm_paused(), harmless("the job has no properties for OpenLineage's Java agent"):
                added = self.added_properties(job.properties) if self.added_properties is not None else {}
                if added and not (job.is_dry or job.obstacle):
                    job.add(added)
            with alarm_paused(), harmless("the job could not be armed for its lineage", self._problems):
                if not job.is_dry:
                    reason = self._arm(job)
                    self._is_armed = not reason
                    if reason:
                        tell(reason, self._problems)
                    else:
                        self._follow_here(job)
            return self._until_returned(run, *args, **kwargs)

        return run_armed

    def _arm(self, job: Job) -> str:
        """Add the agent or an event log to a job; return the reason if that is not possible, else empty."""
        if job.obstacle:
            return job.obstacle
        if job.is_on_cluster and not self.place.is_shared:
            return of_tasks.UNREACHABLE()
        records = {RECORDS: self.place.uri}
        if job.is_python:
            if job.is_on_cluster and job.is_on_kubernetes and not self.agent:
                return of_tasks.WITHOUT_FILES()
            agent = self.agent or str(write_agent(self.place.temporary() / "spark_lineage_agent.zip"))
            job.add({**records, **self.settings}, agent)
            return ""
        properties = job.properties
        if properties.get("spark.eventLog.enabled", "").lower() == "true":
            place = properties.get("spark.eventLog.dir", "Spark's default folder")
            return of_tasks.OWN_LOG(place=place)
        # A default of the cluster is not a wish about this job.
        if job.conf.get("spark.eventLog.enabled", "").lower() == "false":
            return of_tasks.LOG_IS_OFF()
        # Spark stops an application if the folder of its event log does not exist.
        self.place.create(job)
        folder = local_path(self.place.uri)
        log = {"spark.eventLog.dir": folder.as_uri() if folder else self.place.uri}
        if REDACTION not in properties and any(name.startswith(_TRANSPORT) for name in properties):
            log[REDACTION] = _REDACTED
        # Uncompressed: to read a compressed log, the worker would need another library.
        log |= {"spark.eventLog.compress": "false"}
        job.add({**event_log_settings(properties), **records, **log})
        return ""

    def _follow_here(self, job: Job) -> None:
        """Send events while the job runs, if an agent writes its records to a disk of this machine."""
        folder = local_path(self.place.uri)
        if self.on_execution is not None and job.is_python and folder is not None:
            self._follow(folder, self.on_execution, self.on_begin)

    def stop(self) -> None:
        """Read the driver's files, send the events of its executions, and remove the files."""
        if self._final is not None:
            return
        self._methods.restore()
        self._end_following(_AT_ONCE_SECONDS)
        final = self._read(self.on_execution)
        if not self._has_written:
            with harmless("the text of the job could not be read"):
                self.planned = planned_of(self.task, self.job_class.driver)
        self._final = final
        with harmless("the records of the job could not be removed"):
            # Spark's log has statements as they were written.
            keep = self.keep and not (self._files is not None and self._files.has_hidden_statements)
            self.place.clean(keep=keep or not self._is_over())

    def _is_over(self) -> bool:
        """Return whether the driver has ended; a driver on a cluster may outlive `spark-submit`."""
        if self._job is not None and not self._job.is_on_cluster and self._has_returned:
            return True
        return bool(self._notes) and all(note.is_complete for note in self._notes)

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Return the run so far; reading from a remote place is limited to seconds."""
        return self._final if self._final is not None else self._read(None, problems, _AT_ONCE_SECONDS)

    def progress(self) -> Run | None:
        """Return the run so far, from records that an agent has written to a disk of this machine."""
        folder = local_path(self.place.uri)
        if self._job is None or not self._is_armed or folder is None:
            return None
        return self._so_far(folder)

    def _read(
        self,
        on_execution: OnExecution | None,
        problems: Sequence[str] = (),
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> Run:
        lost = [*self._problems, *problems]
        builder = RunBuilder()
        with harmless("the driver's records or event log could not be read", lost):
            executions = self._executions(lost, timeout_seconds)
            if self._files is not None:
                passed_on = None if on_execution is None else self._unless_sent(on_execution)
                builder.read(executions, self._files.applications(), passed_on)
            return builder.run(lost)
        return RunBuilder().run(lost)

    def _executions(self, lost: list[str], timeout_seconds: float) -> Iterator[Any]:
        """Find the driver's files, and return their executions."""
        uri = self.place.uri if self._job is not None else self.place.earlier()
        if not uri and not lost:
            tell(of_tasks.NO_JOB(), lost)
        if not uri or not (self._is_armed or self._job is None):
            return iter(())
        folder = self.place.read_from(uri, self._job, lost, timeout_seconds)
        if folder is None:
            return iter(())
        files = self._open(folder, self.settings, lost)
        for loss in files.losses():
            tell(loss, lost)
        has_files = files.is_log or files.has_records
        if not has_files and not self._notes:
            is_python = self._job is None or self._job.is_python
            wrote_nothing = of_tasks.DRIVER_WROTE_NOTHING(place=without_secrets(uri))
            tell(wrote_nothing if is_python else of_tasks.NO_LOG(), lost)
        self._has_written = files.is_log or bool(self._notes)
        return self._written(files.executions(lost)) if has_files else iter(())

    def _written(self, executions: Iterator[Any]) -> Iterator[Any]:
        for execution in executions:
            # Only now: records of another release of the agent yield no execution.
            self._has_written = True
            yield execution
