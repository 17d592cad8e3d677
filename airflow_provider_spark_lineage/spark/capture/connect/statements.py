"""Kinds of SQL statements by their words: query or command, and the tables that they change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import FrozenSet, Optional, Tuple

from airflow_provider_spark_lineage.spark.records.sql_literals import SPARK, without_sql_literals


class Ask(Enum):
    """Time of the request to explain a statement."""

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
"""Patterns of commands with the table that they change."""

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
    "execute": "the statement of EXECUTE IMMEDIATE is not recorded",
    "begin": "the statements of an SQL script are not recorded",
}
"""First word of statements that must not or cannot be explained -> the loss."""

_BESIDE = frozenset({"delete", "from", "insert", "merge", "update", "with"})


@dataclass(frozen=True)
class ConnectStatement:
    """One SQL statement."""

    ask: Ask
    lost: str = ""
    """The loss if a statement is not explained, as a sentence."""

    targets: Tuple[str, ...] = ()
    """Names of created, changed or dropped tables, as written."""

    is_of_partition: bool = False
    """It names a partition."""

    is_insert: bool = False
    """It certainly inserts rows, even if it begins with another word."""

    function: str = ""
    """The name of the temporary function that it creates."""

    is_script: bool = False
    """It is an SQL script."""


def statement_of(text: str) -> ConnectStatement:
    """Return the description of a statement.

    Queries, which run only later, and statements that do not touch data are never explained.
    """
    plain = without_sql_literals(text, "spark")
    word = first_word(plain)
    if word in _UNEXPLAINED:
        return ConnectStatement(Ask.NEVER, lost=_UNEXPLAINED[word], is_script=word == "begin")
    if word in _IGNORED or (word == "set" and not re.match(r"(?i)\s*set\s+var", plain)):
        return ConnectStatement(Ask.NEVER)
    if word in _QUERIES and not _CHANGES_ROWS.search(plain):
        return ConnectStatement(Ask.NEVER)
    function = _FUNCTION.search(plain)
    return ConnectStatement(
        Ask.BESIDE if word in _BESIDE else Ask.BEFORE,
        # A name may be written several times.
        targets=tuple(dict.fromkeys(match["name"] for each in _TARGETS for match in each.finditer(plain))),
        is_of_partition=bool(_OF_PARTITION.search(plain)),
        is_insert=bool(_INSERT.search(plain)),
        function=function["name"] if function else "",
    )


def is_query(text: str) -> bool:
    """Return whether a text is certainly a query, whose analysis has no effects."""
    plain = without_sql_literals(text, "spark")
    return first_word(plain) in _QUERIES and not _CHANGES_ROWS.search(plain)


def first_word(text: str) -> str:
    """Return the first word of a statement without comments, in lower case."""
    match = _FIRST_WORD.match(text)
    return match[1].lower() if match else ""


_KEEPING = _QUERIES | _BESIDE | {"analyze", "desc", "describe", "explain", "load", "show", "truncate"}
"""First words of statements that do not change the meaning of names."""

_NAMING = frozenset({"alter", "cache", "create", "drop", "refresh", "replace", "uncache"})
"""First words of statements that change the meaning of the names in them."""

_CHANGED = re.compile(
    rf"""(?xi) \b
    (?: (?: table | view | function ) \s+ (?: if \s+ (?: not \s+ )? exists \s+ )? | rename \s+ to \s+ )
    (?: {_PART} \s* \. \s* )* (?P<name> {_PART} )"""
)
_DIRECTORY = re.compile(r"(?i)\boverwrite\s+(?:local\s+)?directory\b")
_CREATED = re.compile(
    rf"""(?xi) \s* create \s+ (?P<replaces> or \s+ replace \s+ )? table \s+
    (?P<if_new> if \s+ not \s+ exists \s+ )?
    (?P<name> {_PART} (?: \s* \. \s* {_PART} )* )"""
)
_MADE_VIEW = re.compile(
    rf"(?xi) create \s+ (?: or \s+ replace \s+ )? (?: temp | temporary ) \s+ view"
    rf" \s+ (?P<name> {_PART} ) \s+ as \b"
)
_DROPPED = re.compile(rf"(?xi) drop \s+ (?: table | view ) \s+ (?: if \s+ exists \s+ )? {_NAME}")
_AS = re.compile(r"(?i)\bas\s*(?=\(|from\b|select\b|table\b|values\b|with\b)")
_WORD = re.compile(r"`([^`]+)`|(\w+)")
_FORMAT = re.compile(r"(?i)\busing\s+([\w.]+)")
_PLACED = re.compile(r"(?i)\blocation\s+")
_OTHER_PLACES = re.compile(r"(?i)\b(?:options|tblproperties|stored|row\s+format)\b")
_TEXT = re.compile(r"""'([^'\\]+)'|"([^"\\]+)\"""")


def without_texts(text: str) -> str:
    """Return a text of the same length without comments and string literals."""
    return SPARK.sub(lambda match: match[0] if match["name"] else blank(match[0]), text)


def blank(text: str) -> str:
    """Return a text with all characters replaced by spaces, except line ends."""
    return re.sub(r"[^\n]", " ", text)


def names_of(text: str) -> FrozenSet[str]:
    """Return all words of a statement that may be names, in lower case."""
    return frozenset((quoted or plain).lower() for quoted, plain in _WORD.findall(without_texts(text)))


def changed_names(text: str) -> Optional[FrozenSet[str]]:
    """Return the names whose meaning a statement changes; None if it may be any name."""
    plain = without_texts(text)
    word = first_word(plain)
    if word in _KEEPING:
        return None if _DIRECTORY.search(plain) else frozenset()
    if word not in _NAMING:
        return None
    names = {match["name"].strip("`").lower() for match in _CHANGED.finditer(plain)}
    return frozenset(names) or None


@dataclass(frozen=True)
class Created:
    """A table or temporary view that a statement creates."""

    name: str
    replaces: bool = False
    if_new: bool = False
    format: str = ""
    query: str = ""
    """Empty if the statement only creates the table, without rows."""

    is_view: bool = False
    """It is a temporary view, whose query runs when it is used."""

    location: Optional[str] = ""
    """As written; None if there may be one in a form that is not read."""


def created_table(text: str) -> Optional[Created]:
    """Return the table of a CREATE TABLE; None for any other statement."""
    plain = without_texts(text)
    match = _CREATED.match(plain)
    if not match:
        return None
    start = _AS.search(plain, match.end())
    clauses = plain[match.end() : start.start() if start else None]
    if re.search(r"(?i)\blike\b|\bclone\b", clauses):
        return None
    using = _FORMAT.search(clauses)
    return Created(
        match["name"],
        bool(match["replaces"]),
        bool(match["if_new"]),
        using[1].lower() if using else "",
        text[start.end() :].strip() if start else "",
        location=_location(text, plain, match.end(), match.end() + len(clauses)),
    )


def _location(text: str, plain: str, start: int, end: int) -> Optional[str]:
    """Return the location in the clauses of a CREATE TABLE; `plain` is its text without literals."""
    placed = _PLACED.search(plain, start, end)
    if placed is None:
        return None if _OTHER_PLACES.search(plain, start, end) else ""
    # Spaces stand for the literal: the pattern took them, too.
    literal = _TEXT.search(text, placed.start(), end)
    return (literal[1] or literal[2]) if literal else None


def made_from_query(text: str) -> Optional[Created]:
    """Return the table or temporary view that a statement creates from a query; None for any other."""
    created = created_table(text)
    if created is not None:
        return created if created.query and not created.if_new else None
    match = _MADE_VIEW.match(without_texts(text))
    return Created(match["name"], query=text[match.end() :].strip(), is_view=True) if match else None


def dropped_name(text: str) -> str:
    """Return the name of the table or view of a DROP; empty for any other statement."""
    match = _DROPPED.match(without_texts(text))
    return match["name"] if match else ""
