"""Tells folders of this machine from addresses of object storage, however a path or a program gives them."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from airflow_provider_spark_lineage.errors import BadInputError

# `Path` makes one slash of two.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)


def address_of(place: Path | str) -> tuple[str, str] | None:
    """Return the scheme of an address and what follows; None for a path.

    >>> address_of(Path("s3a://bucket/lineage"))
    ('s3a', 'bucket/lineage')
    """
    match = _ADDRESS.fullmatch(str(place))
    return (match[1].lower(), match[2]) if match else None


def without_secrets(place: Path | str) -> str:
    """Return an address without its query and without keys before its host, for messages.

    >>> without_secrets("s3://key:word@bucket/x?secret=word")
    's3://bucket/x'
    >>> without_secrets("s3a://key:wo/rd@bucket/x?y=1")
    's3a://bucket/x'
    """
    address = address_of(place)
    if not address:
        return str(place)
    text = address[1]
    before, at, after = text.rpartition("@")
    if at and ":" in before.partition("/")[0]:
        # A key may have slashes.
        text = after
    text = text.partition("?")[0]
    host, slash, rest = text.partition("/")
    *users, last = host.split("@")
    # In abfs://container@account it is no key.
    host = host if users and ":" not in host and address[0].startswith("abfs") else last
    return f"{address[0]}://{host}{slash}{rest}"


def local_path(place: Path | str, cure: str) -> Path:
    """Return a path, also of `file:///path`; raise BadInputError with a cure for another address.

    >>> print(local_path("file:///data/a%20b", "copy it"))
    /data/a b
    """
    address = address_of(place)
    if address is None:
        return Path(place)
    # `Path` has made one slash of the three, so a host cannot be told from a folder.
    text = str(place)
    if address[0] == "file" and not urlsplit(text).netloc:
        return Path(f"/{unquote(address[1])}")
    raise BadInputError(f"{without_secrets(place)} is not a path of this machine: {cure}.")
