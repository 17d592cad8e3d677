"""A script of a shell as simple commands with their words: no more of its grammar than a launch needs.

Nothing is run. A word that only the running shell knows (`$(date)`, a variable set elsewhere) is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

_SUBSTITUTION = (
    r"""(?: \$\( (?: [^()] | \( (?: [^()] | \( [^()]* \) )* \) )* \) | ` (?: \\. | [^`\\] )* ` )"""
)
"""`$(command)`, with brackets inside, and the same in its old form."""

_QUOTED = rf"""(?: \\. | {_SUBSTITUTION} | \$(?!\() | [^"\\$`] )*"""

_TOKEN = re.compile(
    rf"""
      (?P<blank> [ \t\r]+ | \\\r?\n )
    | (?P<comment> \# [^\n]* )
    | (?P<redirection> \d? (?: <<< | <<-? | >>? | <> | < | >[|&] | &>>? | <& ) )
    | (?P<operator> && | \|\|? | ;;? | & | \n | [()] )
    | (?P<word> (?: ' [^']* ' | " {_QUOTED} " | {_SUBSTITUTION} | \$\{{ [^}}]* \}} | \\.
                  | \$(?![({{]) | [^\s'"`\\;&|()<>$] )+ )
    """,
    re.VERBOSE | re.DOTALL,
)

_EXPANSION = rf"""
      (?P<unknown> {_SUBSTITUTION} )
    | \$ (?: \{{ (?P<braced> [^}}]* ) \}} | (?P<variable> \w+ | [@*\#?$!-] ) )"""

_PART = re.compile(
    rf"""
      ' (?P<literal> [^']* ) '
    | " (?P<quoted> {_QUOTED} ) "
    | \\ (?P<escaped> . )
    | {_EXPANSION}
    | (?P<plain> [^'"\\$`]+ | \$ )
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_QUOTES = re.compile(
    rf"""
      \\ (?P<escaped> ["\\$`\n] )
    | {_EXPANSION}
    | (?P<plain> [^\\$`]+ | [\\$`] )
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACED = re.compile(r"(\w+)(?::?-(.*))?", re.DOTALL)
_HEREDOC = re.compile(
    r"""(?<!<) <<-? [ \t]* (?P<quote> ['"]? ) (?P<end> \w+ ) (?P=quote) (?P<rest> [^\n]* ) \n
    (?P<body> .*? ) ^ [ \t]* (?P=end) [ \t]* $""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ASSIGNMENT = re.compile(r"(\w+)=(.*)", re.DOTALL)
_SETS = frozenset({"export", "readonly", "local", "declare", "typeset"})


class MalformedError(ValueError):
    """A script that no shell would run."""


@dataclass(frozen=True)
class Command:
    """One simple command."""

    words: tuple[str | None, ...]
    """The command's name and its arguments; None for a word that is not known."""

    spelled: tuple[str, ...]
    """The same words, where `${name}` stands for what is not known."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """What the script has exported, and what stands before the command."""

    directory: str | None = ""
    """Where `cd` has led: empty for the folder in which the script starts, None where it is not known."""

    standard_input: str | None = None
    """The text, or the path after `<`, that the command reads; see `is_text`."""

    is_text: bool = False

    ends: tuple[int, ...] = ()
    """Where each word ends in the script; empty where the words are no part of a script."""


def commands(script: str, variables: Mapping[str, str]) -> Iterator[Command]:
    """Yield the commands of a script in the order of the text, on all branches.

    `variables` are those of the process. Raise `MalformedError` where quotes or brackets are not closed.

    >>> [command.words for command in commands("cd /jobs && spark-submit load.py '$x' $x", {"x": "1"})]
    [('cd', '/jobs'), ('spark-submit', 'load.py', '$x', '1')]
    """
    bodies: list[tuple[str, bool]] = []
    moved: list[tuple[int, int]] = []
    reader = _Reader(_without_heredocs(script, bodies, moved), bodies, variables)
    for command in reader.commands():
        ends = (end + sum(by for at, by in moved if at < end) for end in command.ends)
        yield replace(command, ends=tuple(ends))


def _without_heredocs(script: str, bodies: list[tuple[str, bool]], moved: list[tuple[int, int]]) -> str:
    """Replace texts behind `<<` by `<<<` and their number: the text of one is no command.

    `bodies` gets each text, and whether the shell leaves it as it is; `moved` gets positions in the result,
    and by how much what stands behind them is further on in the script.
    """
    missing = 0

    def shorten(match: re.Match[str]) -> str:
        nonlocal missing
        bodies.append((match["body"], bool(match["quote"])))
        number = f"<<<{len(bodies) - 1}"
        start, line = match.start() - missing, f"{match['rest']}\n"
        before = match.start("rest") - match.start() - len(number)
        moved.append((start + len(number), before))
        after = len(match[0]) - len(number) - len(line) - before
        moved.append((start + len(number) + len(line), after))
        missing += before + after
        return f"{number}{line}"

    return _HEREDOC.sub(shorten, script)


class _Reader:
    def __init__(self, script: str, bodies: list[tuple[str, bool]], variables: Mapping[str, str]) -> None:
        self._script = script
        self._bodies = bodies
        self._variables: dict[str, str | None] = dict(variables)
        self._set: dict[str, str | None] = {}
        self._exported: set[str] = set()
        self._directory: str | None = ""
        self._outer: list[str | None] = []
        self._words: list[tuple[str, str | None]] = []
        self._ends: list[int] = []
        self._input: tuple[str | None, bool] = (None, False)

    def commands(self) -> Iterator[Command]:
        at, redirected = 0, ""
        while at < len(self._script):
            token = _TOKEN.match(self._script, at)
            if token is None:
                line = self._script.count("\n", 0, at) + 1
                raise MalformedError(f"line {line}: a quote or a bracket is not closed")
            at, text = token.end(), token[0]
            if token.lastgroup == "redirection":
                redirected = text
            elif token.lastgroup == "word" and redirected:
                self._redirect(redirected.lstrip("0123456789"), text)
                redirected = ""
            elif token.lastgroup == "word":
                self._words.append((text, self._value(text)))
                self._ends.append(at)
            elif token.lastgroup == "operator":
                yield from self._end()
                self._enter(text)
        yield from self._end()

    def _enter(self, operator: str) -> None:
        """Follow a subshell, whose `cd` ends with it."""
        if operator == "(":
            self._outer.append(self._directory)
        elif operator == ")" and self._outer:
            self._directory = self._outer.pop()

    def _redirect(self, operator: str, word: str) -> None:
        if operator == "<<<" and word.isdecimal() and int(word) < len(self._bodies):
            body, is_literal = self._bodies[int(word)]
            self._input = (body if is_literal else self._expanded(body, _IN_QUOTES, is_spelled=True), True)
        elif operator in ("<<<", "<"):
            self._input = (self._value(word), operator == "<<<")

    def _end(self) -> Iterator[Command]:
        """Yield the command that has been read; remember what it sets."""
        words, self._words = self._words, []
        ends, self._ends = self._ends, []
        (given, is_text), self._input = self._input, (None, False)
        before: dict[str, str | None] = {}
        while words and (assignment := _ASSIGNMENT.fullmatch(words[0][0])):
            before[assignment[1]] = self._value(assignment[2])
            words = words[1:]
        if not words:
            self._assign(before)
            return
        name = words[0][1]
        if name in _SETS:
            pairs = [_ASSIGNMENT.fullmatch(text) for text, _ in words[1:]]
            self._assign({pair[1]: self._value(pair[2]) for pair in pairs if pair})
            if name == "export":
                self._exported.update(text.partition("=")[0] for text, _ in words[1:])
        elif name in ("for", "read", "select"):
            # What a loop or the user gives.
            self._variables.update((text, None) for text, _ in words[1:] if text.isidentifier())
        elif name in ("cd", "pushd"):
            self._change_directory([value for text, value in words[1:] if not text.startswith("-")])
        exported = {name: value for name, value in self._set.items() if name in self._exported}
        known = {name: value for name, value in {**exported, **before}.items() if value is not None}
        yield Command(
            words=tuple(value for _, value in words),
            spelled=tuple(self._expanded(text, _PART, is_spelled=True) or "" for text, _ in words),
            variables=known,
            directory=self._directory,
            standard_input=given,
            is_text=is_text,
            ends=tuple(ends[len(ends) - len(words) :]),
        )

    def _assign(self, values: Mapping[str, str | None]) -> None:
        for name, value in values.items():
            # A name with two values is not known: one of them may stand below a condition.
            is_known = name not in self._set or self._set[name] == value
            self._set[name] = self._variables[name] = value if is_known else None

    def _change_directory(self, words: list[str | None]) -> None:
        path = words[0] if words else None
        if path is None or path == "-" or path.startswith("~"):
            self._directory = None
        elif path.startswith("/"):
            self._directory = path
        elif self._directory is not None:
            self._directory = f"{self._directory}/{path}" if self._directory else path

    def _value(self, word: str) -> str | None:
        """Return a word as the command gets it; None where that is not known."""
        return self._expanded(word, _PART, is_spelled=False)

    def _expanded(self, text: str, parts: re.Pattern[str], *, is_spelled: bool) -> str | None:
        values = [self._part(part, is_spelled=is_spelled) for part in parts.finditer(text)]
        known = [value for value in values if value is not None]
        return "".join(known) if len(known) == len(values) else None

    def _part(self, part: re.Match[str], *, is_spelled: bool) -> str | None:
        kind = part.lastgroup
        if kind == "quoted":
            return self._expanded(part["quoted"], _IN_QUOTES, is_spelled=is_spelled)
        if kind in ("unknown", "variable", "braced"):
            name = _BRACED.fullmatch(part[kind])
            value = self._variables.get(name[1], name[2]) if name and kind != "unknown" else None
            if value is None and is_spelled:
                return f"${{{name[1] if name else 'shell'}}}"
            return value
        text = part[kind] if kind else ""
        return "" if kind == "escaped" and text == "\n" else text
