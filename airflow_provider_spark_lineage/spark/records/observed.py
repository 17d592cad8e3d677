"""Values that `observe` measured, as a record has them.

Numbers, booleans and texts are plain JSON; anything else is an object with its type and its text, for example
`{"decimal": "1.20"}`.
"""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

OF_CHECKS = "spark_lineage_check_"
"""Beginning of the names of observations that are checks of ours."""


def value_of(plain: Any) -> Any:
    """Return a measured value as PySpark returns it; raise ValueError if it has no such form in Python.

    >>> value_of({"decimal": "1.20"}), value_of({"date": "2026-01-31"}), value_of(3)
    (Decimal('1.20'), datetime.date(2026, 1, 31), 3)
    """
    if not isinstance(plain, dict):
        return plain
    [(kind, text)] = plain.items()
    convert = _TYPES.get(kind)
    if convert is None:
        raise ValueError(f"unknown type {kind!r}")
    return convert(text)


def _timestamp(text: str) -> datetime:
    """Return an instant in the local time zone, without naming the zone."""
    # Python 3.10 does not read Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone().replace(tzinfo=None)


def without_texts(observed: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the observed values without texts: these are values of rows, which are not stored."""
    return {
        name: {column: value for column, value in values.items() if not isinstance(value, str)}
        for name, values in observed.items()
    }


def plain_of(value: Any) -> Any:
    """Return a value of PySpark as a record has it; raise ValueError if it has none."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"double": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, datetime):
        return {"timestamp": value.astimezone(timezone.utc).isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    raise ValueError(f"no form for {type(value).__name__}")


_TYPES: dict[str, Any] = {
    "double": float,
    "decimal": Decimal,
    "date": date.fromisoformat,
    "timestamp": _timestamp,
    "timestamp_ntz": datetime.fromisoformat,
}
