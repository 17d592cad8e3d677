"""Simple commands of a shell script, from its text: for START, and for machines that have no shim.

Nothing is run. Quotes, here-documents, `cd` and variables with one value are read; each command of a loop, a
condition or a function counts as if it ran once. What only the running shell knows is unknown.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.airflow.launch.shell.options import Word
from airflow_provider_spark_lineage.spark import REMOVED, is_secret

# While a script is read, `$` and backquotes that the shell does not expand have other codes.
_HIDDEN, _SHOWN = str.maketrans("$`", "\ue000\ue001"), str.maketrans("\ue000\ue001", "$`")
_UNKNOWN = "${shell}"
"""Part of a word in place of `$(...)`."""

_DOCUMENT = "\ue002"
"""Before the number of a here-document, in place of it."""

_VARIABLE = re.compile(r"\$(?:(\w+|[@*#?$!-])|\{(\w+)(?:(:?)-([^}$`\"'\\]*))?\})")
_ANSI = re.compile(r"\$'((?:\\.|[^'\\])*)'", re.DOTALL)
_OPENS_DOCUMENT = re.compile(r"<<(-?)[ \t]*(?:(['\"])([^'\"\n]*)\2|(\\?)([^\s'\"<>|;&()$`]+))")
_NUMBER = re.compile(r"(?<!\S)\d+(?=[<>])")
_ASSIGNMENT = re.compile(r"(\w+)=(.*)", re.DOTALL)
_ADDITION = re.compile(r"(\w+)(?:\[[^]]*\]=|\+=|\[[^]]*\]\+=)")
_BRACES = re.compile(r"\{[^{}]*\}")
_EXPORTS = frozenset({"export", "readonly", "local", "declare", "typeset"})
_SETS = frozenset({"for", "read", "select", "unset", "mapfile", "readarray"})
_OF_THE_SHELL = frozenset({"PWD", "OLDPWD", "SHLVL", "_"})
"""Variables that the running shell sets: the worker's values do not apply."""


class MalformedError(ValueError):
    """A script that no shell would run. Its message goes into events, so it does not quote the script."""


@dataclass(frozen=True)
class ShellCommand:
    """One simple command."""

    words: tuple[Word, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables exported by the script or assigned before the command (`A=1 command`), without secrets."""

    directory: str | None = ""
    """Current folder, after `cd`: empty for the script's initial folder, None if it is unknown."""

    text: str | None = None
    """Its standard input, from a here-document."""

    file: str | None = None
    """Path of the file that is its standard input."""


def commands(script: str, variables: Mapping[str, str], directory: str | None = "") -> Iterator[ShellCommand]:
    """Yield the commands of a script in the order of the text; those in `$(...)` follow last.

    `variables` are the process's environment. Raise `MalformedError` if a quote is not closed.

    >>> script = commands("cd /jobs && spark-submit load.py '$x' $x", {"x": "1"})
    >>> [[word.text for word in command.words] for command in script]
    [['cd', '/jobs'], ['spark-submit', 'load.py', '$x', '1']]
    """
    inner: list[str] = []
    as_written, start = _lines(script, None, inner), directory
    known = _values(as_written, variables)
    exported = {
        each.partition("=")[0] for line in as_written if line.words[:1] == ["export"] for each in line.words
    }
    outer: list[str | None] = []
    for line, shown in zip(_lines(script, known, []), as_written, strict=True):
        before = dict(_assignments(line.words))
        words = _words(line.words[len(before) :], shown.words[len(_assignments(shown.words)) :])
        if words and words[0].text in ("cd", "pushd", "popd"):
            directory = below(directory, words[1].text if len(words) > 1 else "~")
        given = {name: value for name, value in known.items() if name in exported}
        given.update(
            (name, value) for name, value in before.items() if "$" not in value and not is_secret(name)
        )
        yield ShellCommand(words, given, directory, line.text, line.file)
        for letter in line.operator:
            if letter == "(":
                outer.append(directory)
            elif letter == ")" and outer:
                directory = outer.pop()
    for each in inner:
        if "spark" in each:
            yield from commands(each, known, start if directory == start else None)


def below(outer: str | None, path: str) -> str | None:
    """Return the folder after `cd`, or of a script inside another one; None if it is unknown.

    >>> below("/jobs", "daily"), below(None, "/jobs"), below("/jobs", "$DAY")
    ('/jobs/daily', '/jobs', None)
    """
    if path.startswith(("~", "-")) or "$" in path:
        return None
    if path.startswith("/") or not outer:
        return path if path.startswith("/") or outer is not None else None
    return f"{outer}/{path}" if path else outer


@dataclass
class _Line:
    """Words of one simple command as `shlex` has them, and the operator after it."""

    words: list[str] = field(default_factory=list)
    text: str | None = None
    file: str | None = None
    operator: str = ""


def _lines(script: str, known: Mapping[str, str] | None, inner: list[str]) -> list[_Line]:
    """Return the lines of a script with known variables replaced; add the scripts in `$(...)` to `inner`.

    With None, all variables have their names.
    """
    scan = _Scan(script, known, inner)
    tokens = shlex.shlex(scan.simple(), posix=True, punctuation_chars=";&|()<>\n")
    tokens.whitespace, tokens.commenters, tokens.whitespace_split = " \t\r", "", True
    lines, redirection = [_Line()], ""
    for token in tokens:
        if token and set(token) <= set(";&|()<>\n"):
            redirection = token if set(token) & set("<>") else ""
            if not redirection:
                lines[-1].operator = token
                lines.append(_Line())
            continue
        if redirection.endswith("<<<"):
            is_document = token.startswith(_DOCUMENT)
            lines[-1].text = scan.documents[int(token[1:])] if is_document else token.translate(_SHOWN)
        elif redirection == "<":
            lines[-1].file = token.translate(_SHOWN)
        elif not redirection:
            lines[-1].words.append(token)
        redirection = ""
    return lines


def _assignments(words: list[str]) -> list[tuple[str, str]]:
    """Return the assignments before a command, in their order, without a name twice."""
    result: dict[str, str] = {}
    for word in words:
        match = _ASSIGNMENT.fullmatch(word)
        if match is None or match[1] in result:
            break
        result[match[1]] = match[2]
    return [*result.items()]


def _values(lines: list[_Line], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with a known value that is not a secret; the script may assign some."""
    own: dict[str, str | None] = {}
    for line in lines:
        pairs: list[tuple[str, str | None]] = [*_assignments(line.words)]
        others = line.words[len(pairs) :]
        if others and others[0] in _EXPORTS:
            pairs = [(match[1], match[2]) for word in others if (match := _ASSIGNMENT.fullmatch(word))]
        elif others and others[0] in _SETS:
            pairs = [(word, None) for word in others[1:] if word.isidentifier()]
        elif others:
            pairs = [(match[1], None) for word in others if (match := _ADDITION.match(word))]
        for name, value in pairs:
            # A name with two values is unknown: an assignment may depend on a condition.
            own[name] = value if own.get(name, value) == value else None
    if "IFS" in own:
        # Words may be separated by other characters than blanks.
        return {}
    known = {
        name: value
        for name, value in {**environment, **own}.items()
        if value is not None and not is_secret(name) and name not in _OF_THE_SHELL
    }
    for _ in own:
        # Values that have variables in them.
        known.update({name: _expanded(known[name], known) for name in own if name in known})
    return {
        name: value.translate(_SHOWN) for name, value in known.items() if name not in own or "$" not in value
    }


def _expanded(text: str, known: Mapping[str, str] | None) -> str:
    return _VARIABLE.sub(lambda match: _value(match, known), text)


def _value(match: re.Match[str], known: Mapping[str, str] | None) -> str:
    """Return the value of a variable, with `$` hidden; `${name}` if it is unknown."""
    name = match[1] or match[2]
    value = None if known is None else known.get(name)
    if known is not None and match[4] is not None and (value is None or (match[3] and not value)):
        value = match[4]
    return f"${{{name}}}" if value is None else value.translate(_HIDDEN)


def _words(values: list[str], shown: list[str]) -> tuple[Word, ...]:
    """Return the words of a command; a word that several variables gave is shown as `***`."""
    names = [word.replace(_UNKNOWN, REMOVED).translate(_SHOWN) for word in shown]
    if len(values) != len(shown):
        # Words after the last variable are the same in both.
        last = next((at for at, word in enumerate(reversed(shown)) if "$" in word), 0)
        names = [REMOVED] * (len(values) - last) + names[len(names) - last :]
    return tuple(
        Word(value.translate(_SHOWN), name, not ("$" in value or _is_pattern(value)))
        for value, name in zip(values, names, strict=False)
    )


def _is_pattern(word: str) -> bool:
    """Return whether the shell may put other words in place of a word: names of files, or those in braces.

    >>> [_is_pattern(word) for word in ("*.py", "a{1..3}", "a{1}", "s3://b/*", "a *")]
    [True, True, False, False, False]
    """
    if re.search(r"\s|://", word):
        return False
    path = word.partition(":")[0]
    braces = _BRACES.findall(path)
    return not set(path).isdisjoint("*?[") or any("," in each or ".." in each for each in braces)


class _Scan:
    """Rewrites a script for `shlex`, which knows no variables, no `$(...)` and no here-documents."""

    def __init__(self, script: str, known: Mapping[str, str] | None, inner: list[str]) -> None:
        self._script = script
        self._known = known
        self._inner = inner
        self.documents: list[str] = []
        self._waiting: list[re.Match[str]] = []
        """Openings of here-documents that begin after this line."""

    def simple(self) -> str:
        """Return the rewritten script."""
        text, _ = self._until("", 0)
        if self._waiting:
            raise self._malformed(self._waiting[0].start(), "a here-document has no end")
        return text

    def _until(self, closing: str, at: int) -> tuple[str, int]:
        """Return the text before a closing character, rewritten, and the position after it."""
        start, result = at, list[str]()
        while at < len(self._script):
            if closing and self._script[at] == closing:
                return "".join(result), at + 1
            text, at = self._quoted(at) if closing == '"' else self._plain(at, closing)
            result.append(text)
        if closing:
            raise self._malformed(start)
        return "".join(result), at

    def _quoted(self, at: int, *, is_quoted: bool = True) -> tuple[str, int]:
        """Rewrite characters that are special inside `"` and outside; return others unchanged."""
        script, letter = self._script, self._script[at]
        if letter == "\\":
            pair = script[at : at + 2]
            if len(pair) < 2:
                raise self._malformed(at)
            return "" if pair[1] == "\n" else pair[1].translate(_HIDDEN) if pair[1] in "$`" else pair, at + 2
        if letter == "`" or script.startswith("$(", at):
            return self._substitution(at)
        if match := _VARIABLE.match(script, at):
            value = _value(match, self._known)
            if not value.startswith("${"):
                value = re.sub(r'(["\\])' if is_quoted else r"([^\w\s@%+=:,./-])", r"\\\1", value)
            return value, match.end()
        if script.startswith("${", at):
            return _UNKNOWN, self._end("}", at)
        return letter, at + 1

    def _plain(self, at: int, closing: str) -> tuple[str, int]:
        """Rewrite one part outside of `"`."""
        script, letter = self._script, self._script[at]
        if letter == "'":
            end = self._end("'", at + 1)
            return script[at:end].translate(_HIDDEN), end
        if letter == '"':
            text, end = self._until('"', at + 1)
            return f'"{text}"', end
        if letter == "(" and script[at - 1 : at] == "=":
            # An array.
            _, end = self._until(")", at + 1)
            return _UNKNOWN, end
        if letter == "(" and closing == ")":
            text, end = self._until(")", at + 1)
            return f"({text})", end
        if script.startswith(("<(", ">("), at):
            return self._substitution(at)
        if match := _ANSI.match(script, at):
            return _UNKNOWN if "\\" in match[1] else match[0][1:].translate(_HIDDEN), match.end()
        if script.startswith("<<<", at):
            return "<<<", at + 3
        if match := _OPENS_DOCUMENT.match(script, at):
            self._waiting.append(match)
            self.documents.append("")
            return f" <<< {_DOCUMENT}{len(self.documents) - 1} ", match.end()
        if match := _NUMBER.match(script, at):
            return "", match.end()
        if letter == "#" and script[at - 1 : at] in ("", *" \t\n;&|("):
            end = script.find("\n", at)
            return "", end if end >= 0 else len(script)
        if letter == "\n" and self._waiting:
            return letter, self._after_documents(at + 1)
        return self._quoted(at, is_quoted=False)

    def _substitution(self, at: int) -> tuple[str, int]:
        if self._script[at] == "`":
            end = self._end("`", at + 1)
            self._inner.append(self._script[at + 1 : end - 1])
        else:
            # Only its end is needed: a script inside it is found when it is read itself.
            inner, self._inner = self._inner, []
            _, end = self._until(")", at + 2)
            self._inner = inner
            inner.append(self._script[at + 2 : end - 1])
        return _UNKNOWN, end

    def _after_documents(self, at: int) -> int:
        """Read the here-documents that begin at a position, and return the end of the last."""
        first = len(self.documents) - len(self._waiting)
        while self._waiting:
            is_indented, quote, quoted, backslash, bare = self._waiting[0].groups()
            lines: list[str] = []
            while True:
                if at >= len(self._script):
                    raise self._malformed(self._waiting[0].start(), "a here-document has no end")
                end = self._script.find("\n", at) + 1 or len(self._script)
                line = self._script[at:end].lstrip("\t") if is_indented else self._script[at:end]
                at = end
                if line.removesuffix("\n") == (quoted if quote else bare):
                    break
                lines.append(line)
            text = "".join(lines)
            if not (quote or backslash):
                self._inner += re.findall(r"\$\(([^()]*)\)", text)
                text = _expanded(text, self._known).translate(_SHOWN)
            self.documents[first] = text
            first += 1
            self._waiting.pop(0)
        return at

    def _end(self, closing: str, at: int) -> int:
        end = self._script.find(closing, at)
        if end < 0:
            raise self._malformed(at)
        return end + 1

    def _malformed(self, at: int, reason: str = "a quote or a bracket is not closed") -> MalformedError:
        return MalformedError(f"line {self._script.count(chr(10), 0, at) + 1}: {reason}")
