"""What an SQL statement is, by its first words: a query, a command, and which tables it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Dict, Tuple

from airflow_provider_spark_lineage.capture.sql_literals import without_sql_literals


class Ask(Enum):
    """When the server is asked to explain what runs."""

    NEVER = "nothing is read or written, or explaining would run it"
    BEFORE = "the statement changes what its names mean"
    BESIDE = "the answer is the same while it runs"


_PART = r"(?: `(?:[^`]|``)*` | [\w$]+ )"
_NAME = rf"(?P<name> {_PART} (?: \s*\.\s* {_PART} )* )"

_TARGETS = tuple(
    re.compile(rf"(?xi) \b {words} \s+ {_NAME}")
    for words in (
        r"insert \s+ (?: into | overwrite ) (?: \s+ table )? (?! \s+ (?: table | local | directory ) \b )",
        r"merge \s+ (?: with \s+ schema \s+ evolution \s+ )? into",
        r"(?<! for \s ) update (?! \s+ set \b )",
        r"delete \s+ from",
        r"(?: create | replace ) \s+ (?: or \s+ replace \s+ )? (?: external \s+ )? table"
        r" (?: \s+ if \s+ not \s+ exists )?",
        r"create \s+ (?: or \s+ replace \s+ )? view (?: \s+ if \s+ not \s+ exists )?",
        r"drop \s+ (?: table | view ) (?: \s+ if \s+ exists )?",
        r"(?: alter | truncate | repair ) \s+ (?: table | view )",
        r"load \s+ data \b .*? \b into \s+ table",
        r"rename \s+ to",
        r"analyze \s+ table",
    )
)
"""Where a command names the table that it changes."""

_FIRST_WORD = re.compile(r"[\s(;]*([A-Za-z]+)")
_CHANGES_ROWS = re.compile(r"(?i)\b(?:insert|merge|update|delete)\b")

_FUNCTION = re.compile(
    r"(?xi) create \s+ (?: or \s+ replace \s+ )? temporary \s+ function \s+ (?: if \s+ not \s+ exists \s+ )?"
    r" `? (?P<name> \w+ )"
)
_INSERT = re.compile(r"(?i)\binsert\s+(?:into|overwrite)\b")
_OF_PARTITION = re.compile(r"(?i)\bpartition\s*\(")

_QUERIES = frozenset({"from", "map", "reduce", "select", "table", "values", "with"})
_IGNORED = frozenset(
    {"add", "clear", "desc", "describe", "explain", "list", "refresh", "reset", "show", "uncache", "use"}
)
"""Statements that neither read nor write data."""

_UNEXPLAINED = {
    # Since Spark 4.1 the analyzer runs the statement.
    "execute": "what EXECUTE IMMEDIATE ran is not recorded",
    "begin": "what an SQL script ran is not recorded",
}
"""First word of statements that must not be, or cannot be, explained -> what is lost."""

_BESIDE = frozenset({"delete", "from", "insert", "merge", "update", "with"})


@dataclass(frozen=True)
class Statement:
    """One SQL statement."""

    text: str
    ask: Ask
    lost: str = ""
    """What is not known of a statement that is not explained, a sentence."""

    targets: Tuple[str, ...] = ()
    """Names of the tables that it creates, changes or drops, as written."""

    is_of_partition: bool = False
    """It names a partition."""

    is_insert: bool = False
    """It certainly inserts rows, whatever word it begins with."""

    function: str = ""
    """The name of the temporary function that it makes."""


def statement_of(text: str) -> Statement:
    """Return what a statement is.

    A query, which runs only later, is a statement that is never explained, as is one that touches no data.
    """
    plain = without_sql_literals(text, "spark")
    match = _FIRST_WORD.match(plain)
    word = match[1].lower() if match else ""
    if word in _UNEXPLAINED:
        return Statement(text, Ask.NEVER, lost=_UNEXPLAINED[word])
    if word in _IGNORED or (word == "set" and not re.match(r"(?i)\s*set\s+var", plain)):
        return Statement(text, Ask.NEVER)
    if word in _QUERIES and not _CHANGES_ROWS.search(plain):
        return Statement(text, Ask.NEVER)
    # A name may be written several times.
    names: Dict[str, None] = {}
    for pattern in _TARGETS:
        names.update((match["name"], None) for match in pattern.finditer(plain))
    function = _FUNCTION.search(plain)
    ask = Ask.BESIDE if word in _BESIDE else Ask.BEFORE
    return Statement(
        text,
        ask,
        targets=tuple(names),
        is_of_partition=bool(_OF_PARTITION.search(plain)),
        is_insert=bool(_INSERT.search(plain)),
        function=function["name"] if function else "",
    )


def is_query(text: str) -> bool:
    """Return whether a text is certainly a query: analysing it changes nothing."""
    plain = without_sql_literals(text, "spark")
    match = _FIRST_WORD.match(plain)
    return match is not None and match[1].lower() in _QUERIES and not _CHANGES_ROWS.search(plain)
