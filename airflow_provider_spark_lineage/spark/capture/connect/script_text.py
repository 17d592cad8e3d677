"""Splits an SQL script (`BEGIN ... END`) into its statements, and marks statements that certainly ran.

Reads the syntax of `singleCompoundStatement` in Spark's grammar; a script that it does not understand, or
that handles errors, raises `UnreadScriptError`. It is independent of tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Dict, List, NoReturn, Set

from airflow_provider_spark_lineage.spark.capture.connect.statements import blank, names_of, without_texts
from airflow_provider_spark_lineage.spark.records.sql_literals import SPARK

_TOKEN = re.compile(r"[A-Za-z_]\w*|[;:=,]")
_SELECT = re.compile(r"(?i)\b(?:select|table|values)\b")
_LABELLED = frozenset({"BEGIN", "FOR", "LOOP", "REPEAT", "WHILE"})
_BLOCKS = frozenset({"CASE", "FOR", "IF", "LOOP", "REPEAT", "WHILE"})
"""Blocks whose statements may not run, or run several times."""

_CONDITIONS = {"CASE": ("WHEN", "THEN"), "IF": ("THEN",), "WHILE": ("DO",)}
"""Block -> the words after the expressions at its beginning."""

_BRANCHES = {"ELSE": ("CASE", "IF"), "ELSEIF": ("IF",), "UNTIL": ("REPEAT",), "WHEN": ("CASE",)}
"""First word of a branch -> the blocks that have it."""

_EXITS = frozenset({"ITERATE", "LEAVE", "RESIGNAL", "SIGNAL"})
"""Words that end an iteration, a block, or the script; a successful script did not run SIGNAL."""

_CURSORS = frozenset({"CLOSE", "FETCH", "OPEN"})


class UnreadScriptError(ValueError):
    """The script is not understood."""


@dataclass(frozen=True)
class Piece:
    """One statement, or one expression with a query inside."""

    text: str
    line: int
    is_certain: bool
    """It ran if the script did not fail."""


@dataclass
class _Block:
    kind: str
    label: str
    is_left: bool = False
    """A LEAVE for it was read: later statements inside it may not have run."""


@dataclass
class Script:
    """The statements and variables of a script, in order."""

    pieces: List[Piece] = field(default_factory=list)
    variables: Dict[str, str] = field(default_factory=dict)
    """Name of a variable in lower case -> its type as SQL; empty if it is not in the script."""

    queried: Set[str] = field(default_factory=set)
    """Variables whose values come from queries."""


def read_script(text: str) -> Script:
    """Return the pieces of a script; raise `UnreadScriptError` if it is not understood.

    >>> [piece.text for piece in read_script("BEGIN INSERT INTO t SELECT 1; DROP TABLE u; END").pieces]
    ['INSERT INTO t SELECT 1', 'DROP TABLE u']
    """
    return _ScriptReader(text).read()


class _ScriptReader:
    """Reads a script from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = SPARK.sub(lambda match: blank(match[0]), text)
        """The text also without quoted names, which may contain any word."""

        self._tokens = [
            (match[0].upper(), match.start(), match.end()) for match in _TOKEN.finditer(self._plain)
        ]
        self._at = 0
        self._open: List[_Block] = []
        self._script = Script()

    def read(self) -> Script:
        if self._word() != "BEGIN":
            self._fail()
        self._statement()
        while self._open:
            self._statement()
        self._skip(";")
        if self._at < len(self._tokens):
            self._fail()
        return self._script

    # Tokens.

    def _word(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at][0] if at < len(self._tokens) else ""

    def _skip(self, *words: str) -> bool:
        is_next = self._word() in words
        self._at += is_next
        return is_next

    def _through(self, *stops: str) -> str:
        """Return the text up to one of the words outside of CASE expressions, and skip that word."""
        begin = self._tokens[self._at - 1][2]
        cases = 0
        while self._at < len(self._tokens):
            word, start, _ = self._tokens[self._at]
            self._at += 1
            if word in stops and not cases:
                return self._text[begin:start]
            cases += (word == "CASE") - (word == "END" and cases > 0)
        return self._fail()

    def _fail(self) -> NoReturn:
        raise UnreadScriptError("its text is not understood")

    # Statements.

    def _statement(self) -> None:
        label = ""
        if self._word(1) == ":" and self._word(2) in _LABELLED:
            label = self._word()
            self._at += 2
        word = self._word()
        self._at += 1
        if word == "BEGIN":
            self._open.append(_Block(word, label))
            self._skip("NOT") and self._skip("ATOMIC")
        elif word == "END":
            self._end()
        elif word in _BLOCKS:
            self._block(word, label)
        elif word in ("ELSE", "ELSEIF", "WHEN", "UNTIL"):
            self._branch(word)
        elif word == "DECLARE":
            self._declare()
        elif word in _EXITS:
            if word == "LEAVE":
                self._leave(self._word())
            self._through(";")
        elif word == "SET":
            self._skip("VARIABLE", "VAR")
            names = [name.strip("` \n()").lower() for name in self._through("=").split(",")]
            self._assign(names, self._through(";"))
        elif not word[:1].isalpha():
            self._fail()
        elif word in _CURSORS:
            raise UnreadScriptError("it has a cursor")
        else:
            self._sql()

    def _sql(self) -> None:
        """Add a statement whose first word has been read, up to its semicolon, without comments before it."""
        rest = self._plain[self._tokens[self._at - 2][2] :]
        start = len(self._plain) - len(rest.lstrip())
        while self._word() and self._word() != ";":
            self._at += 1
        if not self._skip(";"):
            self._fail()
        self._add(self._text[start : self._tokens[self._at - 1][1]], start)

    def _add(self, text: str, start: int) -> None:
        line = self._text.count("\n", 0, start) + 1
        is_certain = not any(block.is_left or block.kind in _BLOCKS for block in self._open)
        self._script.pieces.append(Piece(text.strip(), line, is_certain))

    def _add_expression(self, text: str) -> None:
        """Add an expression that has just been read as a query, if it contains a query."""
        if _SELECT.search(without_texts(text)):
            self._add(f"SELECT {text.strip()}", self._tokens[self._at - 2][1])

    def _leave(self, label: str) -> None:
        """Mark the block that may be left."""
        left = next((block for block in reversed(self._open) if block.label == label), self._open[0])
        left.is_left = True

    def _end(self) -> None:
        kind = self._open.pop().kind if self._open else ""
        if kind != "BEGIN" and not self._skip(kind):
            self._fail()
        if self._word() not in ("", ";"):
            self._at += 1  # The label.
        if self._open and not self._skip(";"):
            self._fail()

    def _block(self, word: str, label: str) -> None:
        if word == "FOR":
            if self._word(1) == "AS":
                self._at += 2
            self._add(self._through("DO"), self._tokens[self._at - 2][1])
        for stop in _CONDITIONS.get(word, ()):
            self._add_expression(self._through(stop))
        self._open.append(_Block(word, label))

    def _branch(self, word: str) -> None:
        inside = self._open[-1].kind if self._open else ""
        if inside not in _BRANCHES[word]:
            self._fail()
        if word == "UNTIL":
            self._add_expression(self._through("END"))
            self._at -= 1
        elif word != "ELSE":
            self._add_expression(self._through("THEN"))

    def _declare(self) -> None:
        words = [word for word, _, _ in takewhile(lambda token: token[0] != ";", self._tokens[self._at :])]
        if "HANDLER" in words:
            raise UnreadScriptError("it handles errors, and may have skipped statements")
        if "CURSOR" in words:
            raise UnreadScriptError("it has a cursor")
        if "CONDITION" in words:
            self._at += len(words) + 1
            return
        if self._skip("OR"):
            self._skip("REPLACE")
        self._skip("VARIABLE", "VAR")
        names = [self._word().lower()]
        self._at += 1
        while self._skip(","):
            names.append(self._word().lower())
            self._at += 1
        kind = self._through("DEFAULT", "=", ";").strip()
        self._script.variables.update(dict.fromkeys(names, kind))
        self._assign(names, "" if self._word(-1) == ";" else self._through(";"))

    def _assign(self, names: List[str], value: str) -> None:
        if _SELECT.search(without_texts(value)) or names_of(value) & self._script.queried:
            self._script.queried.update(names)
        self._add_expression(value)
