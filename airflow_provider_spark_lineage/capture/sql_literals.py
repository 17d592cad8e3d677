"""Takes the texts out of SQL: any of them may be a password or a customer's name.

Databases quote in different ways, so that the same letters are a text to one and a query to another. Where
it is known which database reads a query, its way is taken; otherwise only as much of the query stays as is
the same in all of them. What cannot be told apart is cut off, at a quote that nothing can read on from.
"""

from __future__ import annotations

import re
from os.path import commonprefix
from typing import Dict, List, Optional, Pattern, Sequence

CUT = "'***"
"""What stands where a query was cut: its quote stays open, so that nobody reads what is left as a whole."""

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
"""Spark's `r'C:\\'`; in BigQuery's a backslash still hides a quote."""

_TRIPLE = r"'''(?: [^\\] | \\. )*?''' | \"\"\"(?: [^\\] | \\. )*?\"\"\""
_DOLLARS = r"(?<![\w$])\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$"
_MARKED = r"""(?<!\w)[nN]?[qQ]'
    (?: \[.*?\]' | \{.*?\}' | <.*?>' | \(.*?\)' | (?P<mark>[^\s\[\]{}<>()]).*?(?P=mark)' )"""
"""Oracle's `q'[it's]'`."""

_TORN = r"['\"`] | /\* | (?<![\w$])\$(?:[^\W\d]\w*)?\$"
"""The beginning of something that has no end: whoever looks for its end does so once."""


_BOTH = f"{_NAMES} | {_BACKTICKS}"


def _reading(texts: str, names: str = _BOTH, line: str = _LINE) -> Pattern[str]:
    """Return a pattern that takes what may hold any letter off the front of a text."""
    comment = _COMMENT.format(line=line)
    torn = rf"{_TORN} | \[" if _BRACKETS in names else _TORN
    return re.compile(rf"(?xs) {comment} | (?P<name> {names} ) | (?P<text> {texts} ) | (?P<torn> {torn} )")


_STANDARD = _reading(f"{_DOLLARS} | {_TEXTS}")
_POSTGRES = _reading(f"{_DOLLARS} | {_ESCAPED} | {_NOT_ESCAPED}")
_BACKSLASH = _reading(f"{_DOLLARS} | {_ESCAPING}")
_MYSQL = _reading(
    f"{_ESCAPING} | {_ESCAPING_DOUBLE}",
    # What stands behind AS is a name, however it is quoted.
    rf"(?<=\s[aA][sS]\s){_NAMES} | {_BACKTICKS}",
    r"(?: --(?=\s|\Z) | \# )[^\n]*",
)
_SPARK = _reading(f"{_RAW} | {_ESCAPING} | {_ESCAPING_DOUBLE}", _BACKTICKS)

_READINGS: Dict[str, Pattern[str]] = {
    **dict.fromkeys(("", "athena", "presto", "teradata", "trino"), _STANDARD),
    "bigquery": _reading(f"{_TRIPLE} | {_ESCAPING} | {_ESCAPING_DOUBLE}", _BACKTICKS, r"(?: -- | \# )[^\n]*"),
    "clickhouse": _reading(f"{_DOLLARS} | {_ESCAPING}", line=r"(?: -- | \#[!\ ] )[^\n]*"),
    **dict.fromkeys(("duckdb", "postgres"), _POSTGRES),
    # Double quotes are names there only where `spark.sql.ansi.doubleQuotedIdentifiers` is on.
    **dict.fromkeys(("databricks", "hive", "spark"), _SPARK),
    **dict.fromkeys(("mysql", "singlestore"), _MYSQL),
    "oracle": _reading(rf"{_MARKED} | (?<!(?<!\w)[qQ])(?<!(?<!\w)[nN][qQ]){_TEXTS}"),
    "redshift": _BACKSLASH,
    "snowflake": _reading(f"{_DOLLARS} | {_ESCAPING}", line=r"(?: -- | // )[^\n]*"),
    # A name in double quotes that no column has is a text to SQLite; that is a slip it warns of.
    **dict.fromkeys(("sqlite", "tsql"), _reading(_TEXTS, f"{_NAMES} | {_BACKTICKS} | {_BRACKETS}")),
}
"""sqlglot's name of a dialect -> what in its text is a comment, a text or a name."""

_PLAIN = frozenset(
    {"", "athena", "duckdb", "oracle", "postgres", "presto", "sqlite", "teradata", "trino", "tsql"}
)
"""Dialects to which a backslash is a letter like any other, or else by an old setting."""

_ALL = tuple(dict.fromkeys(_READINGS.values()))
_OPENING = re.compile(r"""['"`$#\[] | -- | /[*/]""", re.VERBOSE)
_QUOTED = re.compile(r"""['"] | \$\w*\$""", re.VERBOSE)
_DISPUTED = re.compile(r"""["\\$#\[] | // | --\S | [qQ]' | \'\'\'""", re.VERBOSE)
"""What not all dialects read alike."""

_QUERY = re.compile(r"(?i)\b(?:select|with|values|table|from|call|exec\w*)\b")


def without_sql_literals(text: str, dialect: Optional[str] = None) -> str:
    """Empty the texts in a query, and drop its comments; quoted names stay.

    `dialect` is sqlglot's name of the database's SQL, None where it is not known.

    >>> without_sql_literals("select count(*) from people where name = 'Ann' -- not 'Bob'")
    "select count(*) from people where name = ''  "
    >>> without_sql_literals('select "n" from t', "mysql")
    "select '' from t"
    """
    if not _OPENING.search(text):
        return text
    emptied = (_emptied(reading, text) for reading in _readings(text, dialect))
    found = {one for one in emptied if one is not None}
    if not found:
        return _OPENING.split(text, maxsplit=1)[0] + CUT
    shared = commonprefix(list(found))  # noqa: RUF071  letters are what is compared
    return shared if found == {shared} else shared.rstrip("'\"`") + CUT


def _readings(text: str, dialect: Optional[str]) -> Sequence[Pattern[str]]:
    """Return the ways in which a text may be meant."""
    if dialect in _PLAIN and "\\'" in text:
        return _READINGS[dialect], _BACKSLASH
    if dialect in _READINGS:
        return (_READINGS[dialect],)
    # The name of a table has no texts in it.
    is_query = _QUOTED.search(text) and ("'" in text or _QUERY.search(text))
    return _ALL if is_query and _DISPUTED.search(text) else (_STANDARD,)


def _emptied(reading: Pattern[str], text: str) -> Optional[str]:
    """Return a text as one reading has it; None where something in it has no end."""
    parts: List[str] = []
    end = 0
    for match in reading.finditer(text):
        if match["torn"]:
            return None
        parts.extend((text[end : match.start()], match["name"] or ("''" if match["text"] else " ")))
        end = match.end()
    return "".join((*parts, text[end:]))


_NUMBER = re.compile(
    r"""(?x) (?P<name> "[^"]*" | `[^`]*` | '[^']*' )
    | (?<![\w$@:.]) (?: 0[xX][0-9a-fA-F_]+ | (?: \d[\d_]* (?: \.\d* )? | \.\d+ ) (?: [eE][+-]?\d+ )?
        (?: [lLsSyYdDfF] | [bB][dD] )? ) (?!\w)"""
)
_ORDINALS = re.compile(r"(?is)\b(?:group|order)\s+by\b(?:[^()]*,)?\s*\Z")
_BEHIND_ORDINAL = re.compile(
    r"(?is)\s*(?:[,);]|\Z|(?:asc|desc|nulls|having|order|limit|offset|fetch|for|union|except|intersect)\b)"
)
_LONGEST_ORDINAL = 3


def without_numbers(text: str) -> str:
    """Put 0 for every number in a query that has no texts; those that stand for columns stay.

    >>> without_numbers("select a, b + 42 from t2 where c > 1.5e3 group by 1, 2")
    'select a, b + 0 from t2 where c > 0 group by 1, 2'
    """

    def zero(match: re.Match[str]) -> str:
        if match["name"] or _is_ordinal(match):
            return match[0]
        return "0"

    return _NUMBER.sub(zero, text)


def _is_ordinal(match: re.Match[str]) -> bool:
    if not (match[0].isdigit() and len(match[0]) <= _LONGEST_ORDINAL):
        return False
    before = match.string[max(0, match.start() - _MOST_BEFORE) : match.start()]
    return bool(_ORDINALS.search(before) and _BEHIND_ORDINAL.match(match.string, match.end()))


_MOST_BEFORE = 1000
"""How many letters before a number are looked at: a query may hold thousands of numbers."""
