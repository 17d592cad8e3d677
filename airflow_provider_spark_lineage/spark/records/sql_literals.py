"""Removes string literals from SQL: any of them may be a password or a customer's name.

Databases quote in different ways: a literal in one is part of the query in another. If the database is known,
its syntax is used. If not, the query is read by each syntax, and only the common beginning of all results
stays, followed by `CUT`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from os.path import commonprefix
from typing import Dict, List, Optional, Pattern, Sequence

CUT = "'***"
"""Marks the place where a query was cut; its open quote prevents parsing it as a complete query."""

_COMMENT = r"(?P<comment> {line} | /\*(?: (?!/\*). )*?\*/ )"
_LINE = r"--[^\n]*"

_BACKTICKS = r"`[^`]*(?:``[^`]*)*`"
_BRACKETS = r"\[[^\]]*(?:\]\][^\]]*)*\]"
_NAMES = r'"[^"]*(?:""[^"]*)*"'

_TEXTS = r"'[^']*(?:''[^']*)*'"
_ESCAPING = r"'[^'\\]*(?:(?:''|\\.)[^'\\]*)*'"
_ESCAPING_DOUBLE = r'"[^"\\]*(?:(?:""|\\.)[^"\\]*)*"'
_ESCAPED = rf"(?<=(?<!\w)[eE]){_ESCAPING}"
"""PostgreSQL's `E'it\\'s'`."""

_NOT_ESCAPED = rf"(?<!(?<!\w)[eE]){_TEXTS}"

_RAW = r"""(?<=(?<!\w)[rR])(?: '[^']*' | "[^"]*" )"""
"""Spark's `r'C:\\'`; in BigQuery's raw strings, a backslash still escapes a quote."""

_TRIPLE = r"'''(?: [^\\] | \\. )*?''' | \"\"\"(?: [^\\] | \\. )*?\"\"\""
_DOLLARS = r"(?<![\w$])\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$"
_Q_QUOTED = r"""(?<!\w)[nN]?[qQ]'
    (?: \[.*?\]' | \{.*?\}' | <.*?>' | \(.*?\)' | (?P<mark>[^\s\[\]{}<>()]).*?(?P=mark)' )"""
"""Oracle's `q'[it's]'`."""

_UNCLOSED = r"['\"`] | /\* | (?<![\w$])\$(?:[^\W\d]\w*)?\$"
"""An opening quote without its end; a separate pattern, so that the end is searched once."""


_BOTH = f"{_NAMES} | {_BACKTICKS}"


def _reading(texts: str, names: str = _BOTH, line: str = _LINE) -> Pattern[str]:
    """Return a pattern for comments, quoted names and literals, which may contain any character."""
    comment = _COMMENT.format(line=line)
    unclosed = rf"{_UNCLOSED} | \[" if _BRACKETS in names else _UNCLOSED
    return re.compile(
        rf"(?xs) {comment} | (?P<name> {names} ) | (?P<text> {texts} ) | (?P<unclosed> {unclosed} )"
    )


_STANDARD = _reading(f"{_DOLLARS} | {_TEXTS}")
_POSTGRES = _reading(f"{_DOLLARS} | {_ESCAPED} | {_NOT_ESCAPED}")
_BACKSLASH = _reading(f"{_DOLLARS} | {_ESCAPING}")
_MYSQL = _reading(
    f"{_ESCAPING} | {_ESCAPING_DOUBLE}",
    # After AS, double quotes are a name.
    rf"(?<=\s[aA][sS]\s){_NAMES} | {_BACKTICKS}",
    r"(?: --(?=\s|\Z) | \# )[^\n]*",
)
SPARK = _reading(f"{_RAW} | {_ESCAPING} | {_ESCAPING_DOUBLE}", _BACKTICKS)

_READINGS: Dict[str, Pattern[str]] = {
    **dict.fromkeys(("", "athena", "presto", "teradata", "trino"), _STANDARD),
    "bigquery": _reading(f"{_TRIPLE} | {_ESCAPING} | {_ESCAPING_DOUBLE}", _BACKTICKS, r"(?: -- | \# )[^\n]*"),
    "clickhouse": _reading(f"{_DOLLARS} | {_ESCAPING}", line=r"(?: -- | \#[!\ ] )[^\n]*"),
    **dict.fromkeys(("duckdb", "postgres"), _POSTGRES),
    # Double quotes are names there only with `spark.sql.ansi.doubleQuotedIdentifiers`.
    **dict.fromkeys(("databricks", "hive", "spark"), SPARK),
    **dict.fromkeys(("mysql", "singlestore"), _MYSQL),
    "oracle": _reading(rf"{_Q_QUOTED} | (?<!(?<!\w)[qQ])(?<!(?<!\w)[nN][qQ]){_TEXTS}"),
    "redshift": _BACKSLASH,
    "snowflake": _reading(f"{_DOLLARS} | {_ESCAPING}", line=r"(?: -- | // )[^\n]*"),
    # SQLite reads a name in double quotes as a literal if no column has it; its documentation warns of that.
    **dict.fromkeys(("sqlite", "tsql"), _reading(_TEXTS, f"{_NAMES} | {_BACKTICKS} | {_BRACKETS}")),
}
"""sqlglot's name of a dialect -> the pattern for its comments, literals and names."""

_PLAIN = frozenset(
    {"", "athena", "duckdb", "oracle", "postgres", "presto", "sqlite", "teradata", "trino", "tsql"}
)
"""Dialects whose backslash does not escape a quote, except with an old setting."""

_ALL = tuple(dict.fromkeys(_READINGS.values()))
_OPENING = re.compile(r"""['"`$#\[] | -- | /[*/]""", re.VERBOSE)
_QUOTED = re.compile(r"""['"] | \$\w*\$""", re.VERBOSE)
_AMBIGUOUS = re.compile(r"""["\\$#\[] | // | --\S | [qQ]' | \'\'\'""", re.VERBOSE)
"""Syntax that differs between dialects."""

_QUERY = re.compile(r"(?i)\b(?:select|with|values|table|from|call|exec\w*)\b")


def without_sql_literals(text: str, dialect: Optional[str] = None) -> str:
    """Replace string literals in a query by empty literals, and comments by spaces; keep quoted names.

    `dialect` is sqlglot's name of the database's SQL; None if it is unknown.

    >>> without_sql_literals("select count(*) from people where name = 'Ann' -- not 'Bob'")
    "select count(*) from people where name = ''  "
    >>> without_sql_literals('select "n" from t', "mysql")
    "select '' from t"
    """
    if not _OPENING.search(text):
        return text
    emptied = (_emptied(reading, text) for reading in _readings(text, dialect))
    results = {result for result in emptied if result is not None}
    if not results:
        return _OPENING.split(text, maxsplit=1)[0] + CUT
    shared = commonprefix(list(results))  # noqa: RUF071  of characters, not of paths
    return shared if results == {shared} else shared.rstrip("'\"`") + CUT


def _readings(text: str, dialect: Optional[str]) -> Sequence[Pattern[str]]:
    """Return the patterns of all possible readings of a text."""
    if dialect in _PLAIN and "\\'" in text:
        return _READINGS[dialect], _BACKSLASH
    if dialect in _READINGS:
        return (_READINGS[dialect],)
    # A table name has no literals.
    is_query = _QUOTED.search(text) and ("'" in text or _QUERY.search(text))
    return _ALL if is_query and _AMBIGUOUS.search(text) else (_STANDARD,)


def _emptied(reading: Pattern[str], text: str) -> Optional[str]:
    """Return a text without literals and comments by one pattern; None if a quote has no end."""
    parts: List[str] = []
    end = 0
    for match in reading.finditer(text):
        if match["unclosed"]:
            return None
        parts.extend((text[end : match.start()], match["name"] or ("''" if match["text"] else " ")))
        end = match.end()
    return "".join((*parts, text[end:]))


_NUMBER = re.compile(
    r"""(?x) (?P<name> "[^"]*" | `[^`]*` | '[^']*' )
    | (?<![\w$@:.]) (?: 0[xX][0-9a-fA-F_]+ | (?: \d[\d_]* (?: \.\d* )? | \.\d+ ) (?: [eE][+-]?\d+ )?
        (?: [lLsSyYdDfF] | [bB][dD] )? ) (?!\w)"""
)
_ORDINALS = re.compile(r"(?i)\b(?:group|order)\s+by\b")
_AFTER_ORDINAL = re.compile(
    r"(?is)\s*(?:[,);]|\Z|(?:asc|desc|nulls|having|order|limit|offset|fetch|for|union|except|intersect)\b)"
)
_MAX_ORDINAL_LENGTH = 3


def without_numbers(text: str) -> str:
    """Replace every number by 0 in a query without string literals; positions of columns stay.

    >>> without_numbers("select a, b + 42 from t2 where c > 1.5e3 group by 1, 2")
    'select a, b + 0 from t2 where c > 0 group by 1, 2'
    """

    lists = [match.end() for match in _ORDINALS.finditer(text)]

    def zero(match: re.Match[str]) -> str:
        if match["name"] or _is_ordinal(match, lists):
            return match[0]
        return "0"

    return _NUMBER.sub(zero, text)


def _is_ordinal(match: re.Match[str], lists: Sequence[int]) -> bool:
    """Return whether a number is the position of a column; `lists` are the places behind BY."""
    if not (match[0].isdigit() and len(match[0]) <= _MAX_ORDINAL_LENGTH):
        return False
    index = bisect_right(lists, match.start()) - 1
    if index < 0 or match.start() - lists[index] > _MAX_LOOKBEHIND:
        return False
    before = match.string[lists[index] : match.start()].rstrip()
    is_item = not before or (before.endswith(",") and "(" not in before and ")" not in before)
    return is_item and _AFTER_ORDINAL.match(match.string, match.end()) is not None


_MAX_LOOKBEHIND = 1000
"""Number of characters between BY and a position: a query may have thousands of numbers."""
