"""Tokens of a shell script, with positions: words, operators, redirections and here-documents.

A script that cannot be read for certain raises `MalformedError`: quoted text is never taken for a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

WORD, OPERATOR, REDIRECTION, DOCUMENT = "word", "operator", "redirection", "document"

_BETWEEN = re.compile(r"(?: [ \t]+ | \\\n )+", re.VERBOSE)
_COMMENT = re.compile(r"#[^\n]*")
_REDIRECTION = re.compile(r"(?:\d+|\{\w+\})?(<<<|<<-?|<>|<&|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)")
_OPERATOR = re.compile(r"&&|\|\||\|&|\||;;&|;;|;&|;|&|\n|[()]")
_PLAIN = re.compile(r"[^ \t\n'\"`\\;&|()<>$]+")
_ARRAY = re.compile(r"\w+(?:\[[^]]*\])?\+?=")
_ANSI = re.compile(r"\$'(?:\\.|[^'\\])*'", re.DOTALL)
_UNSURE = re.compile(r"(?<!<)<<(?!<)|(?<![\w-])case(?![\w-])|(?<=[\s(;&|])#")
"""Texts that make the end of `$(...)` hard to find: here-documents, patterns of `case`, comments."""

_VARIABLE = re.compile(r"\$(?:\w+|[@*#?$!-])?")
_NO_END = "a here-document has no end"


class MalformedError(ValueError):
    """A script that no shell would run, or whose quotes cannot be read for certain.

    Its message goes into events, and does not quote the script: any word may be a secret.
    """


@dataclass(frozen=True)
class Token:
    """Piece of a script, for example a word or the text of a here-document."""

    kind: str
    text: str
    end: int
    is_literal: bool = False
    """The shell expands nothing in this here-document."""


def tokens(script: str) -> list[Token]:
    """Return the tokens of a script; raise `MalformedError` if quotes or brackets are not closed.

    >>> [token.text for token in tokens("spark-submit 'a b.py' >log 2>&1 && echo $(date)")]
    ['spark-submit', "'a b.py'", '>', 'log', '2>&', '1', '&&', 'echo', '$(date)']
    """
    result: list[Token] = []
    waiting: list[tuple[int, str, bool]] = []
    """Here-documents that begin after the line: number of the token, delimiter, `<<-` (ignores tabs)."""

    at, redirection = 0, ""
    try:
        while at < len(script):
            start = at
            if match := (_BETWEEN.match(script, at) or _COMMENT.match(script, at)):
                at = match.end()
                continue
            if match := _REDIRECTION.match(script, at):
                at = match.end()
                redirection = match[1]
                result.append(Token(REDIRECTION, match[0], at))
            elif match := _OPERATOR.match(script, at):
                at, redirection = match.end(), ""
                result.append(Token(OPERATOR, match[0], at))
                if match[0] == "\n":
                    for number, delimiter, is_indented in waiting:
                        body, at = _document(script, at, result[number], delimiter, is_indented=is_indented)
                        result[number] = replace(result[number], text=body)
                    waiting.clear()
            else:
                at = _word_end(script, at)
                text = script[start:at]
                if redirection in ("<<", "<<-"):
                    delimiter = _unquoted(text)
                    waiting.append((len(result), delimiter, redirection == "<<-"))
                    result.append(Token(DOCUMENT, "", at, is_literal=delimiter != text))
                else:
                    result.append(Token(WORD, text, at))
                redirection = ""
    except IndexError:
        raise MalformedError(f"{_line(script, start)}: a quote or a bracket is not closed") from None
    if waiting:
        raise MalformedError(f"{_line(script, result[waiting[0][0]].end)}: {_NO_END}")
    return result


def _line(script: str, at: int) -> str:
    return f"line {script.count(chr(10), 0, at) + 1}"


def _document(script: str, at: int, token: Token, delimiter: str, *, is_indented: bool) -> tuple[str, int]:
    """Return the text of a here-document that begins at a position, and the end of the delimiter's line."""
    lines: list[str] = []
    while at < len(script):
        line, at = _physical_line(script, at)
        # If text is expanded, a backslash joins a line with the next one, also with the delimiter's.
        while not token.is_literal and _continues(line) and at < len(script):
            more, at = _physical_line(script, at)
            line = line[:-2] + more
        line = line.lstrip("\t") if is_indented else line
        if line.removesuffix("\n") == delimiter:
            return "".join(lines), at
        lines.append(line)
    raise MalformedError(f"{_line(script, token.end)}: {_NO_END}")


def _physical_line(script: str, at: int) -> tuple[str, int]:
    end = script.find("\n", at) + 1 or len(script)
    return script[at:end], end


def _continues(line: str) -> bool:
    text = line.removesuffix("\n")
    return line != text and (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _unquoted(word: str) -> str:
    """Return a delimiter without its quotes; the shell expands nothing in it."""
    if "$" in word or "`" in word or "\n" in word:
        raise MalformedError("the delimiter of a here-document is not a plain word")
    return "".join(text for kind, text in parts(word) if kind in ("literal", "quoted", "plain"))


# ---- Ends of quotes, brackets and words --------------------------------------------------------------------
# They raise IndexError if the script ends before.


def _word_end(script: str, at: int) -> int:
    start = at
    while at < len(script):
        after = _part_end(script, at)
        if after == at:
            if script[at] != "(" or not _ARRAY.fullmatch(script, start, at):
                break
            after = _bracket_end(script, at)
        at = after
    if at == start:
        raise IndexError
    return at


def _part_end(script: str, at: int) -> int:
    """Return the end of a quoted, expanded or plain part of a word; the position itself without one."""
    letter = script[at]
    if letter == "'":
        return _closed(script.find("'", at + 1)) + 1
    if letter == '"':
        return _double_end(script, at)
    if letter == "\\":
        return _closed(at + 1 if at + 1 < len(script) else -1) + 1
    if letter == "`":
        return _backquote_end(script, at)
    if letter == "$":
        return _dollar_end(script, at)
    if letter in "<>" and script[at + 1 : at + 2] == "(":
        return _bracket_end(script, at + 1)
    plain = _PLAIN.match(script, at)
    return plain.end() if plain else at


def _closed(position: int) -> int:
    if position < 0:
        raise IndexError
    return position


def _dollar_end(script: str, at: int, *, is_quoted: bool = False) -> int:
    following = script[at + 1 : at + 2]
    if following == "(":
        return _bracket_end(script, at + 1)
    if following == "{":
        return _brace_end(script, at + 1, is_quoted=is_quoted)
    if following == "'" and not is_quoted:
        match = _ANSI.match(script, at)
        return match.end() if match else _closed(-1)
    if following == '"' and not is_quoted:
        return _double_end(script, at + 1)
    match = _VARIABLE.match(script, at)
    return match.end() if match else at + 1


def _double_end(script: str, at: int) -> int:
    at += 1
    while script[at] != '"':
        at = _in_quotes_end(script, at)
    return at + 1


def _in_quotes_end(script: str, at: int) -> int:
    letter = script[at]
    if letter == "\\":
        return _closed(at + 1 if at + 1 < len(script) else -1) + 1
    if letter == "`":
        return _backquote_end(script, at)
    return _dollar_end(script, at, is_quoted=True) if letter == "$" else at + 1


def _backquote_end(script: str, at: int) -> int:
    at += 1
    while script[at] != "`":
        at += 2 if script[at] == "\\" else 1
    return at + 1


def _bracket_end(script: str, at: int) -> int:
    """Return the end of `(...)`, with quotes and brackets in it."""
    start, depth = at, 0
    is_arithmetic = script.startswith("((", at)
    while True:
        letter = script[at]
        if not is_arithmetic and _UNSURE.match(script, at):
            raise MalformedError(f"{_line(script, start)}: the end of `(...)` could not be found for certain")
        if letter in "()":
            depth += 1 if letter == "(" else -1
            at += 1
            if not depth:
                return at
        else:
            after = at + 1 if letter in "<>" else _part_end(script, at)
            plain = _PLAIN.match(script, at)
            # One character at a time, so that `_UNSURE` is tried at each.
            at = at + 1 if plain or after == at else after


def _brace_end(script: str, at: int, *, is_quoted: bool) -> int:
    """Return the end of `${...}`."""
    at += 1
    while script[at] != "}":
        letter = script[at]
        if letter == "'" and not is_quoted:
            at = _closed(script.find("'", at + 1)) + 1
        elif letter == '"':
            at = _double_end(script, at)
        else:
            at = _in_quotes_end(script, at)
    return at + 1


# ---- Parts of a word ---------------------------------------------------------------------------------------


def parts(word: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a word: `plain`, `literal` (in `'`), `quoted` (in `"`), `variable`, `unknown`.

    >>> [*parts('''/a/"$b"'c'$d''')]
    [('plain', '/a/'), ('quoted', '$b'), ('literal', 'c'), ('variable', '$d')]
    """
    at = 0
    while at < len(word):
        end = _part_end(word, at)
        text = word[at : max(end, at + 1)]
        if text[0] == "'":
            yield "literal", text[1:-1]
        elif text[0] == '"' or text.startswith('$"'):
            yield "quoted", text.lstrip("$")[1:-1]
        elif text[0] == "\\":
            yield "literal" if text[1] != "\n" else "plain", text[1] if text[1] != "\n" else ""
        elif text.startswith("$'") and "\\" not in text:
            yield "literal", text[2:-1]
        else:
            yield _expansion(text), text
        at += len(text)


def quoted_parts(text: str, escaped: str = '"\\$`\n') -> Iterator[tuple[str, str]]:
    """Yield the parts of a text inside `"` or of a here-document: `plain`, `variable`, `unknown`."""
    at = 0
    while at < len(text):
        end = at + 1
        if text[at] in "\\`$" and (text[at] != "\\" or at + 1 < len(text)):
            end = _in_quotes_end(text, at)
        part = text[at:end]
        if part[0] == "\\" and len(part) == 2 and part[1] in escaped:
            yield "plain", part[1] if part[1] != "\n" else ""
        elif part[0] in "$`":
            yield _expansion(part), part
        else:
            yield "plain", part
        at = end


def _expansion(text: str) -> str:
    if text == "$" or text[0] not in "$`<>":
        return "plain"
    if text[0] == "$" and text[1] not in "('":
        return "variable"
    return "unknown"
