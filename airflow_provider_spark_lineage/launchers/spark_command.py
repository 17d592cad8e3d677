"""Commands of Spark among the commands of a script: `spark-submit` and `spark-sql` with their options."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from airflow_provider_spark_lineage.launchers.application import SQL, Application, kind_of
from airflow_provider_spark_lineage.launchers.shell import mentions_spark
from airflow_provider_spark_lineage.launchers.shell_words import Command, commands

_COMMAND = re.compile(r"(?:.*/)?spark\d?-(submit|sql)(?:\.sh|\.cmd)?", re.DOTALL)

_SHELLS = frozenset({"bash", "sh", "dash", "ksh", "zsh"})
_BEFORE = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time", "eval"})
"""Words of the shell that stand before a command."""

_WRAPPERS = frozenset(
    {"command", "env", "exec", "flock", "ionice", "nice", "nohup"}
    | {"setsid", "stdbuf", "sudo", "timeout", "xargs"}
)
"""Commands that run the command in their arguments."""

_ELSEWHERE = frozenset({"docker", "gcloud", "kubectl", "oc", "podman", "ssh"})
"""Commands that run it on another machine, or in a container."""

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
INIT_FILE = "what the statements in the file of `spark-sql -i` set is not known"


def applications_of(script: str, variables: Mapping[str, str], *, is_here: bool) -> Iterator[Application]:
    """Yield the applications that a script starts; raise `MalformedError` where it is no script.

    `variables` are those of its process; `is_here` says whether it runs on this machine.
    """
    for command in commands(script, variables):
        yield from of_command(command, is_here=is_here)


def of_command(command: Command, *, is_here: bool) -> Iterator[Application]:
    """Yield the applications that one command starts: none, one, or those of a script that it runs."""
    words = list(command.words)
    while words and words[0] in _BEFORE:
        words.pop(0)
    base = posixpath.basename(words[0] or "") if words else ""
    if base == "command" and {"-v", "-V"} & {*words}:
        return
    if base in _SHELLS:
        script = next((word for flag, word in pairwise(words) if _is_script_flag(flag)), None)
        if script is not None and mentions_spark(script):
            for inner in applications_of(script, command.variables, is_here=is_here):
                # Its script is a word of this one, quoted in some way.
                yield replace(inner, options_at=None, py_files_at=None)
        return
    # The name may begin with a variable, `$SPARK_HOME/bin/spark-submit`: so the text counts.
    spelled = list(command.spelled[len(command.spelled) - len(words) :])
    if base in _WRAPPERS | _ELSEWHERE:
        names = (position for position, text in enumerate(spelled) if _spark_command(text))
        start = next(names, len(spelled))
        is_here = is_here and base not in _ELSEWHERE
    else:
        start = 0
    name = _spark_command(spelled[start]) if start < len(spelled) else ""
    if name:
        read = _of_submit if name == "submit" else _of_sql
        # Words that stand in no script have no ends.
        ends: list[int | None] = [*command.ends[len(command.ends) - len(words) :]] or [None] * len(words)
        application = read([*zip(words, spelled, ends, strict=True)][start + 1 :], command)
        if application is not None:
            at = None if base in _ELSEWHERE else ends[start]
            yield replace(application, is_here=is_here and application.is_here, options_at=at)


def of_words(words: Iterable[Any]) -> Iterator[Application]:
    """Yield the applications of a command of another machine, given as its words: no shell reads them."""
    plain = tuple(str(word) for word in words)
    yield from of_command(Command(plain, plain), is_here=False)


def _is_script_flag(word: str | None) -> bool:
    return word is not None and re.fullmatch(r"-[a-z]*c", word) is not None


def _spark_command(text: str) -> str:
    """Return `submit` or `sql` where a word names one of the commands, else an empty text."""
    match = _COMMAND.fullmatch(text)
    return match[1] if match else ""


_Word = tuple["str | None", str, "int | None"]
"""A word, as it is spelled, and where it ends in the script."""


class _Options:
    """The options of Spark's commands, in the order in which they are given."""

    def __init__(self, words: Sequence[_Word]) -> None:
        self.values: list[tuple[str, str]] = []
        self.unknown: set[str] = set()
        """Values that only the shell knows, as they are spelled."""

        self.ends: dict[str, int | None] = {}
        """Where the last value of each option ends."""

        self.rest: list[str | None] = []
        self.switches: set[str] = set()
        self.is_cut = False
        """Whether some options are not known."""

        self._read([*words])

    def _read(self, words: list[_Word]) -> None:
        while words:
            word, text, end = words.pop(0)
            if word is None and not text.endswith(_FILES):
                # `$OPTIONS` may be several words, or none.
                self.is_cut = True
                continue
            if not text.startswith("-") or text == "-":
                self.rest = [text, *(value for value, _, _ in words)]
                return
            if text in _SWITCHES | _NO_APPLICATION:
                self.switches.add(text)
                continue
            name, is_long, value = text.partition("=")
            if not (is_long and name.startswith("--")):
                name, (word, value, end) = text, words.pop(0) if words else (None, "", None)
            self.values.append((name, value))
            self.ends[name] = end
            if word is None:
                self.unknown.add(value)

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


def _of_submit(words: Sequence[_Word], command: Command) -> Application | None:
    options = _Options(words)
    if options.switches & _NO_APPLICATION or _OTHER_REQUESTS & {name for name, _ in options.values}:
        return None
    main = (options.rest[0] if options.rest else None) or ""
    main_class = options.last("--class")
    problem = UNKNOWN_WORD.format("submit") if options.is_cut else ""
    if not main:
        problem = problem or "no application is given to spark-submit"
    return Application(
        kind=kind_of(main, main_class),
        main=main,
        main_class=main_class,
        arguments=tuple(options.rest[1:]),
        conf=options.conf,
        name=options.last("--name"),
        variables=command.variables,
        directory=command.directory,
        is_here=_may_be_here(main, command.directory),
        problem=problem,
        py_files_at=options.ends.get("--py-files"),
    )


def _of_sql(words: Sequence[_Word], command: Command) -> Application | None:
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
