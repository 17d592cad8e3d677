"""Removes the values of secrets that SQL writes in another form than one plain literal.

`credentials` removes `password 'x'` and `password = 'x'`. Here are the other forms that a value may have for
Spark's parser or for a database: a prefix (`r'x'`), adjacent literals, dollar quotes, comments before the
value, and expressions (`concat('a', 'b')`). Each value is read forward from its name, without backtracking.
Also runs on the cluster's driver: standard library only, Python 3.9 syntax.
"""

from __future__ import annotations

import re
from bisect import bisect
from typing import Dict, List, NamedTuple, Optional, Tuple

KEY_WORDS = r"""
    password | passwd | passphrase | secret | token | credential s?
    | api[_.-]?key | access[_.-]?key (?:[_.-]?id)? | account[_.-]?key | private[_.-]?key | signature
    | encryption[_.-]?key | \bpw\b"""
"""Words that make a name the name of a secret, anywhere in it."""

SHORT_KEY_WORDS = "pass | pwd | sas | sig | auth | authorization"
"""Words that do so only at its end."""

_REMOVED = "'***'"
_FLAGS = re.IGNORECASE | re.VERBOSE | re.DOTALL

_LETTER = r"(?: [\w.] | -(?!-) )"
"""A letter of a name; two hyphens begin a comment."""

_NAME = re.compile(
    rf"(?: {KEY_WORDS} ) {_LETTER}* | (?<! [a-z0-9] ) (?: {SHORT_KEY_WORDS} ) (?! {_LETTER} )", _FLAGS
)
_IN_NAME = re.compile(r"[\w.-]")
_CLOSING = {quote: re.compile(rf"(?:\\*{quote})*") for quote in "\"'`"}
"""Quote before a name -> what may be behind it, also inside of another literal."""

_SEPARATOR = re.compile("=> | -> | ={1,3} | :(?!:)", _FLAGS)
_SPACE = re.compile(r"\s*")
_COMMENT_MARKS = re.compile(r"/\*|\*/")
# A backslash at its end continues a comment on the next line.
_LINE_COMMENT = re.compile(r"--(?:\\\r?\n|[^\r\n])*")

_PREFIX = r"(?: [rxbneuq] | br | rb | nq | u& | _[a-z]\w{0,20} )"
"""Spark's `r'x'` and `X'1F'`, and prefixes of databases; few, because `I'm` and `it's` are words."""

_STRING = re.compile(rf"""(?P<prefix> {_PREFIX} )? (?P<escape> \\* ) (?P<quote> ['"] )""", _FLAGS)
_DOUBLED = re.compile(r"""(["'])\1(?![\s"',;)|+\\]|\Z)""")
"""Beginning of a literal inside of another one, as in `execute immediate 'set password = \'\'x\'\''`."""

_DOLLARS = re.compile(r"\$(?:[^\W\d]\w*)?\$")
_NUMBER = re.compile(
    r"[+-]? \s* (?: \d+ (?: \.\d* )? | \.\d+ ) (?: e[+-]?\d+ )? (?: bd | [lsyfd] )? (?! [\w.] )", _FLAGS
)
_TYPE = re.compile(r"(?: date | time | timestamp (?: _ntz | _ltz )? | interval ) \b", _FLAGS)
_UNIT = re.compile(r"(?: \s* [a-z]+ (?: \s+ to \s+ [a-z]+ )? )?", _FLAGS)
_CASE = re.compile(r"case\b", re.IGNORECASE)
_WORDS = re.compile(r"(?: `[^`]*` | [^\W\d]\w* ) (?: \. (?: `[^`]*` | \w+ ) )*", _FLAGS)
_OPERATOR = re.compile(r"\|\||\+")
_INSIDE = re.compile(
    rf"""(?: (?<!\w) {_PREFIX} )? \\* ['"] | \$ (?: [^\W\d]\w* )? \$ | -- | /\* | `[^`]*`
    | (?P<open> \( | \bcase\b ) | (?P<close> \) | \bend\b )""",
    _FLAGS,
)
"""What counts inside of parentheses, and between CASE and END."""

_NO_FUNCTIONS = frozenset(
    """and as between by except exists from having in intersect is join like limit not on or over select union
    using values where with""".split()
)
"""Words that may stand between a column and a parenthesis."""

_CLOSING_MARKS = {"[": "]", "{": "}", "<": ">", "(": ")"}
"""Of Oracle's `q'[it's]'`."""


def without_values_of_secrets(text: str) -> str:
    """Replace each value of a secret that is not one plain literal by `'***'`.

    >>> without_values_of_secrets("options (password r'hunter2', sas_token /* new */ 'hun' 'ter2', a 'b')")
    "options (password '***', sas_token '***', a 'b')"
    """
    return _LiteralReader(text).clean()


class _Value(NamedTuple):
    start: int
    """Position where the replaced text begins."""

    end: int
    removed: Optional[str]
    """What replaces it; None for a plain value, which the rules of `credentials` remove."""


class _LiteralReader:
    """Reads the values of one text. A value without an end goes on until the end of the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._literals = 0
        """Number of literals read so far."""

        self._comments: Optional[Tuple[Dict[int, int], List[int]]] = None
        self._line = (0, 0)
        """The last comment that ended with its line: names inside of it do not read it again."""

        self._barren = 0
        """End of the last brackets without literals, for the same reason."""

    def clean(self) -> str:
        """Return the text without the values that are not plain."""
        parts: List[str] = []
        done = at = 0
        while match := _NAME.search(self._text, at):
            name = match.start()
            while name > at and _IN_NAME.match(self._text, name - 1):
                name -= 1
            at = match.end()
            value = self._value(name, at)
            if value is not None:
                at = value.end
                if value.removed is not None:
                    parts += [self._text[done : value.start], value.removed]
                    done = at
        return "".join([*parts, self._text[done:]])

    def _value(self, name: int, end: int) -> Optional[_Value]:
        """Return the value behind a name; None if there is none, or if it has no literal."""
        text, literals = self._text, self._literals
        closing = _CLOSING.get(text[name - 1 : name])
        closed = _end(closing, text, end) if closing else end
        after = self._skip(closed)
        separator = _SEPARATOR.match(text, after)
        start = self._skip(separator.end()) if separator else after
        string, number = _STRING.match(text, start), _NUMBER.match(text, start)
        # Without a separator, anything but a literal behind a space is a value in a list of properties only.
        needs_list = not separator and not (string and start > closed)
        if needs_list and not self._is_listed(name):
            return None
        first = self._operand(start, is_alone=not separator)
        whole = self._run(first) if first is not None else None
        if whole is None or self._literals == literals:
            return None
        behind = self._skip(whole)
        # A text may be cut; but the end of a sentence with an apostrophe is not a value.
        is_cut = behind == len(text) and start > closed
        if needs_list and not is_cut and not text.startswith((",", ")"), behind):
            return None
        mark = separator[0] if separator else ""
        if text[closed:start].replace(mark, "", 1).strip():
            # A comment may have an older secret.
            return _Value(closed, whole, f" {mark} {_REMOVED}" if mark else f" {_REMOVED}")
        is_simple = bool(number and separator)
        if string and not string["prefix"]:
            is_simple = not _DOUBLED.match(text, string.end() - 1)
        is_plain = whole == first and is_simple and not needs_list
        return _Value(start, whole, None if is_plain else _REMOVED)

    def _is_listed(self, name: int) -> bool:
        """Return whether a name stands where a property of a list begins, or behind a comment."""
        before = self._text[max(name - 200, 0) : name].rstrip("\"'`\\").rstrip()
        return before.endswith(("(", ",", ".", "*/")) or "--" in before.rpartition("\n")[2]

    def _run(self, at: int) -> int:
        """Return the end of adjacent literals and of operands with `||` between them."""
        text = self._text
        while True:
            after = self._skip(at)
            operator = _OPERATOR.match(text, after)
            end = None
            if operator:
                end = self._operand(self._skip(operator.end()), is_alone=False)
            elif text[at - 1] in "'\"$":
                end = self._literal(after)
            if end is None:
                return at
            at = end

    def _operand(self, at: int, *, is_alone: bool) -> Optional[int]:
        """Return the end of a literal, a call, a CASE, something in parentheses, or (not alone) a name."""
        text = self._text
        number = _NUMBER.match(text, at)
        if number:
            self._literals += 1
            return number.end()
        literal = self._literal(at)
        if literal is not None:
            return literal
        typed = _TYPE.match(text, at)
        if typed:
            literal = self._literal(self._skip(typed.end()))
            if literal is not None:
                return _end(_UNIT, text, literal) if typed[0].lower() == "interval" else literal
        if text.startswith("(", at) or _CASE.match(text, at):
            return self._nested(at)
        words = _WORDS.match(text, at)
        if not words:
            return None
        after = self._skip(words.end())
        if text.startswith("(", after) and not (is_alone and words[0].lower() in _NO_FUNCTIONS):
            return self._nested(after)
        return None if is_alone else words.end()

    def _nested(self, at: int) -> int:
        """Return the end of parentheses, or of a CASE."""
        text, literals, depth = self._text, self._literals, 0
        if at < self._barren:
            return at + 1
        start = at
        while match := _INSIDE.search(text, at):
            at = match.end()
            literal = self._literal(match.start())
            if literal is not None:
                at = literal
            elif match[0] in ("--", "/*"):
                at = self._skip(match.start())
            elif match["open"]:
                depth += 1
            elif match["close"]:
                depth -= 1
                if depth <= 0:
                    break
        else:
            at = len(text)
        if self._literals == literals:
            self._barren = at
            return start + 1
        return at

    def _literal(self, at: int) -> Optional[int]:
        """Return the end of the quoted literal that begins here; None if there is none."""
        text = self._text
        dollars = _DOLLARS.match(text, at)
        string = None if dollars else _STRING.match(text, at)
        if dollars:
            end = _behind(text, dollars[0], dollars.end())
        elif string:
            end = self._string(string)
        else:
            return None
        self._literals += 1
        return end

    def _string(self, opening: re.Match[str]) -> int:
        text, start, quote = self._text, opening.end(), opening["quote"]
        prefix = (opening["prefix"] or "").lower()
        if opening["escape"]:
            return _behind(text, opening["escape"] + quote, start)
        if "q" in prefix:
            mark = text[start : start + 1]
            closing = text.find(_CLOSING_MARKS.get(mark, mark) + quote, start + 1)
            if closing >= 0:
                return closing + 2
        if _DOUBLED.match(text, start - 1):
            return _behind(text, quote * 2, start + 1)
        if "r" in prefix:
            return _behind(text, quote, start)
        for match in re.compile(rf"\\|{quote}").finditer(text, start):
            if match.start() < start:
                continue
            is_escape = match[0] == "\\" or text.startswith(quote, match.end())
            if not is_escape:
                return match.end()
            start = match.end() + 1
        return len(text)

    def _skip(self, at: int) -> int:
        """Return the end of the spaces and comments that begin here."""
        text = self._text
        while True:
            at = _end(_SPACE, text, at)
            if text.startswith("--", at):
                if not self._line[0] <= at < self._line[1]:
                    self._line = (at, _end(_LINE_COMMENT, text, at))
                at = self._line[1]
            elif text.startswith("/*", at):
                at = self._end_of_comment(at)
            else:
                return at

    def _end_of_comment(self, at: int) -> int:
        """Return the end of a comment: of its own nested marks, or else at the first mark."""
        if self._comments is None:
            ends: Dict[int, int] = {}
            opened: List[int] = []
            closed: List[int] = []
            for mark in _COMMENT_MARKS.finditer(self._text):
                if mark[0] == "/*":
                    opened.append(mark.start())
                    continue
                closed.append(mark.end())
                if opened:
                    ends[opened.pop()] = mark.end()
            self._comments = ends, closed
        ends, closed = self._comments
        first = bisect(closed, at + 3)
        return ends.get(at) or (closed[first] if first < len(closed) else len(self._text))


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return the end of a pattern that matches everywhere."""
    match = pattern.match(text, at)
    return match.end() if match else at


def _behind(text: str, closing: str, at: int) -> int:
    end = text.find(closing, at)
    return end + len(closing) if end >= 0 else len(text)
