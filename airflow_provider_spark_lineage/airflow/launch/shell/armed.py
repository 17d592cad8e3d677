"""Adds the agent to the `spark-submit` commands of a task's shell, and reads their records.

On this machine, a shim adds it to each command when it runs (`shim`). The command of another machine gets a
function in front of it. The operator's attributes stay as the user wrote them.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import (
    PYTHON,
    SQL,
    Launch,
    LaunchedApplication,
    texts,
)
from airflow_provider_spark_lineage.airflow.launch.collector import Launched
from airflow_provider_spark_lineage.airflow.launch.shell import add_agent
from airflow_provider_spark_lineage.airflow.launch.shell.applications import of_words
from airflow_provider_spark_lineage.airflow.launch.shell.mention import mentions_spark
from airflow_provider_spark_lineage.airflow.launch.shell.prelude import with_function
from airflow_provider_spark_lineage.airflow.launch.shell.shim import (
    NAMES,
    Shims,
    has_program,
    is_running,
    obstacle,
    remove_ended,
)
from airflow_provider_spark_lineage.airflow.launch.table import launch_of
from airflow_provider_spark_lineage.airflow.submitted.jobs import Job
from airflow_provider_spark_lineage.airflow.submitted.records_folder import TIMEOUT_SECONDS, RecordsFolder
from airflow_provider_spark_lineage.spark import (
    RECORDS,
    REMOVED,
    OnExecution,
    Run,
    alarm_paused,
    harmless,
    is_secret,
    local_path,
    of_tasks,
    tell,
    without_secrets,
)

NOT_ADDED = "the agent could not be added to the command"
LOOKED_UP = "the script looks up the path of `spark-submit`, which must not change"
SHELL_OPTIONS = "the script exports options of the shell, which must not change"
REASONS = {
    add_agent.NO_PYTHON: of_tasks.NO_PYTHON,
    add_agent.UNREACHABLE: of_tasks.UNREACHABLE,
    add_agent.WITHOUT_FILES: of_tasks.WITHOUT_FILES,
    add_agent.UNREADABLE: of_tasks.UNREAD_PROPERTIES,
    add_agent.WRAPPED: of_tasks.WRAPPED,
}

# No pattern here takes more than linear time: a script may have a value of many thousand letters.
_COMMAND = r"spark3?-submit\b"
_LOOKUP = re.compile(
    rf"\b(?:which|whereis|command\s+-[vV]|type|hash\s+-t)[\s(][^;&|\n]{{0,99}}?(?:{_COMMAND}|\$)"
    r"(?!\S*\s*&?>\s*/dev/null)|\bhash\s*(?:$|[;&|\n])|\$\{PATH[/:%#]"
)
"""The path of a command, which would be the shim's; `>/dev/null` only tests that the command exists."""

_TESTED = re.compile(rf"\b(?:which|command\s+-[vV]|type|hash)\s[^;&|\n]{{0,99}}{_COMMAND}")
_PATH = re.compile(rf"(?<![\w.~$/+-])/[\w./+-]*/{_COMMAND}")
_NAMES = re.compile(rf"(?<![\w./-]){_COMMAND}(?![\w./-])")
_BY_VARIABLE = re.compile(rf"\$\{{?(\w+)\}}?[\"']?((?:/[\w.+-]+)*/{_COMMAND})")
_ASSIGNED = re.compile(r"(?<![\w$])(\w+)=[\"']?(/[\w./+-]+)")
_SETS_PATH = re.compile(r"(?<![\w$])PATH=")
_OWN_PATH = re.compile(r"(?<![\w$])PATH=|(?:^|[\s;&|(])(?:\.|source|module|conda|bash\s+-(?=\w*l)\w+)\s")
_UNSEEN = re.compile(rf"/{_COMMAND}|\b(?:sudo|doas|su|runuser|gosu|su-exec|env\s+-i)\s|{_OWN_PATH.pattern}")
"""What may keep a command from the shim."""

_MAIN = re.compile(r"(?<![^\s/\"'=;|&()<>])[^\s/\"'=;|&()<>]+\.py\b")
_WORD = re.compile(r"[^\s\"'=;|&()<>`]+")
_MAX_SCRIPT_BYTES = 100_000
_MOST_FILES, _MOST_FOLDERS, _MOST_WORDS = 50, 10, 2000
ENDING_SECONDS = 2.0
"""A process that has closed its output needs a moment to end."""

_BACKGROUND = re.compile(
    r"(?<![&<>|\\])&(?![&>])|\bcoproc\b|\btrap\b.{0,999}\b(?:DEBUG|RETURN)\b|\bset\s+-\w*T|BASH_COMMAND",
    re.DOTALL,
)
"""Where a function is not like its command: `$!`, signals and traps."""

_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_SUBSTITUTION = re.compile(r"\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|`[^`]*`|\bread\s[^\n;]*")
_CALLED = re.compile(r"(?:\$\(|`|[|;&])\s*([\w./-]+)")
_PLAIN = frozenset(
    {"basename", "date", "dirname", "echo", "expr", "hostname", "id", "printf", "pwd", "seq", "whoami"}
).union(NAMES)
"""Commands whose output has no secret that is not in the text; `vault`, `aws ssm` or `cat` may give one."""

_INPUT = re.compile(
    r"(?<!<)<(?![<(]|\s*/dev/null)|\b(?:read|mapfile|readarray|xargs|source|eval)\s|\.sh\b|(?:^|[\s;&|(])(?:"
    r"\.\s|\.{1,2}/|(?:\S*/)?(?:ba|da|k|z)?sh\s(?!\s*-\w*c\s))"
)
"""What may give words that are not in the text: input, and other scripts, which may call commands, too."""

_CHANGED_VARIABLE = re.compile(r"\$\{[#!]?(\w+)[^\w}]")


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
        on_execution: OnExecution | None = None,
        run_id: str = "",
    ) -> None:
        super().__init__(launch_of(task) or Launch(), base, since, on_execution, run_id)
        self._task = task
        self._place = place
        self._properties = {RECORDS: place.uri, **settings}
        self._agent = agent
        self._keep = keep
        self._is_here = hasattr(task, "bash_command")
        self._shims: Shims | None = None
        self._job: CommandJob | None = None
        """The last application with the agent."""

        self._is_running = False
        """A command still runs in the background."""

        self._problems: list[str] = []

    def start(self) -> None:
        """Have the agent added when the command runs: `@task.bash` builds the command only then."""
        task = self._task
        if self._is_here:
            hook, run_here = task.subprocess_hook, task.subprocess_hook.run_command

            def run_command(command: list[str], env: Any = None, *args: Any, **kwargs: Any) -> Any:
                with alarm_paused(), harmless(NOT_ADDED, self._problems):
                    env = self._environment(os.environ if env is None else env, kwargs.get("cwd"))
                return self._until_returned(run_here, command, env, *args, **kwargs)

            hook.run_command = run_command
        else:
            run_elsewhere = task.run_ssh_client_command

            def run_ssh_client_command(ssh_client: Any, command: str, *args: Any, **kwargs: Any) -> Any:
                with alarm_paused(), harmless(NOT_ADDED, self._problems):
                    command = self._with_function(command)
                return self._until_returned(run_elsewhere, ssh_client, command, *args, **kwargs)

            task.run_ssh_client_command = run_ssh_client_command

    def _environment(self, environment: Mapping[str, str], directory: str | None) -> Mapping[str, str]:
        """Return the environment with the shims; the unchanged environment if they cannot be used."""
        script = self._task.bash_command
        # A command that the text does not show may be called, too, for example by `find -exec`.
        self._launch = launch_of(self._task) or Launch()
        if not mentions_spark(script):
            return environment
        remove_ended()
        reason = obstacle(environment)
        if re.search(r"\b(?:SHELL|BASH)OPTS\b", script):
            reason = SHELL_OPTIONS
        others = [*_scripts_in(script, environment, [directory or ""])]
        if any(map(_LOOKUP.search, [script, *others])):
            reason = LOOKED_UP
        if reason:
            tell(of_tasks.NO_SHIM(why=reason), self._problems)
            return environment
        # A function is another process than its command: `$!` and signals would differ.
        runs_in_background = any(
            _BACKGROUND.search(text) for text in [script, *filter(mentions_spark, others)]
        )
        is_unsafe = runs_in_background or "BASH_ENV" in environment
        # bash has no functions whose names have blanks or quotes.
        paths = {
            path
            for path in (*_PATH.findall(script), *_by_variable(script, environment, others))
            if re.fullmatch(r"/[\w./+-]+", path) and has_program(path, environment) and not is_unsafe
        }
        # A `PATH` of the script's own, or of a file that it sources, may leave out the shims. bash finds a
        # function in any case, also where one of them tests whether there is a command.
        is_unsafe_name = is_unsafe or any(map(_TESTED.search, [script, *others]))
        sets_path = any(map(_SETS_PATH.search, [script, *others]))
        names = [
            name
            for name in NAMES
            if name in script
            and not is_unsafe_name
            and (sets_path or ("PATH" not in environment and has_program(name, environment)))
        ]
        is_temporary = not (self._place.is_shared or self._keep)
        self._shims = Shims(self._settings(script), local_path(self._place.uri) if is_temporary else None)
        return self._shims.environment(environment, sorted(paths), names)

    def _settings(self, script: str) -> dict[str, Any]:
        """Return what `add_agent` needs; no text of the script, which may have secrets."""
        substitutions = "\n".join(_SUBSTITUTION.findall(script))
        others = {os.path.basename(name) for name in _CALLED.findall(substitutions)} - _PLAIN
        has_unknown = any("$" in application.main for application in self._launch.applications)
        return {
            "properties": self._properties,
            "agent": self._agent,
            "is_agent_remote": bool(self._agent),
            "is_shared": self._place.is_shared,
            "secret_names": sorted({name for name in _VARIABLE.findall(script) if is_secret(name)}),
            "has_secrets": bool(others)
            or _INPUT.search(script) is not None
            or any(map(is_secret, re.findall(r"\w+", substitutions)))
            or any(map(is_secret, _CHANGED_VARIABLE.findall(script))),
            "mains": None if has_unknown else sorted({*_MAIN.findall(script)}),
        }

    def _with_function(self, script: str) -> str:
        """Return the command of another machine with a function that adds the agent."""
        launch = launch_of(self._task)
        if launch is None:
            return script
        applications = list[LaunchedApplication]()
        for application in launch.applications:
            properties: dict[str, str] = {}
            if not application.conf.get(RECORDS):
                reason = self._obstacle_there(application, script)
                if reason:
                    tell(reason, self._problems)
                else:
                    properties = self._properties
                    self._job = CommandJob(application, "spark-submit", {}, is_here=False)
            applications.append(replace(application, conf={**application.conf, **properties}))
        self._launch = replace(launch, applications=tuple(applications))
        if self._job is None:
            return script
        names = {*_NAMES.findall(script), *_PATH.findall(script)}
        return with_function(script, sorted(names), self._agent, self._properties)

    def _obstacle_there(self, application: LaunchedApplication, script: str) -> str:
        if application.kind != PYTHON:
            return of_tasks.NO_PYTHON(application=_name(application))
        if not (self._place.is_shared and self._agent):
            return of_tasks.COMMAND_ELSEWHERE()
        if _LOOKUP.search(script):
            return of_tasks.NO_SHIM(why=LOOKED_UP)
        return of_tasks.IN_BACKGROUND_THERE() if _BACKGROUND.search(script) else ""

    def stop(self) -> None:
        """Read the calls of the shims and the records, and remove the files of this try."""
        if self._final is not None:
            return
        with harmless("the Spark commands that the task ran are unknown", self._problems):
            if self._shims is not None:
                self._take(self._shims.end())
        super().stop()
        with harmless("the records of the task could not be removed"):
            self._place.clean(keep=self._keep or not self._is_over())
        if self._shims is not None and not self._is_running:
            self._shims.remove()

    def _take(self, calls: list[dict[str, Any]]) -> None:
        """Replace the applications of the script's text by the ones that were called."""
        statements = [each for each in self._launch.applications if each.kind == SQL]
        known = [each for each in self._launch.applications if each.kind != SQL]
        for each in statements:
            tell(of_tasks.NO_PYTHON(application=_name(each)), self._problems)
        if not calls:
            if known:
                tell(of_tasks.NOT_CALLED(), self._problems)
            return
        applications = list[LaunchedApplication]()
        end = time.monotonic() + (ENDING_SECONDS if self._has_returned else 0)
        for call in calls:
            application = _called(call, known)
            if call["reason"]:
                tell(REASONS[call["reason"]](application=_name(application)), self._problems)
            if call["is_armed"]:
                variables = texts(self._task.env)
                application = replace(application, conf={**application.conf, **self._properties})
                self._job = CommandJob(application, call["program"], variables)
                self._job.is_on_cluster = call["is_on_cluster"]
                if is_running(call["process"], end - time.monotonic()):
                    self._is_running = True
                    if self._has_returned:
                        name, place = _name(application), self._place.uri
                        tell(of_tasks.IN_BACKGROUND(application=name, place=place), self._problems)
            applications.append(application)
        called = {application.main for application in applications}
        hides = _UNSEEN.search(self._task.bash_command) is not None
        for application in known:
            if application.is_elsewhere:
                tell(of_tasks.RUNS_ELSEWHERE(application=_name(application)), self._problems)
                applications.append(application)
            elif hides and not ("$" in application.main or application.main in called):
                tell(of_tasks.NOT_SEEN(application=_name(application)), self._problems)
        self._launch = replace(self._launch, applications=(*applications, *statements), problems=())

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

    def _is_over(self) -> bool:
        """Return whether all drivers have ended; a driver on a cluster may outlive its command."""
        if self._is_running:
            return False
        if self._job is None or (self._has_returned and self._is_here and not self._job.is_on_cluster):
            return True
        return bool(self._notes) and all(note.is_complete for note in self._notes)


class CommandJob(Job):
    """One application of a command: where its driver runs, and how its file systems are accessed."""

    is_on_cluster = False
    """The driver runs on another machine than the command."""

    is_on_kubernetes = False
    """Not used: only hooks have variables of Kubernetes' drivers."""

    def __init__(
        self,
        application: LaunchedApplication,
        program: str,
        variables: Mapping[str, str],
        *,
        is_here: bool = True,
    ) -> None:
        super().__init__(None, application.main)
        self._conf = dict(application.conf)
        self._program = program
        self._variables = variables
        self._is_here = is_here

    @property
    def conf(self) -> dict[str, str]:
        """Properties that the command sets."""
        return self._conf

    @property
    def properties(self) -> dict[str, str]:
        """All known properties; files of another machine are not read."""
        return super().properties if self._is_here else self.conf

    def add(self, conf: Mapping[str, str], python_file: str = "") -> None:
        """Do nothing: the agent is added elsewhere."""

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the command, or one with access to the same file systems."""
        return {**os.environ, **self._variables}

    @property
    def spark_submit(self) -> list[str]:
        """Command that starts Spark here."""
        return [self._program]


def _called(call: Mapping[str, Any], known: Iterable[LaunchedApplication]) -> LaunchedApplication:
    """Return the application of a call, with the values of the script's text in place of masked ones."""
    [application] = of_words(["spark-submit", *call["words"]])
    conf = dict(application.conf)
    for each in known:
        if each.main == application.main and each.kind == application.kind:
            own = {name: value for name, value in each.conf.items() if REMOVED in conf.get(name, "")}
            conf.update(own)
            application = replace(application, variables=each.variables)
    shown = tuple(word or REMOVED for word in application.arguments)
    return replace(
        application,
        conf=conf,
        arguments=tuple(None if REMOVED in word else word for word in shown),
        shown=shown,
        directory=call["directory"],
        is_here=True,
    )


def _name(application: LaunchedApplication) -> str:
    command = "spark-sql" if application.kind == SQL else "spark-submit"
    return without_secrets(application.main or application.main_class or command)


def _by_variable(script: str, environment: Mapping[str, str], others: Iterable[str]) -> Iterator[str]:
    """Yield the paths of commands whose folder is in a variable: each that a name may have."""
    assigned = [pair for text in (script, *others) for pair in _ASSIGNED.findall(text)]
    for name, rest in _BY_VARIABLE.findall(script):
        for other, value in (*environment.items(), *assigned):
            if other == name:
                yield f"{value}{rest}"


def _scripts_in(
    script: str, environment: Mapping[str, str], folders: Iterable[str], seen: set[str] | None = None
) -> Iterator[str]:
    """Yield the texts of files that a script names, and of files that these name: programs may run them."""
    seen = set() if seen is None else seen
    home = environment.get("HOME", "~")
    words = [*dict.fromkeys(_WORD.findall(script))][:_MOST_WORDS]
    words = [_VARIABLE.sub(lambda match: environment.get(match[1], ""), word) for word in words]
    paths = [re.sub(r"^~(?=/|$)", lambda _: home, word) for word in words]
    # Also the folders to which it may change.
    below = (os.path.join(folder, path) for folder in folders for path in paths)
    folders = [*dict.fromkeys([*folders, *filter(os.path.isdir, below)])][:_MOST_FOLDERS]
    for file in (os.path.join(folder, path) for path in paths for folder in folders):
        with contextlib.suppress(OSError, ValueError):
            is_script = os.path.isfile(file) and os.path.getsize(file) < _MAX_SCRIPT_BYTES
            if is_script and not file.endswith(".py") and file not in seen and len(seen) < _MOST_FILES:
                seen.add(file)
                text = Path(file).read_text(encoding="utf-8", errors="replace")
                yield text
                if "\0" not in text:
                    yield from _scripts_in(text, environment, folders, seen)
