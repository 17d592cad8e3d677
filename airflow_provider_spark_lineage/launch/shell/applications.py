"""Applications that a shell script starts, also by scripts inside it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.launch.application import LaunchedApplication
from airflow_provider_spark_lineage.launch.secret_names import is_secret
from airflow_provider_spark_lineage.launch.shell.mention import mentions_spark
from airflow_provider_spark_lineage.launch.shell.spark_commands import (
    OTHER_FILES,
    may_be_here,
    read_command,
    spark_command,
)
from airflow_provider_spark_lineage.launch.shell.words import (
    UNKNOWN_TEXT,
    Command,
    MalformedError,
    Word,
    commands,
)
from airflow_provider_spark_lineage.launch.shell.wrappers import (
    BACKGROUND,
    EVALUATED,
    OTHER_USER,
    behind_host,
    unwrapped,
)

_SHELLS = frozenset({"bash", "sh", "dash", "ksh", "zsh"})
_USERS = frozenset({"su", "runuser"})
"""Commands that give a script to the shell of another user."""

_ELSEWHERE = frozenset({"docker", "docker-compose", "gcloud", "kubectl", "oc", "podman", "ssh"})
"""Commands that run their arguments, or a script, on another machine or in a container."""

_IN_CONTAINER = frozenset({"exec", "run"})
"""Verbs of `docker`, `kubectl` and similar: an image or a container follows, then its command."""

_COMMAND_IS = "--command="
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|k|z)?sh(?: -\w+)*")
_FUNCTION = re.compile(r"(?:^|[\s;&|])(?:function\s+)?([\w.:-]+)\s*\(\s*\)")
_ALL_ARGUMENTS = re.compile(r"\$[@*]|\$\{[@*]\}")
_REDEFINED = re.compile(r"spark\d?-(?:submit|sql)\s*\(\s*\)|\b(?:function|alias)\s+spark\d?-(?:submit|sql)")
MAX_DEPTH = 5
"""Limit of scripts inside scripts: each level is read twice."""

HOMES = frozenset({"SPARK_CONF_DIR", "SPARK_HOME"})
"""Variables that say where Spark reads its settings."""

REDEFINED = "the script redefines spark-submit or spark-sql (function or alias)"


def applications_of(
    script: str, variables: Mapping[str, str], *, is_here: bool, depth: int = 0
) -> Iterator[LaunchedApplication]:
    """Yield the applications that a script starts; raise `MalformedError` if it cannot be read.

    `variables` are its process's environment, `is_here` says that it runs on this machine, `depth` is the
    number of scripts around it.
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
) -> Iterator[LaunchedApplication]:
    """Yield the applications that one command starts: none, one, or several by a script in its arguments.

    `functions` are names of the script's functions that may run their arguments as a command.
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
        # The other machine has neither the variables nor the folder of this one.
        inside = replace(inside, variables={}, directory=None)
    script = _script_in(words, wrapped.name, command)
    if script is not None:
        yield from _of_inner(script, inside, is_here=is_here and not is_elsewhere, depth=depth + 1)
        return
    start = 0
    if is_elsewhere or wrapped.name in functions:
        first = _command_in_container(words) if is_elsewhere and wrapped.name != "gcloud" else 0
        names = (at for at in range(first, len(words)) if spark_command(words[at].spelled))
        start = next(names, len(words))
    # `spelled`, because the name may begin with an unknown variable: `$SPARK_HOME/bin/spark-submit`.
    name = spark_command(words[start].spelled) if start < len(words) else ""
    if not name:
        return
    application = read_command(name, words[start + 1 :], inside)
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


def _command_in_container(words: Sequence[Word]) -> int:
    """Return where a command may begin: after the verb and one operand, the image or container."""
    verb = next((at for at, word in enumerate(words) if word.spelled in _IN_CONTAINER), len(words))
    operands = (at for at in range(verb + 1, len(words)) if not _is_option(words[at]))
    return next(operands, len(words)) + 1


def _program(word: Word, assigned: Collection[str]) -> str | None:
    """Return the name or the path of the command; None if the script changes PATH."""
    return word.value if "PATH" not in assigned or "/" in word.spelled else None


def _of_inner(word: Word, command: Command, *, is_here: bool, depth: int) -> Iterator[LaunchedApplication]:
    """Yield the applications of a script that is a word of a command, or its standard input."""
    # An unknown value is in it as `${name}`, which is unknown to the inner shell, too.
    script = word.spelled if word.value is None else word.value
    if not mentions_spark(script):
        return
    applications = [*applications_of(script, command.variables, is_here=is_here, depth=depth)]
    # The outer shell has replaced variables in it: an event shows the script from before that.
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
            is_here=inner.is_here and may_be_here(inner.main, directory),
            variables={**command.variables, **inner.variables},
        )


def _below(outer: str | None, inner: str | None) -> str | None:
    """Return the folder of a script inside another one; None if it is unknown."""
    if outer is None or inner is None:
        return inner if inner is not None and inner.startswith("/") else None
    return posixpath.join(outer, inner) if inner else outer


def _script_in(words: Sequence[Word], name: str, command: Command) -> Word | None:
    """Return the script that a command passes to a shell; None if it runs its arguments or a file."""
    given = command.standard_input or ""
    # Variables in it are already replaced, and a value may be a secret: nothing of it is shown.
    document = Word(given, given, "") if command.is_text else None
    if name in _SHELLS | _USERS:
        inner = _inner_script(words, is_anywhere=name in _USERS)
        return inner or (None if any(not _is_option(word) for word in words[1:]) else document)
    if name == "eval":
        return _as_script(words[1:])
    if name in ("trap", "-c", "--command"):
        # `flock FILE -c '...'` is `-c '...'` here.
        return next((word for word in words[1:] if not _is_option(word)), None)
    # A container or `gcloud` gets the words one by one; `ssh` joins them to one text.
    if name not in _ELSEWHERE or (name != "ssh" and any(spark_command(word.spelled) for word in words)):
        return None
    behind = behind_host(words) if name == "ssh" else words
    shell = next((at for at, word in enumerate(behind) if _SHELL.fullmatch(word.spelled)), None)
    if shell is not None:
        return _inner_script(behind[shell:], is_anywhere=False) or document
    if name == "ssh":
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
    """Return the argument of `-c`. After a file name, arguments belong to the file."""
    rest = [*words[1:]]
    while rest:
        word = rest.pop(0)
        flag = word.value
        if word.spelled.startswith(_COMMAND_IS):
            return _without_start(word, len(_COMMAND_IS))
        if flag is not None and re.fullmatch(r"-[a-z]*c|--command", flag):
            return next((word for word in rest if not _is_option(word)), None)
        if flag in ("-o", "-O", "+o", "+O", "--rcfile", "--init-file"):
            rest = rest[1:]
        elif not is_anywhere and (flag is None or not flag.startswith(("-", "+"))):
            break
    return None


def _without_start(word: Word, length: int) -> Word:
    """Return a word without its first letters, which must not be part of a variable."""
    value = None if word.value is None else word.value[length:]
    return replace(word, value=value, spelled=word.spelled[length:], shown=(word.shown or "")[length:])


def of_words(words: Iterable[Any]) -> Iterator[LaunchedApplication]:
    """Yield the applications of another machine's command, whose words no shell expands."""
    texts = (str(word) for word in words)
    plain = tuple(Word(text, text, text) for text in texts)
    yield from of_command(Command(plain), is_here=False)
