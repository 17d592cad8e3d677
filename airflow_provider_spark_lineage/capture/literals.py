"""Takes everything out of a plan's JSON, and of SQL text, that could be a secret."""

from __future__ import annotations

import re
from typing import Any, Dict, Pattern

from airflow_provider_spark_lineage.record import without_secrets

_SQL = r"""(?xs)
      (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?P<name> "(?:[^"]|"")*" | `(?:[^`]|``)*` )
    | (?P<text> '(?: TEXT )*' | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ )
    """
_STANDARD = re.compile(_SQL.replace("TEXT", "[^'] | ''"))
_ESCAPING = re.compile(_SQL.replace("TEXT", r"[^'\\] | '' | \\."))
"""MySQL, BigQuery and others also write a quote inside of a text as `\\'`."""


def without_sql_literals(text: str) -> str:
    """Empty the texts in a query, and drop its comments; quoted names stay.

    >>> without_sql_literals("select count(*) from people where name = 'Ann' -- not 'Bob'")
    "select count(*) from people where name = ''  "
    """
    if "\\'" in text:
        # Whether a backslash escapes is the database's to know; read the other way, quotes do not pair up.
        emptied = _emptied(_ESCAPING, text)
        if "'" not in emptied.replace("''", ""):
            return emptied
    return _emptied(_STANDARD, text)


def _emptied(pattern: Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: match["name"] or ("''" if match["text"] else " "), text)


def without_literals(value: Dict[str, Any]) -> Dict[str, Any]:
    """Take the value out of a literal, and credentials out of every other text of a plan node.

    Lineage needs no literal, and any of them may be a password or a customer's name.
    """
    if value.get("class", "").endswith(".Literal"):
        value["value"] = None
        return value
    for key, item in value.items():
        if isinstance(item, str) and key not in ("class", "product-class", "object"):
            value[key] = without_secrets(item)
    return value
