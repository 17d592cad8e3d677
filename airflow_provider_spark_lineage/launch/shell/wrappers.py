"""Commands that run the command in their arguments: `sudo -u etl timeout 5m env A=1 spark-submit ...`.

Words after the wrapped command's name are its arguments: they start nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.launch.shell.words import Word

BACKGROUND = "it runs in the background; the agent's files may be removed before it ends"
OTHER_USER = (
    "it runs as another user, who cannot read the files of this one; set [spark_lineage] records and agent"
)
EVALUATED = "another command changes or repeats its words"
OTHER_ENVIRONMENT = "it runs in another environment, whose Spark settings are unknown"

_BEFORE = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{"})
"""Shell keywords that may precede a command."""

_ASSIGNMENT = re.compile(r"(\w+)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class _Wrapper:
    with_value: frozenset[str] = frozenset()
    """Options whose value is the next word."""

    verb: str = ""
    """First argument, without which it runs no command: `uv run`."""

    operands: int = 0
    """Number of words between the options and the command."""

    has_assignments: bool = False
    folder: tuple[str, ...] = ()
    """Options that change the folder of the command."""

    reason: str = ""
    """Reason why no options can be added to the wrapped command."""


def _wrapper(options: str = "", **fields: object) -> _Wrapper:
    return _Wrapper(frozenset(options.split()), **fields)  # type: ignore[arg-type]


_IN_ENVIRONMENT = _wrapper(
    "-n --name -p --prefix -e --env --environment --env-file --cwd -C --directory --manifest-path --project"
    " --python --with --with-editable --with-requirements --extra --group --package -c --config",
    verb="run",
    folder=("-C", "--cwd", "--directory"),
    reason=OTHER_ENVIRONMENT,
)

WRAPPERS: Mapping[str, _Wrapper] = {
    **dict.fromkeys(
        ("conda", "doppler", "hatch", "mamba", "micromamba", "pdm", "pipenv", "pixi", "poetry", "uv"),
        _IN_ENVIRONMENT,
    ),
    "aws-vault": _wrapper("-d --duration --region", verb="exec", operands=1, reason=OTHER_ENVIRONMENT),
    "chronic": _wrapper(),
    "command": _wrapper(),
    "doas": _wrapper("-u -C -a", reason=OTHER_USER),
    "dumb-init": _wrapper("-r --rewrite"),
    "env": _wrapper(
        "-u --unset -C --chdir -S --split-string -a --argv0", has_assignments=True, folder=("-C", "--chdir")
    ),
    "exec": _wrapper("-a"),
    "flock": _wrapper("-w --wait --timeout -E --conflict-exit-code", operands=1),
    **dict.fromkeys(("gosu", "su-exec"), _wrapper(operands=1, reason=OTHER_USER)),
    "ionice": _wrapper("-c --class -n --classdata"),
    "nice": _wrapper("-n --adjustment"),
    "nohup": _wrapper(),
    "runuser": _wrapper("-u --user -g --group -G --supp-group -w -s --shell", reason=OTHER_USER),
    # If it leads a process group, it forks and returns at once.
    "setsid": _wrapper(reason=BACKGROUND),
    "stdbuf": _wrapper("-i --input -o --output -e --error"),
    "sudo": _wrapper(
        "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -R --chroot -r --role -t"
        " --type -T --command-timeout -U --other-user",
        has_assignments=True,
        folder=("-D", "--chdir"),
        reason=OTHER_USER,
    ),
    "taskset": _wrapper(operands=1),
    "time": _wrapper("-o --output -f --format"),
    "timeout": _wrapper("-k --kill-after -s --signal", operands=1),
    "tini": _wrapper("-e -p"),
    "unbuffer": _wrapper(),
    "xargs": _wrapper(
        "-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s --max-chars",
        reason=EVALUATED,
    ),
    "xvfb-run": _wrapper(
        "-e --error-file -f --auth-file -n --server-num -p --xauth-protocol -s --server-args"
    ),
}
"""Name of a command -> how to find the command in its arguments."""

_CHANGES_ENVIRONMENT = ("-i", "-u", "-S", "-", "--ignore-environment", "--unset", "--split-string")


@dataclass
class Wrapped:
    """Command without its wrappers."""

    words: Sequence[Word]
    reason: str = ""
    """Reason why no options can be added; empty if they can."""

    variables: dict[str, str | None] = field(default_factory=dict)
    """Variables that `env` and `sudo` set; None for an unknown value."""

    changes_directory: bool = False

    @property
    def name(self) -> str:
        """Name of the command, without its folder."""
        return posixpath.basename(self.words[0].spelled) if self.words else ""


def unwrapped(words: Sequence[Word]) -> Wrapped:
    """Return the innermost command."""
    wrapped = Wrapped(words)
    while wrapped.words:
        if wrapped.words[0].value in _BEFORE:
            wrapped.words = wrapped.words[1:]
        elif wrapped.name in WRAPPERS and not _runs_no_word(wrapped):
            _unwrap(wrapped, WRAPPERS[wrapped.name])
        else:
            break
    return wrapped


def _runs_no_word(wrapped: Wrapped) -> bool:
    """Return whether the wrapper does not run the command in its arguments.

    `command -v` looks for a command, `uv sync` has another verb than `run`, `runuser -c` gets a script.
    """
    second = wrapped.words[1].spelled if len(wrapped.words) > 1 else ""
    verb = WRAPPERS[wrapped.name].verb
    if verb:
        return second != verb
    if wrapped.name == "command":
        return second in ("-v", "-V")
    return wrapped.name == "runuser" and any(word.value == "-c" for word in wrapped.words)


def _unwrap(wrapped: Wrapped, wrapper: _Wrapper) -> None:
    name, words = wrapped.name, [*wrapped.words[2 if wrapper.verb else 1 :]]
    wrapped.reason = wrapped.reason or wrapper.reason
    while words:
        text = words[0].spelled
        pair = _ASSIGNMENT.fullmatch(text) if wrapper.has_assignments else None
        if text.startswith("-"):
            if name == "env" and text.startswith(_CHANGES_ENVIRONMENT):
                wrapped.reason = wrapped.reason or OTHER_ENVIRONMENT
            wrapped.changes_directory |= text.startswith(wrapper.folder)
            words = words[2 if _takes_next(text, wrapper.with_value) else 1 :]
            if text == "--":
                break
        elif pair:
            wrapped.variables[pair[1]] = None if words[0].value is None else pair[2]
            words = words[1:]
        else:
            break
    words = words[wrapper.operands :]
    wrapped.words = words[1:] if words and words[0].value == "--" else words


_SSH = _wrapper("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", operands=1)


def behind_host(words: Sequence[Word]) -> Sequence[Word]:
    """Return the command that `ssh` runs on its host; empty if it starts a login shell there."""
    wrapped = Wrapped(words)
    _unwrap(wrapped, _SSH)
    return wrapped.words


def _takes_next(option: str, with_value: frozenset[str]) -> bool:
    """Return whether an option's value is the next word: `-u`, `-Eu`, but not `-uetl`, `--user=etl`."""
    if option.startswith("--"):
        return option in with_value
    letters = option[1:]
    first = next((at for at, letter in enumerate(letters) if f"-{letter}" in with_value), None)
    return first is not None and first == len(letters) - 1
