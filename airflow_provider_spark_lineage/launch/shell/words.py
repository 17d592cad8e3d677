"""Simple commands of a shell script with their words; reads only the grammar that a launch needs.

Nothing is run. A word that only the running shell knows (`$(date)`, a variable set elsewhere) is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from airflow_provider_spark_lineage.launch.secret_names import is_secret
from airflow_provider_spark_lineage.launch.shell.tokens import (
    DOCUMENT,
    REDIRECTION,
    WORD,
    MalformedError,
    Token,
    parts,
    quoted_parts,
    tokens,
)

__all__ = ["Command", "MalformedError", "Word", "commands"]

_BRACED = re.compile(r"\{?(\w+)(?:(:?)-([^$`\"'\\}]*))?\}?")
_ASSIGNMENT = re.compile(r"(\w+)=(.*)", re.DOTALL)
_OTHER_ASSIGNMENT = re.compile(r"(\w+)(?:\[[^]]*\])?\+?=(.*)", re.DOTALL)
_SETS = frozenset({"export", "readonly", "local", "declare", "typeset"})
_CLOSERS = frozenset({"}", "done", "fi", "esac"})
_FUNCTION = re.compile(r"(?:^|[\s;&|])(?:function\s|[\w.:-]+\s*\(\s*\))")
_OF_THE_SHELL = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "BASHOPTS", "SHELLOPTS"})
"""Variables that the running shell sets: the worker's values do not apply."""

_BLANKS = re.compile(r"[ \t\n]+")
_GLOB = re.compile(r"[*?\[]")
_BRACES = re.compile(r"\{[^}]*(?:,|\.\.)[^}]*\}")
_SEVERAL = re.compile(r"\$(?:@|\{(?:@|\w+\[@\]))")

UNKNOWN_TEXT = "***"
"""Replacement for the output of a command, in an event."""


@dataclass(frozen=True)
class Word:
    """A word of a command."""

    value: str | None
    """As the command gets it; None if only the running shell knows it."""

    spelled: str
    """The value, with `${name}` for each unknown part."""

    shown: str | None
    """As written in the script, without quotes and with the names of variables instead of their values. If
    one variable expands to several words, all but the first have None."""

    end: int | None = None
    """Position after its last character in the script; None if it is not written there as one word."""

    may_vanish: bool = False
    """It consists of unquoted unknown variables: may expand to zero, one or several words."""

    is_fixed: bool = True
    """It is one word for certain, so text can be added to it."""


@dataclass(frozen=True)
class Command:
    """One simple command."""

    words: tuple[Word, ...]
    """The command's name and its arguments."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables exported by the script or assigned before the command (`A=1 command`), without secrets."""

    assigned: frozenset[str] = frozenset()
    """Names of all variables set or unset by the script so far, or assigned before the command."""

    sourced: tuple[str | None, ...] = ()
    """Files that the shell has sourced so far; None for an unknown one."""

    directory: str | None = ""
    """Current folder, after `cd`: empty for the script's initial folder, None if it is unknown."""

    standard_input: str | None = None
    """Text that the command reads, or if not `is_text`, the path after `<`."""

    is_text: bool = False

    is_background: bool = False
    """The shell may not wait for it."""


def commands(script: str, variables: Mapping[str, str]) -> Iterator[Command]:
    """Yield the commands of all branches of a script, in the order of the text.

    `variables` are the process's environment. Raise `MalformedError` if quotes or brackets are not closed.

    >>> script = commands("cd /jobs && spark-submit load.py '$x' $x", {"x": "1"})
    >>> [[word.value for word in command.words] for command in script]
    [['cd', '/jobs'], ['spark-submit', 'load.py', '$x', '1']]
    """
    yield from _Reader(tokens(script), variables, has_functions=bool(_FUNCTION.search(script))).commands()


@dataclass(frozen=True)
class _Piece:
    """Part of a word, expanded."""

    value: str | None
    shown: str
    spelled: str
    is_split: bool = False
    """The shell splits the value at blanks."""

    is_quoted: bool = False


class _Reader:
    def __init__(
        self, script: list[Token], variables: Mapping[str, str | None], *, has_functions: bool
    ) -> None:
        self._tokens = script
        self._has_functions = has_functions
        hidden = (name for name in variables if is_secret(name) or name in _OF_THE_SHELL)
        self._variables: dict[str, str | None] = {**variables, **dict.fromkeys(hidden)}
        self._set: dict[str, str | None] = {}
        self._exported: set[str] = set()
        self._sourced: list[str | None] = []
        self._directory: str | None = ""
        self._outer: list[str | None] = []
        self._words: list[Token] = []
        self._input: tuple[str | None, bool] = (None, False)
        self._substituted: dict[str, None] = {}
        """Command substitutions in the current command, `$(...)` for example."""

        self._found: list[Command] = []
        self._line_start = 0
        """Number of the first command in the current list (`a && b | c`)."""

        self._has_group = False
        """A subshell, a loop or a condition has ended in that list."""

    def commands(self) -> list[Command]:
        redirection = ""
        for token in self._tokens:
            if token.kind == REDIRECTION:
                redirection = token.text.lstrip("0123456789")
                continue
            if token.kind == DOCUMENT:
                text = token.text if token.is_literal else self._document(token.text)
                self._input = (text, True)
            elif token.kind == WORD and redirection:
                if redirection in ("<<<", "<"):
                    self._input = (self._value(token.text), redirection == "<<<")
            elif token.kind == WORD:
                self._words.append(token)
            else:
                self._end()
                self._follow(token.text)
            redirection = ""
        self._end()
        return self._found

    def _follow(self, operator: str) -> None:
        """Restore the folder after a subshell; mark commands that `&` runs in the background."""
        if operator == "(":
            self._outer.append(self._directory)
        elif operator == ")":
            self._has_group = True
            if self._outer:
                self._directory = self._outer.pop()
        elif operator == "&":
            # The commands of groups and functions are not tracked: all earlier ones may be in it.
            start = 0 if self._has_group or self._has_functions else self._line_start
            later = [replace(command, is_background=True) for command in self._found[start:]]
            self._found[start:] = later
        if operator in (";", "\n", "&", ";;", ";&", ";;&"):
            self._line_start, self._has_group = len(self._found), False

    def _end(self) -> None:
        """Add the command that has been read, and apply its assignments."""
        read, self._words = self._words, []
        (given, is_text), self._input = self._input, (None, False)
        before: dict[str, str | None] = {}
        while read and (pair := self._assignment(read[0].text)):
            before[pair[0]] = pair[1]
            read = read[1:]
        words = [word for token in read for word in self._fields(token)]
        self._substitute()
        if not words:
            self._assign(before)
            return
        name = words[0].value
        self._has_group = self._has_group or name in _CLOSERS
        texts = [token.text for token in read[1:]]
        if name in _SETS:
            self._assign(dict(pair for text in texts if (pair := self._assignment(text))))
            if name == "export":
                self._exported.update(text.partition("=")[0] for text in texts)
        elif name in ("for", "read", "select", "unset", "mapfile", "readarray"):
            # A loop or input sets them.
            names = [text for text in texts if text.isidentifier()]
            self._variables.update(dict.fromkeys(names))
            self._set.update(dict.fromkeys(names))
        elif name in ("source", "."):
            self._sourced.append(words[1].value if len(words) > 1 else None)
        elif name in ("cd", "pushd", "popd"):
            self._change_directory([word.value for word in words[1:] if not word.spelled.startswith("-")])
        self._substituted.clear()
        exported = {name: value for name, value in self._set.items() if name in self._exported}
        self._found.append(
            Command(
                words=tuple(words),
                variables=_plain({**exported, **before}),
                assigned=frozenset((*self._set, *before)),
                sourced=tuple(self._sourced),
                directory=self._directory,
                standard_input=given,
                is_text=is_text,
            )
        )

    def _substitute(self) -> None:
        """Add the commands in substitutions, which run before the command, in a subshell."""
        for text in self._substituted:
            inner = text[1:-1].replace("\\`", "`") if text[0] == "`" else text[2:-1]
            if not text.startswith(("$(", "`", "<(", ">(")) or text.startswith("$((") or "spark" not in inner:
                continue
            reader = _Reader(tokens(inner), self._variables, has_functions=self._has_functions)
            reader._set, reader._exported = dict(self._set), set(self._exported)
            reader._sourced, reader._directory = [*self._sourced], self._directory
            for command in reader.commands():
                words = tuple(replace(word, end=None) for word in command.words)
                self._found.append(replace(command, words=words))
        self._substituted.clear()

    def _assignment(self, text: str) -> tuple[str, str | None] | None:
        """Return the name and the value of an assignment; None for another word."""
        if pair := _ASSIGNMENT.fullmatch(text):
            return pair[1], None if pair[2].startswith("(") else self._value(pair[2])
        other = _OTHER_ASSIGNMENT.fullmatch(text)
        return (other[1], None) if other else None

    def _assign(self, values: Mapping[str, str | None]) -> None:
        for name, value in values.items():
            # A name with two values is unknown: an assignment may depend on a condition.
            is_known = (name not in self._set or self._set[name] == value) and not is_secret(name)
            self._set[name] = self._variables[name] = value if is_known else None

    def _change_directory(self, words: list[str | None]) -> None:
        path = words[0] if words else None
        if path is None or path == "-" or path.startswith("~"):
            self._directory = None
        elif path.startswith("/"):
            self._directory = path
        elif self._directory is not None:
            self._directory = f"{self._directory}/{path}" if self._directory else path

    # ---- Expansions --------------------------------------------------------------------------------

    def _value(self, text: str) -> str | None:
        """Return the value of a word that the shell does not split, as in an assignment."""
        return _joined(piece.value for piece in self._pieces(text))

    def _document(self, text: str) -> str:
        """Return the text of a here-document, with `${name}` for each unknown part."""
        return "".join(self._piece(*part).spelled for part in quoted_parts(text, "\\$`\n"))

    def _fields(self, token: Token) -> list[Word]:
        """Return the words that a token expands to: unquoted variables are split at blanks."""
        pieces = [*self._pieces(token.text)]
        shown = "".join(piece.shown for piece in pieces)
        fields: list[list[_Piece]] = [[]]
        for piece in pieces:
            if not piece.is_split or piece.value is None:
                fields[-1].append(piece)
                continue
            for number, value in enumerate(_BLANKS.split(piece.value)):
                if number:
                    fields.append([])
                if value:
                    fields[-1].append(replace(piece, value=value, spelled=value))
        fields = [each for each in fields if any(piece.is_quoted or piece.spelled for piece in each)]
        end = token.end if len(fields) == 1 else None
        return [_word(each, None if number else shown, end) for number, each in enumerate(fields)]

    def _pieces(self, text: str) -> Iterator[_Piece]:
        for kind, part in parts(text):
            if kind == "quoted":
                inner = [self._piece(*each) for each in quoted_parts(part)]
                is_several = _SEVERAL.search(part) is not None
                yield _Piece(
                    value=None if is_several else _joined(piece.value for piece in inner),
                    shown="".join(piece.shown for piece in inner),
                    spelled="".join(piece.spelled for piece in inner),
                    is_split=is_several,
                    is_quoted=True,
                )
            else:
                yield replace(
                    self._piece(kind, part),
                    is_split=kind in ("variable", "unknown"),
                    is_quoted=kind == "literal",
                )

    def _piece(self, kind: str, text: str) -> _Piece:
        """Return one part of a word, expanded."""
        if kind == "unknown":
            self._substituted[text] = None
            return _Piece(None, UNKNOWN_TEXT, "${shell}")
        if kind != "variable":
            return _Piece(text, text, text)
        match = _BRACED.fullmatch(text[1:])
        if match is None:
            return _Piece(None, UNKNOWN_TEXT, "${shell}")
        name, has_colon, default = match.groups()
        value = self._variables.get(name)
        if name not in self._variables or (has_colon and value == ""):
            value = default
        shown = f"${{{name}}}"
        # If IFS is set, words may be separated by other characters than blanks.
        if "IFS" in self._variables:
            value = None
        return _Piece(value, shown, shown if value is None else value)


def _word(pieces: list[_Piece], shown: str | None, end: int | None) -> Word:
    bare = "".join(piece.spelled for piece in pieces if not piece.is_quoted)
    # Local files that match a pattern decide its value; URIs of other systems are not expanded.
    is_pattern = _GLOB.search(bare) is not None or _BRACES.search(bare.replace("${", "")) is not None
    spelled = "".join(piece.spelled for piece in pieces)
    is_open = any(piece.value is None and piece.is_split for piece in pieces)
    value = _joined(piece.value for piece in pieces)
    return Word(
        value=None if is_pattern and "://" not in spelled else value,
        spelled=spelled,
        shown=shown,
        end=end,
        may_vanish=is_open and all(piece.value is None for piece in pieces),
        is_fixed=not is_open and not is_pattern,
    )


def _joined(values: Iterable[str | None]) -> str | None:
    values = [*values]
    known = [value for value in values if value is not None]
    return "".join(known) if len(known) == len(values) else None


def _plain(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None and not is_secret(name)}
