"""Adds the agent to the `spark-submit` commands in a task's script, and reads their records.

The script is changed when it is passed to the shell: the operator's attributes stay as the user wrote them.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.agent.settings import RECORDS
from airflow_provider_spark_lineage.agent.zipped import write_agent
from airflow_provider_spark_lineage.guard import alarm_paused, harmless, tell
from airflow_provider_spark_lineage.launch.application import PYTHON, SQL, Launch, LaunchedApplication, texts
from airflow_provider_spark_lineage.launch.collector import Launched
from airflow_provider_spark_lineage.launch.shell.applications import HOMES
from airflow_provider_spark_lineage.launch.shell.operators import environment_of_bash, of_script
from airflow_provider_spark_lineage.launch.shell.spark_commands import OTHER_FILES
from airflow_provider_spark_lineage.launch.shell.wrappers import OTHER_USER
from airflow_provider_spark_lineage.launch.table import launch_of
from airflow_provider_spark_lineage.runs.executions import Execution
from airflow_provider_spark_lineage.runs.pipeline import Run
from airflow_provider_spark_lineage.submitted.collector import UNREACHABLE, WITHOUT_FILES
from airflow_provider_spark_lineage.submitted.jobs import PY_FILES, Job
from airflow_provider_spark_lineage.submitted.records_folder import TIMEOUT_SECONDS, RecordsFolder

NO_PYTHON = "nothing is captured of {}: the agent needs a driver that runs Python"
NOT_IN_SCRIPT = (
    "nothing is captured of {}: its command is inside another one (`bash -c`, `docker run`), whose text is "
    "not changed"
)
IN_FILE = (
    "nothing is captured: the operator writes its command to a file, because it ends like a script's name"
)
STAYS = "nothing is captured of {}: its command is not changed, because {}"
OTHER_MACHINE = (
    "nothing is captured: the command runs on another machine; set [spark_lineage] records to a URI, and "
    "[spark_lineage] agent to the zip that `spark-lineage agent --out` writes, both for that machine"
)


class Armed(Launched):
    """Records of the applications that the command of a `BashOperator` or an `SSHOperator` starts.

    `settings` are `spark.lineage.*` properties for the drivers; `agent` is the URI of the agent's zip, for
    drivers that cannot get a file of this machine. `base`, `since` and `run_id` are used as in `Launched`,
    for places that the command names itself.
    """

    def __init__(
        self,
        task: Any,
        place: RecordsFolder,
        *,
        settings: Mapping[str, str],
        base: str,
        since: Any,
        agent: str = "",
        keep: bool = False,
        on_execution: Callable[[Execution], None] | None = None,
        run_id: str = "",
    ) -> None:
        super().__init__(launch_of(task) or Launch(), base, since, on_execution, run_id)
        self._task = task
        self._place = place
        self._settings = settings
        self._agent = agent
        self._keep = keep
        self._is_here = hasattr(task, "bash_command")
        self._job: CommandJob | None = None
        """The last application with the agent."""

        self._problems: list[str] = []

    def start(self) -> None:
        """Have the command changed when it runs: `@task.bash` builds it only then."""
        task = self._task
        if self._is_here:
            hook, run_here = task.subprocess_hook, task.subprocess_hook.run_command

            def run_command(command: list[str], *args: Any, **kwargs: Any) -> Any:
                if command[1:2] == ["-c"]:
                    command = [*command[:2], *map(self._with_agent, command[2:])]
                else:
                    tell(IN_FILE, self._problems)
                return self._until_returned(run_here, command, *args, **kwargs)

            hook.run_command = run_command
        else:
            run_elsewhere = task.run_ssh_client_command

            def run_ssh_client_command(ssh_client: Any, command: str, *args: Any, **kwargs: Any) -> Any:
                return self._until_returned(
                    run_elsewhere, ssh_client, self._with_agent(command), *args, **kwargs
                )

            task.run_ssh_client_command = run_ssh_client_command

    def _with_agent(self, script: str) -> str:
        """Return the script with the agent added; the unchanged script if that fails."""
        with alarm_paused(), harmless("the agent could not be added to the command", self._problems):
            return self._armed(script)
        return script

    def _armed(self, script: str) -> str:
        own = texts(getattr(self._task, "env" if self._is_here else "environment", None))
        known = launch_of(self._task)
        variables = environment_of_bash(self._task) if self._is_here else own
        launch = of_script(script, variables, is_here=self._is_here)
        if known is None or launch is None:
            return script
        applications, added = list[LaunchedApplication](), dict[int, str]()
        for application, other in zip(known.applications, launch.applications, strict=True):
            properties: dict[str, str] = {}
            if not application.conf.get(RECORDS):
                job = CommandJob(other, own if self._is_here else {}, is_here=self._is_here)
                reason = self._obstacle(other, job)
                if reason:
                    tell(reason, self._problems)
                else:
                    self._job = job
                    properties = {RECORDS: self._place.uri, **self._settings}
                    added.update(_added(other, job, self._zip(), properties))
            applications.append(replace(application, conf={**application.conf, **properties}))
        self._launch = replace(known, applications=tuple(applications))
        for at in sorted(added, reverse=True):
            script = f"{script[:at]}{added[at]}{script[at:]}"
        return script

    def _obstacle(self, application: LaunchedApplication, job: CommandJob) -> str:
        """Return the reason why the agent cannot be added to an application; empty if it can."""
        command = "spark-sql" if application.kind == SQL else "spark-submit"
        name = application.main or application.main_class or command
        if application.fixed:
            return STAYS.format(name, application.fixed)
        if application.kind != PYTHON:
            return NO_PYTHON.format(name)
        if application.options_at is None:
            return NOT_IN_SCRIPT.format(name)
        if application.is_other_user and not (self._place.is_shared and self._agent):
            return STAYS.format(name, OTHER_USER)
        if not self._is_here:
            return "" if self._place.is_shared and self._agent else OTHER_MACHINE
        setting = self._other_settings(application)
        if setting:
            return STAYS.format(name, OTHER_FILES.format(setting))
        if not job.is_on_cluster:
            return ""
        if not self._place.is_shared:
            return UNREACHABLE
        return WITHOUT_FILES if job.is_on_kubernetes and not self._agent else ""

    def _other_settings(self, application: LaunchedApplication) -> str:
        """Return the variable or file that may give Spark other settings than here; empty if none."""
        environment = environment_of_bash(self._task)
        for name in HOMES:
            if environment.get(name) != os.environ.get(name):
                return name
        program = application.program
        if program is None or ("/" in program and not os.path.isabs(program)):
            return "the settings of the spark-submit in the script's PATH or folder"
        sets_home = (file for file in application.sourced if file is None or _may_set_home(Path(file)))
        return next((file or "a file that the script sources" for file in sets_home), "")

    def _zip(self) -> str:
        return self._agent or str(write_agent(self._place.temporary() / "spark_lineage_agent.zip"))

    def _is_own(self, uri: str) -> bool:
        return uri == self._place.uri

    def _folder(self, uri: str, lost: list[str]) -> Path | None:
        """Return the folder of a place; this try's own may be in any file system that the job can access."""
        if not self._is_own(uri):
            return super()._folder(uri, lost)
        return self._place.read_from(uri, self._job, lost, TIMEOUT_SECONDS)

    def _read(self, lost: list[str]) -> Run:
        lost += self._problems
        return super()._read(lost)

    def stop(self) -> None:
        """Read the records, and remove the files of this try."""
        if self._final is not None:
            return
        super().stop()
        with harmless("the records of the task could not be removed"):
            self._place.clean(keep=self._keep or not self._is_over())

    def _is_over(self) -> bool:
        """Return whether all drivers have ended; a driver on a cluster may outlive its command."""
        if self._job is None or (self._has_returned and self._is_here and not self._job.is_on_cluster):
            return True
        return bool(self._notes) and all(note.is_complete for note in self._notes)


class CommandJob(Job):
    """One application of a script: where its driver runs, and how its file systems are accessed from here."""

    def __init__(
        self, application: LaunchedApplication, variables: Mapping[str, str], *, is_here: bool
    ) -> None:
        super().__init__(None, application.main)
        self._conf = application.conf
        self._program = application.program or "spark-submit"
        self._variables = variables
        self._is_here = is_here

    @property
    def conf(self) -> dict[str, str]:
        """Properties that the command sets."""
        return dict(self._conf)

    @property
    def properties(self) -> dict[str, str]:
        """All known properties; files of another machine are not read."""
        return super().properties if self._is_here else self.conf

    def add(self, conf: Mapping[str, str], python_file: str = "") -> None:
        """Do nothing: the script is changed as text."""

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the command, or one with access to the same file systems."""
        return {**os.environ, **self._variables}

    @property
    def is_on_cluster(self) -> bool:
        """Return whether the driver runs on another machine than the command."""
        return self.properties.get("spark.submit.deployMode") == "cluster"

    @property
    def is_on_kubernetes(self) -> bool:
        """Return whether the master is Kubernetes."""
        return self.properties.get("spark.master", "").startswith("k8s")

    @property
    def spark_submit(self) -> list[str]:
        """Command that starts Spark here."""
        return [self._program]


def _may_set_home(path: Path) -> bool:
    """Return whether a sourced file may set SPARK_HOME or SPARK_CONF_DIR; True if it is not a local file."""
    path = path.expanduser()
    if not (path.is_absolute() and path.is_file()):
        return True
    text = path.read_text(encoding="utf-8", errors="replace")
    return any(name in text for name in HOMES)


def _added(
    application: LaunchedApplication, job: CommandJob, agent: str, properties: Mapping[str, str]
) -> dict[int, str]:
    """Return the texts to insert into the script, by position."""
    words = [part for name, value in properties.items() for part in ("--conf", f"{name}={value}")]
    added = {}
    if application.py_files_at is not None:
        added[application.py_files_at] = f",{shlex.quote(agent)}"
    else:
        # `--py-files` replaces the property, so the property's files are repeated in the option.
        files = job.properties.get(PY_FILES)
        words = ["--py-files", f"{files},{agent}" if files else agent, *words]
    return {**added, application.options_at or 0: f" {shlex.join(words)}"}
