"""Texts in drafts: variables in place of their values, and matchers for what varies between runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from airflow_provider_spark_lineage.openlineage.testing.matchers import Matcher, make

_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATETIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
_ADDRESSES = (
    r"[0-9]{1,3}(\.[0-9]{1,3}){3}(:[0-9]+)?",
    r"[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*:[0-9]{2,5}",
    r"[\w$.]+@[0-9a-f]{5,8}",
    r"0x[0-9a-f]{6,16}",
)
"""Addresses, ports, and objects by their place in memory, in texts for people."""

_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


class Texts:
    """Masks texts.

    >>> texts = Texts({"DATA": "/tmp/data"})
    >>> texts.masked("/tmp/data/in", ""), texts.masked_message("no answer of 10.0.0.1:80", "").argument
    ('${DATA}/in', 'no answer of ([0-9]{1,3}(\\\\.[0-9]{1,3}){3}(:[0-9]+)?)')
    """

    def __init__(
        self,
        variables: Mapping[str, str],
        varying: Sequence[str] = (),
        varying_in_messages: Sequence[str] = (),
        by_key: Mapping[str, Callable[[str], Matcher | None]] | None = None,
    ) -> None:
        self._by_key = by_key or {}
        self._names = {text: name for name, text in sorted(variables.items(), reverse=True) if text}
        self._varying = [(_UUID, make("uuid")), (_DATETIME, make("datetime"))]
        self._varying += [(pattern, make("regex", pattern)) for pattern in varying]
        self._patterns = [pattern for pattern, _ in self._varying]
        self._patterns_in_messages = [*self._patterns, *_ADDRESSES, *varying_in_messages]
        self._replaced = self._pattern(self._patterns)
        self._replaced_in_messages = self._pattern(self._patterns_in_messages)

    def _pattern(self, patterns: Sequence[str]) -> re.Pattern[str]:
        """Return the pattern of all parts of a text that do not stay as they are."""
        named = [rf"(?<![0-9a-zA-Z])(?P<v{i}>{pattern})(?![0-9a-zA-Z])" for i, pattern in enumerate(patterns)]
        # The longest first: a folder inside another has its own name.
        texts = "|".join(map(re.escape, sorted(self._names, key=len, reverse=True)))
        named += [rf"(?<!\w)(?P<variable>{texts})(?![\w-])"] if texts else []
        return re.compile("|".join(named))

    def masked(self, text: str, key: str) -> Any:
        """Return the text with variables, or the matcher for it; `key` is its key."""
        by_key = self._by_key[key](text) if key in self._by_key else None
        if by_key is not None:
            return by_key
        for pattern, matcher in self._varying:
            if re.fullmatch(pattern, text) and not matcher.check(text):
                return matcher
        matches = list(self._replaced.finditer(text))
        if all(match.lastgroup == "variable" for match in matches):
            return self._with_names(text, matches, lambda part: part.replace("${", "$${"))
        return make("regex", self._with_names(text, matches, literal_pattern))

    def masked_message(self, text: str, key: str) -> Any:
        """Return the matcher for a text for people: its first line, without what another machine has."""
        by_key = self._by_key[key](text) if key in self._by_key else None
        if by_key is not None:
            return by_key
        first, separator, _ = text.partition("\n")
        matches = list(self._replaced_in_messages.finditer(first))
        if not separator and all(match.lastgroup == "variable" for match in matches):
            return self._with_names(text, matches, lambda part: part.replace("${", "$${"))
        pattern = self._with_names(first, matches, literal_pattern)
        return make("regex", f"(?s){pattern}.*" if separator else pattern)

    def _with_names(self, text: str, matches: list[re.Match[str]], escape: Callable[[str], str]) -> str:
        """Return the text with variables, and with patterns for varying parts."""
        parts, position = [], 0
        for match in matches:
            parts.append(escape(text[position : match.start()]))
            kind = match.lastgroup or ""
            is_variable = kind == "variable"
            new = (
                f"${{{self._names[match[0]]}}}"
                if is_variable
                else f"({self._patterns_in_messages[int(kind[1:])]})"
            )
            parts.append(new)
            position = match.end()
        return "".join([*parts, escape(text[position:])])


def literal_pattern(text: str) -> str:
    """Return a regular expression for exactly this text; `re.escape` would also escape spaces and dashes."""
    return _SPECIAL.sub(r"\\\g<0>", text)
