"""Applications that a shell script starts by its text, also by scripts inside it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import SQL, LaunchedApplication, kind_of
from airflow_provider_spark_lineage.airflow.launch.shell.mention import mentions_spark
from airflow_provider_spark_lineage.airflow.launch.shell.options import Options, Word, spark_command
from airflow_provider_spark_lineage.airflow.launch.shell.script import MalformedError, ShellCommand, commands
from airflow_provider_spark_lineage.airflow.submitted.jobs import PY_FILES
from airflow_provider_spark_lineage.spark import REMOVED

_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"})
_SHELLS = frozenset({"bash", "sh", "dash", "ksh", "zsh"})
_ELSEWHERE = frozenset({"docker", "docker-compose", "gcloud", "kubectl", "oc", "podman", "ssh"})
"""Commands that run their arguments, or a script, on another machine or in a container."""

_WRAPPERS = re.compile(
    "aws-vault|chronic|command|conda|doas|doppler|dumb-init|env|exec|flock|gosu|hatch|ionice|mamba|micromamba"
    "|nice|nohup|pdm|pipenv|pixi|poetry|runuser|setsid|stdbuf|su-exec|sudo|taskset|time|timeout|tini|unbuffer"
    "|uv|xargs|xvfb-run"
)
"""Commands that run the command in their arguments."""

_FOLDER = frozenset({"-C", "-D", "--cwd", "--chdir", "--directory"})

_FUNCTION = re.compile(r"(?:^|[\s;&|])(?:function\s+)?([\w.:-]+)\s*\(\s*\)")
_ALL_ARGUMENTS = re.compile(r"\$[@*]|\$\{[@*]\}")
MAX_DEPTH = 5
"""Limit of scripts inside scripts: each level is read twice."""

STANDARD_INPUT = "spark-sql reads its statements from standard input, which is unknown here"
UNKNOWN_WORD = "some options of spark-{} are known only to the shell"
INIT_FILE = "settings in the file of `spark-sql -i` are not read"


def applications_of(
    script: str,
    variables: Mapping[str, str],
    *,
    is_here: bool,
    directory: str | None = "",
    depth: int = 0,
) -> Iterator[LaunchedApplication]:
    """Yield the applications that a script starts; raise `MalformedError` if it cannot be read.

    `variables` are its process's environment, `is_here` says that it runs on this machine, `depth` is the
    number of scripts around it.
    """
    if depth > MAX_DEPTH:
        raise MalformedError("it is nested too deeply")
    functions = _FUNCTION.findall(script) if _ALL_ARGUMENTS.search(script) else []
    for command in commands(script, variables, directory):
        yield from of_command(command, is_here=is_here, functions=functions, depth=depth)


def of_words(words: Iterable[Any]) -> Iterator[LaunchedApplication]:
    """Yield the applications of another machine's command, whose words no shell expands."""
    texts = (str(word) for word in words)
    yield from of_command(ShellCommand(tuple(Word(text, text) for text in texts)), is_here=False)


def of_command(
    command: ShellCommand, *, is_here: bool, functions: Sequence[str] = (), depth: int = 0
) -> Iterator[LaunchedApplication]:
    """Yield the applications of one command: none, one, or several by a script in its arguments.

    `functions` are names of the script's functions that may run their arguments as a command.
    """
    words = [*command.words]
    while words and words[0].text in _KEYWORDS:
        words.pop(0)
    names = [posixpath.basename(word.text) for word in words]
    is_elsewhere = bool(names) and names[0] in _ELSEWHERE
    script = _script_in(words, names, command)
    if script is not None:
        if mentions_spark(script.text):
            outer = replace(command, variables={}, directory=None) if is_elsewhere else command
            yield from _of_inner(script, outer, is_here=is_here and not is_elsewhere, depth=depth + 1)
        return
    at = _command_at(words, names, functions)
    if at is None:
        return
    before = {*(word.text.partition("=")[0] for word in words[:at])}
    assigned = dict(
        word.text.split("=", 1) for word in words[:at] if "=" in word.text and word.text[0] != "-"
    )
    command = replace(command, variables={**command.variables, **assigned})
    if is_elsewhere:
        command = replace(command, variables={})
    if is_elsewhere or before & _FOLDER:
        command = replace(command, directory=None)
    read = _of_submit if spark_command(names[at]) == "submit" else _of_sql
    application = read(Options(words[at + 1 :]), command)
    if application is not None:
        is_here = is_here and not is_elsewhere and _may_be_here(application.main, command.directory)
        yield replace(application, is_here=is_here, is_elsewhere=is_elsewhere, directory=command.directory)


def _of_inner(
    script: Word, command: ShellCommand, *, is_here: bool, depth: int
) -> Iterator[LaunchedApplication]:
    """Yield the applications of a script that is a word of a command, or its standard input."""
    variables, folder = command.variables, command.directory
    read = applications_of(script.text, variables, is_here=is_here, directory=folder, depth=depth)
    applications = [*read]
    # The outer shell has replaced variables in it: an event shows the script from before that.
    shown: list[LaunchedApplication] = []
    with suppress(MalformedError):
        shown = [*applications_of(script.shown, {}, is_here=is_here, depth=depth)]
    for number, inner in enumerate(applications):
        hidden = tuple(REMOVED for _ in inner.arguments)
        yield replace(
            inner,
            is_elsewhere=not is_here,
            variables={**variables, **inner.variables},
            shown=shown[number].shown if len(shown) == len(applications) else hidden,
        )


def _command_at(words: Sequence[Word], names: Sequence[str], functions: Sequence[str]) -> int | None:
    """Return where the name of a Spark command is, also after commands that run another command."""
    if not names or not (
        spark_command(names[0])
        or _runs_words(names[0])
        or names[0] in functions
        # After a keyword: `if DAY=1 spark-submit`.
        or re.match(r"\w+=", words[0].text)
    ):
        return None
    if names[0] == "command" and names[1:2] in (["-v"], ["-V"]):
        return None
    if names[0] in _ELSEWHERE:
        verb = next((at for at, name in enumerate(names) if name in ("exec", "run")), len(names))
        operands = [at for at in range(verb + 1, len(names)) if not re.match(r"[-+]|\w+=", words[at].text)]
        # The first is an image or a container.
        return next((at for at in operands[1:] if spark_command(names[at])), None)
    for at, word in enumerate(words):
        if spark_command(names[at]):
            return at
        if at and not _may_precede(word.text, names[at], words[at - 1].text):
            break
    return None


def _runs_words(name: str) -> bool:
    return name in _ELSEWHERE or _WRAPPERS.fullmatch(name) is not None


def _may_precede(text: str, name: str, previous: str) -> bool:
    """Return whether a word may be before the command that another one runs: `timeout -k 9 5m nice ...`."""
    is_value = previous.startswith("-") and previous != "--"
    is_option = text.startswith(("-", "+")) or "=" in text
    is_operand = re.match(r"[\d/]", text) is not None or previous in ("gosu", "su-exec")
    is_profile = previous == "exec"
    is_known = _WRAPPERS.fullmatch(name) is not None or name == "run"
    return is_value or is_option or is_operand or is_profile or is_known


def _script_in(words: Sequence[Word], names: Sequence[str], command: ShellCommand) -> Word | None:
    """Return the script that a command passes to a shell; None if it runs its arguments or a file."""
    first = names[0] if names else ""
    document = Word(command.text, "") if command.text is not None else None
    if first in ("eval", "trap"):
        return _joined(words[1:] if first == "eval" else words[1:2])
    is_anywhere = first in ("gcloud", "runuser", "su")
    at = 0
    if not is_anywhere:
        if not (_runs_words(first) or first in _SHELLS):
            return None
        shells = (
            at for at, name in enumerate(names) if name in _SHELLS or (name == "flock" and "-c" in names)
        )
        at = next(shells, -1)
    if at < 0:
        if first != "ssh":
            return None
        host = next((at for at in range(1, len(words)) if not _is_option(words, at)), len(words))
        return _joined(words[host + 1 :]) if len(words) > host + 1 else document
    has_file = False
    for position, word in enumerate(words[at + 1 :], at + 1):
        if word.text.startswith("--command="):
            return Word(word.text[10:], word.shown[10:], word.is_known)
        if word.text == "--command" or (re.fullmatch(r"-[a-z]*c", word.text) and first != "gcloud"):
            rest = (word for word in words[position + 1 :] if not word.text.startswith(("-", "+")))
            return next(rest, None)
        is_value = words[position - 1].text in ("-o", "+o", "-O")
        has_file = has_file or not (word.text.startswith(("-", "+")) or is_value)
        if has_file and not (is_anywhere or names[at] == "flock"):
            return None
    return None if has_file else document


def _is_option(words: Sequence[Word], at: int) -> bool:
    """Return whether a word of `ssh` is an option, or the value of the option before it."""
    text, previous = words[at].text, words[at - 1].text
    return text.startswith("-") or re.fullmatch(r"-[bcDEeFIiJLlmOopQRSWw]", previous) is not None


def _joined(words: Sequence[Word]) -> Word:
    return Word(
        " ".join(word.text for word in words),
        " ".join(word.shown for word in words),
        all(word.is_known for word in words),
    )


def _of_submit(options: Options, command: ShellCommand) -> LaunchedApplication | None:
    if options.starts_nothing:
        return None
    main = options.rest[0].text if options.rest else ""
    arguments = options.rest[1:]
    problem = UNKNOWN_WORD.format("submit") if options.is_cut else ""
    # Of the option and the property, Spark uses the option.
    files = options.last("--py-files")
    return LaunchedApplication(
        kind=kind_of(main, options.last("--class")),
        main=main,
        main_class=options.last("--class"),
        arguments=tuple(word.text if word.is_known else None for word in arguments),
        shown=tuple(word.shown for word in arguments),
        conf={**options.conf, **({PY_FILES: files} if files else {})},
        name=options.last("--name"),
        variables=command.variables,
        problem=problem or ("" if main else "no application is given to spark-submit"),
    )


def _of_sql(options: Options, command: ShellCommand) -> LaunchedApplication | None:
    if options.starts_nothing:
        return None
    given = [word for name, word in options.values if name == "-e"]
    statements, file = ";\n".join(word.text for word in given), options.last("-f")
    problem = UNKNOWN_WORD.format("sql") if options.is_cut else ""
    if not (statements or file or problem):
        statements, file = command.text or "", command.file or ""
        problem = "" if statements or file else STANDARD_INPUT
    if statements and options.last("--database"):
        statements = f"use {options.last('--database')};\n{statements}"
    return LaunchedApplication(
        kind=SQL,
        main="" if statements else file,
        statements=statements,
        conf={**options.pairs("--hiveconf"), **options.conf},
        name=options.last("--name"),
        # If the shell expands the text, `${name}` is a variable of the shell.
        variables=options.pairs("-d", "--define", "--hivevar")
        if all(word.is_known for word in given)
        else {},
        problem=problem or (INIT_FILE if options.last("-i") else ""),
    )


def _may_be_here(path: str, directory: str | None) -> bool:
    """Return whether it is certain which file a path names: it is absolute, or the folder is known."""
    return path.startswith(("/", "file:/")) or directory is not None
