"""The parser of SQL, imported at its first use, because the import takes a tenth of a second."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlglot
    from sqlglot import exp
else:

    class _Lazy:
        """A module that is imported when its first attribute is read."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module(self._name), name)
            setattr(self, name, value)
            return value

    sqlglot, exp = _Lazy("sqlglot"), _Lazy("sqlglot.expressions")

__all__ = ["exp", "sqlglot"]
