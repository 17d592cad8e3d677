"""Parts of SQL that may be recorded and shown."""

from __future__ import annotations

FULL, MASKED, NONE = SQL_TEXTS = ("full", "masked", "none")
"""Recorded part of SQL statements, and of error messages, which may repeat them.

`full`: everything except secrets. `masked`: literals are removed, too. `none`: nothing.
"""
