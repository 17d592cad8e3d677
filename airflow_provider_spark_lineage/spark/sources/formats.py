"""Short names of file formats, from Spark's text for a format, a provider or a serde class."""

from __future__ import annotations

import re
from typing import Any

_CLASS = re.compile(r"^(?:.*\.)?(\w+?)(?:FileFormat|DataSource|SerDe|Serde)?(?:@[0-9a-f]+|\(\))?$")

_OF_SERDES = {"lazysimple": "text", "parquethive": "parquet", "orcserde": "orc", "opencsv": "csv"}

_FORMATS = frozenset(
    ("avro", "binaryfile", "csv", "delta", "hive", "image", "json", "libsvm", "orc", "parquet", "text", "xml")
)


def format_name(text: Any) -> str:
    """Return the short name of a format; empty for no text.

    >>> format_name("org.apache.hadoop.hive.ql.io.orc.OrcSerde"), format_name("CSVFileFormat@1a2b")
    ('orc', 'csv')
    """
    match = _CLASS.match(str(text or ""))
    name = match[1].lower() if match else ""
    return _OF_SERDES.get(name, name)


def is_stored_in_files(text: Any) -> bool:
    """Return whether a table of a format has its rows in its folder."""
    return format_name(text) in _FORMATS
