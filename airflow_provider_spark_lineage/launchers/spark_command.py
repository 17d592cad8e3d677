"""Commands of Spark among the commands of a script: `spark-submit` and `spark-sql` with their options."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.application import SQL, Application, kind_of
from airflow_provider_spark_lineage.launchers.secret_names import is_secret
from airflow_provider_spark_lineage.launchers.shell import mentions_spark
from airflow_provider_spark_lineage.launchers.shell_words import (
    UNKNOWN_TEXT,
    Command,
    MalformedError,
    Word,
    commands,
)
from airflow_provider_spark_lineage.launchers.wrappers import (
    BACKGROUND,
    EVALUATED,
    OTHER_USER,
    behind_host,
    unwrapped,
)

_COMMAND = re.compile(r"(?:.*/)?spark\d?-(submit|sql)(?:\.sh|\.cmd)?", re.DOTALL)

_SHELLS = frozenset({"bash", "sh", "dash", "ksh", "zsh"})
_USERS = frozenset({"su", "runuser"})
"""Commands that give a script to the shell of another user."""

_ELSEWHERE = frozenset({"docker", "docker-compose", "gcloud", "kubectl", "oc", "podman", "ssh"})
"""Commands that run it on another machine, or in a container."""

_SHELL = re.compile(r"(?:.*/)?(?:ba|da|k|z)?sh(?: -\w+)*")
_FUNCTION = re.compile(r"(?:^|[\s;&|])(?:function\s+)?([\w.:-]+)\s*\(\s*\)")
_ALL_ARGUMENTS = re.compile(r"\$[@*]|\$\{[@*]\}")
_REDEFINED = re.compile(r"spark\d?-(?:submit|sql)\s*\(\s*\)|\b(?:function|alias)\s+spark\d?-(?:submit|sql)")
MAX_DEPTH = 5
"""Limit of scripts inside scripts: each is read twice."""

HOMES = frozenset({"SPARK_CONF_DIR", "SPARK_HOME"})
"""Variables that say where Spark reads its settings."""

_DECISIVE = ("spark.submit.pyFiles", "spark.lineage.records", "spark.master", "spark.submit.deployMode")
"""Properties on which it depends what can be added to a command."""

_FILES = (".py", ".jar", ".R", ".r")
_SWITCHES = frozenset({"--supervise", "--verbose", "-v", "--load-spark-defaults", "-S", "--silent"})
_NO_APPLICATION = frozenset({"--help", "-h", "-H", "--usage-error", "--version"})
_OTHER_REQUESTS = frozenset({"--kill", "--status"})
_PROPERTIES: Mapping[str, str] = {
    "--deploy-mode": "spark.submit.deployMode",
    "--master": "spark.master",
    "--name": "spark.app.name",
}
"""Option -> the property that it sets."""

STANDARD_INPUT = "spark-sql reads its statements from standard input, which is not known here"
UNKNOWN_WORD = "some options of spark-{} are known to the shell alone"
OTHER_FILES = "settings may name Python files that are not known here, and ours would replace them: {}"
UNSURE = "not all of its options are known before the shell runs it"
REDEFINED = "the script gives its name to something else"
INIT_FILE = "what the statements in the file of `spark-sql -i` set is not known"


def applications_of(
    script: str, variables: Mapping[str, str], *, is_here: bool, depth: int = 0
) -> Iterator[Application]:
    """Yield the applications that a script starts; raise `MalformedError` where it is no script.

    `variables` are those of its process; `is_here` says whether it runs on this machine, `depth` how many
    scripts it is inside of.
    """
    if depth > MAX_DEPTH:
        raise MalformedError("it is nested too deeply")
    is_redefined = _REDEFINED.search(script) is not None
    own = frozenset(_FUNCTION.findall(script)) if _ALL_ARGUMENTS.search(script) else frozenset[str]()
    for command in commands(script, variables):
        for application in of_command(command, is_here=is_here, functions=own, depth=depth):
            yield replace(application, fixed=REDEFINED) if is_redefined else application


def of_command(
    command: Command, *, is_here: bool, functions: Collection[str] = (), depth: int = 0
) -> Iterator[Application]:
    """Yield the applications that one command starts: none, one, or those of a script that it runs.

    `functions` are those of the script that may run what they get as arguments.
    """
    wrapped = unwrapped(command.words)
    words = wrapped.words
    given = {
        key: value for key, value in wrapped.variables.items() if value is not None and not is_secret(key)
    }
    inside = replace(
        command,
        variables={**command.variables, **given},
        directory=None if wrapped.changes_directory else command.directory,
    )
    is_elsewhere = wrapped.name in _ELSEWHERE
    if is_elsewhere:
        # Variables and folder of this machine are not those of the other one.
        inside = replace(inside, variables={}, directory=None)
    script = _script_in(words, wrapped.name, command)
    if script is not None:
        yield from _of_inner(script, inside, is_here=is_here and not is_elsewhere, depth=depth + 1)
        return
    start = 0
    if is_elsewhere or wrapped.name in functions:
        names = (position for position, word in enumerate(words) if _spark_command(word.spelled))
        start = next(names, len(words))
    # The name may begin with a variable, `$SPARK_HOME/bin/spark-submit`: so the text counts.
    name = _spark_command(words[start].spelled) if start < len(words) else ""
    if not name:
        return
    application = (_of_submit if name == "submit" else _of_sql)(words[start + 1 :], inside)
    if application is None:
        return
    homes = sorted(HOMES & {*command.assigned, *wrapped.variables})
    reason = OTHER_FILES.format(homes[0]) if homes else application.fixed
    is_other_user = wrapped.reason == OTHER_USER
    if wrapped.name in functions:
        reason = EVALUATED
    yield replace(
        application,
        is_here=is_here and application.is_here and not is_elsewhere,
        options_at=None if is_elsewhere else words[start].end,
        program=_program(words[start], {*command.assigned, *wrapped.variables}),
        fixed=BACKGROUND if command.is_background else (not is_other_user and wrapped.reason) or reason,
        is_other_user=is_other_user,
        sourced=command.sourced,
    )


def _program(word: Word, assigned: Collection[str]) -> str | None:
    """Return the name or the path of the command; None where the script changes in which folders it is."""
    return word.value if "PATH" not in assigned or "/" in word.spelled else None


def _of_inner(word: Word, command: Command, *, is_here: bool, depth: int) -> Iterator[Application]:
    """Yield the applications of a script that is a word of a command, or its standard input."""
    # What is not known stands in it as a variable, which the inner shell does not know either.
    script = word.spelled if word.value is None else word.value
    if not mentions_spark(script):
        return
    applications = [*applications_of(script, command.variables, is_here=is_here, depth=depth)]
    # The outer shell has replaced variables in it: an event has the script as it was before.
    shown: list[tuple[str, ...] | None] = []
    with suppress(MalformedError):
        shown = [each.shown for each in applications_of(word.shown or "", {}, is_here=is_here, depth=depth)]
    for number, inner in enumerate(applications):
        as_written = shown[number] if len(shown) == len(applications) else None
        hidden = (UNKNOWN_TEXT,) * len(inner.arguments)
        directory = _below(command.directory, inner.directory)
        yield replace(
            inner,
            options_at=None,
            py_files_at=None,
            shown=as_written or hidden,
            directory=directory,
            is_here=inner.is_here and _may_be_here(inner.main, directory),
            variables={**command.variables, **inner.variables},
        )


def _below(outer: str | None, inner: str | None) -> str | None:
    """Return the folder of a script inside another one; None where it is not known."""
    if outer is None or inner is None:
        return inner if inner is not None and inner.startswith("/") else None
    return posixpath.join(outer, inner) if inner else outer


def _script_in(words: Sequence[Word], name: str, command: Command) -> Word | None:
    """Return the script that a command gives to a shell; None where it runs its words, or a file."""
    given = command.standard_input or ""
    # Variables in it have their values, so none of it is shown.
    document = Word(given, given, "") if command.is_text else None
    if name in _SHELLS | _USERS:
        inner = _inner_script(words, is_anywhere=name in _USERS)
        return inner or (None if any(not _is_option(word) for word in words[1:]) else document)
    if name == "eval":
        return _as_script(words[1:])
    if name in ("trap", "-c", "--command"):
        # `flock FILE -c '...'` is `-c '...'` here.
        return next((word for word in words[1:] if not _is_option(word)), None)
    if name not in _ELSEWHERE or any(_spark_command(word.spelled) for word in words):
        return None
    behind = behind_host(words) if name == "ssh" else words
    shell = next((at for at, word in enumerate(behind) if _SHELL.fullmatch(word.spelled)), None)
    if shell is not None:
        return _inner_script(behind[shell:], is_anywhere=False) or document
    if name == "ssh":
        # Its words become one text for the shell there.
        return _as_script(behind) if behind else document
    # `gcloud compute ssh HOST --command '...'`.
    return _inner_script(words, is_anywhere=True)


def _is_option(word: Word) -> bool:
    return word.spelled.startswith(("-", "+"))


def _as_script(words: Sequence[Word]) -> Word:
    values = [word.value for word in words if word.value is not None]
    return Word(
        value=" ".join(values) if len(values) == len(words) else None,
        spelled=" ".join(word.spelled for word in words),
        shown=" ".join(word.shown or "" for word in words),
    )


def _inner_script(words: Sequence[Word], *, is_anywhere: bool) -> Word | None:
    """Return the script behind `-c`; what stands behind the name of a file is that file's."""
    rest = [*words[1:]]
    while rest:
        flag = rest.pop(0).value
        if flag is not None and re.fullmatch(r"-[a-z]*c|--command", flag):
            return rest[0] if rest else None
        if flag in ("-o", "-O", "+o", "+O", "--rcfile", "--init-file"):
            rest = rest[1:]
        elif not is_anywhere and (flag is None or not flag.startswith(("-", "+"))):
            break
    return None


def of_words(words: Iterable[Any]) -> Iterator[Application]:
    """Yield the applications of a command of another machine, given as its words: no shell reads them."""
    texts = (str(word) for word in words)
    plain = tuple(Word(text, text, text) for text in texts)
    yield from of_command(Command(plain), is_here=False)


def _spark_command(text: str) -> str:
    """Return `submit` or `sql` where a word names one of the commands, else an empty text."""
    match = _COMMAND.fullmatch(text)
    return match[1] if match else ""


_NOTHING = Word(None, "", "", is_fixed=False)


class _Options:
    """The options of Spark's commands, in the order in which they are given."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.values: list[tuple[str, str]] = []
        self.unknown: set[str] = set()
        """Values that only the shell knows, as they are spelled."""

        self.words: dict[str, Word] = {}
        """The last value of each option."""

        self.rest: list[Word] = []
        self.switches: set[str] = set()
        self.is_cut = False
        """Whether some options are not known."""

        self.is_fixed = True
        """Whether each option and each value is one word for certain."""

        self._read([*words])

    def _read(self, words: list[Word]) -> None:
        while words:
            word = words.pop(0)
            text = word.spelled
            if word.value is None and not text.endswith(_FILES):
                # `$OPTIONS` may be several words, or none.
                self.is_cut = True
                continue
            if not text.startswith("-") or text == "-":
                self.rest = [word, *words]
                return
            self.is_fixed = self.is_fixed and word.is_fixed
            if text in _SWITCHES | _NO_APPLICATION:
                self.switches.add(text)
                continue
            name, is_long, value = text.partition("=")
            if not (is_long and name.startswith("--")):
                name, word = text, words.pop(0) if words else _NOTHING
                value = word.spelled
                self.is_fixed = self.is_fixed and word.is_fixed
                self.is_cut = self.is_cut or word.may_vanish
            self.values.append((name, value))
            self.words[name] = word
            if word.value is None:
                self.unknown.add(value)

    @property
    def fixed(self) -> str:
        """Why the command stays as it is; empty where all that matters is known."""
        if self.is_cut or not self.is_fixed or self._is_open():
            return UNSURE
        files = self.words.get("--py-files")
        # An unquoted `,agent.zip` behind nothing is another list.
        if files is not None and files.end is None:
            return UNSURE
        if files is not None and not re.sub(r"--py-files=|\$\{\w+\}", "", files.spelled):
            return UNSURE
        return OTHER_FILES.format("--properties-file") if "--properties-file" in self.words else ""

    def _is_open(self) -> bool:
        """Return whether a value that decides what can be added is not known."""
        for name, value in self.values:
            if value in self.unknown:
                key = value.partition("=")[0].strip()
                if name in ("--conf", "-c") and ("$" in key or key in _DECISIVE):
                    return True
                if name in ("--master", "--deploy-mode"):
                    return True
        return False

    def last(self, *names: str) -> str:
        """Return the value of an option, the last one given; empty without one."""
        return next((value for name, value in reversed(self.values) if name in names), "")

    def pairs(self, *names: str) -> dict[str, str]:
        """Return the `name=value` pairs of an option that may be repeated."""
        words = (value for name, value in self.values if name in names and value not in self.unknown)
        return {name.strip(): value for name, _, value in (word.partition("=") for word in words)}

    @property
    def conf(self) -> dict[str, str]:
        """Properties, also those that have an option of their own."""
        own = {name: self.last(option) for option, name in _PROPERTIES.items()}
        return {**self.pairs("--conf", "-c"), **{name: value for name, value in own.items() if value}}


def _of_submit(words: Sequence[Word], command: Command) -> Application | None:
    options = _Options(words)
    if options.switches & _NO_APPLICATION or _OTHER_REQUESTS & {name for name, _ in options.values}:
        return None
    main = options.rest[0].spelled if options.rest else ""
    arguments = options.rest[1:]
    main_class = options.last("--class")
    problem = UNKNOWN_WORD.format("submit") if options.is_cut else ""
    if not main:
        problem = problem or "no application is given to spark-submit"
    return Application(
        kind=kind_of(main, main_class),
        main=main,
        main_class=main_class,
        arguments=tuple(word.value for word in arguments),
        shown=_shown(arguments),
        conf=options.conf,
        name=options.last("--name"),
        variables=command.variables,
        directory=command.directory,
        is_here=_may_be_here(main, command.directory),
        problem=problem,
        py_files_at=options.words["--py-files"].end if "--py-files" in options.words else None,
        fixed=options.fixed,
    )


def _shown(words: Sequence[Word]) -> tuple[str, ...]:
    """Return arguments for an event; of a variable that also has what stands before, none are shown."""
    known = tuple(word.shown for word in words if word.shown is not None)
    return (UNKNOWN_TEXT, *known) if words and words[0].shown is None else known


def _of_sql(words: Sequence[Word], command: Command) -> Application | None:
    options = _Options(words)
    if options.switches & _NO_APPLICATION:
        return None
    statements = ";\n".join(value for name, value in options.values if name == "-e")
    file = options.last("-f")
    problem = UNKNOWN_WORD.format("sql") if options.is_cut else ""
    if not (statements or file or problem):
        if command.standard_input is None:
            problem = STANDARD_INPUT
        elif command.is_text:
            statements = command.standard_input
        else:
            file = command.standard_input
    if options.last("-i"):
        problem = problem or INIT_FILE
    database = options.last("--database")
    if statements and database:
        statements = f"use {database};\n{statements}"
    return Application(
        kind=SQL,
        main="" if statements else file,
        statements=statements,
        conf={**options.pairs("--hiveconf"), **options.conf},
        name=options.last("--name"),
        # In a text that the shell changes, `${name}` is the shell's.
        variables={} if options.unknown else options.pairs("-d", "--define", "--hivevar"),
        directory=command.directory,
        is_here=_may_be_here(file, command.directory),
        problem=problem,
    )


def _may_be_here(path: str, directory: str | None) -> bool:
    """Return whether a path names a file for certain, as seen from where the command runs."""
    return path.startswith(("/", "file:/")) or directory is not None
