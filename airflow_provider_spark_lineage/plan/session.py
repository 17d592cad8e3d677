"""The state of a session that decides what a table's name means: views, current database, variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_VIEWS = "global_temp"
"""Spark's database of global temporary views."""

SESSION_CATALOG = "spark_catalog"
_CATALOG = "spark.sql.catalog."


@dataclass(frozen=True)
class Name:
    """A table's full name."""

    catalog: str
    """Empty for the session's own catalog."""

    parts: tuple[str, ...]


class Session:
    """What the text has said so far."""

    def __init__(self, variables: Mapping[str, str], conf: Mapping[str, str]) -> None:
        # Spark fills in its own settings as well.
        self.variables = {**conf, **variables}
        self.catalogs = {
            key[len(_CATALOG) :] for key in conf if key.startswith(_CATALOG) and key.count(".") == 3
        }
        self.views: set[str] = set()
        """Names of temporary views, in lower case."""

        self.doubtful_views: set[str] = set()
        """Names of temporary views, in lower case, that a condition registers or drops."""

        self.has_unknown_view = False
        """A view was registered under a name that is not known."""

        self.own_views: set[Name] = set()
        """Views of a catalog that the program creates: what they read is noted where they are created."""

        self._catalog: str | None = _own(conf.get("spark.sql.defaultCatalog", ""))
        """None, as the database below, where a USE is below a condition or has no constant."""

        self._database: tuple[str, ...] | None = () if self._catalog else ("default",)

    def note_setting(self, key: str, value: str) -> None:
        """Note a setting that names a catalog, or makes one the current one."""
        if key.startswith(_CATALOG) and key.count(".") == 3:
            self.catalogs.add(key[len(_CATALOG) :])
        elif key == "spark.sql.defaultCatalog":
            self.use_catalog(value)

    def add_view(self, name: str, *, certain: bool = True) -> None:
        """Note a temporary view."""
        if certain:
            self.views.add(name.lower())
            self.doubtful_views.discard(name.lower())
        elif name.lower() not in self.views:
            self.doubtful_views.add(name.lower())

    def drop_view(self, name: str, *, certain: bool = True) -> None:
        """Note that a name is no temporary view any more."""
        if name.lower() in self.views and not certain:
            self.doubtful_views.add(name.lower())
        self.views.discard(name.lower())
        if certain:
            self.doubtful_views.discard(name.lower())

    def use(self, parts: tuple[str, ...] | None, *, certain: bool = True) -> None:
        """Change the current database, or the catalog if that is what the name says; None for unknown."""
        if parts and (parts[0] in self.catalogs or parts[0] == SESSION_CATALOG or len(parts) > 1):
            self.use_catalog(parts[0], certain=certain)
            parts = parts[1:] or self._database
        self._database = parts if certain else None

    def use_catalog(self, name: str, *, certain: bool = True) -> None:
        """Change the current catalog; its current database is then its first one."""
        self._catalog = _own(name) if certain else None
        self._database = None if not certain else () if self._catalog else ("default",)

    def is_view(self, parts: tuple[str, ...]) -> bool:
        """Return whether a name is one of a temporary view."""
        return parts[0].lower() == _VIEWS if len(parts) > 1 else parts[0].lower() in self.views

    def resolve(self, parts: tuple[str, ...]) -> Name | str:
        """Return the full name of a table, or why it is not known; temporary views were asked for before."""
        if len(parts) == 1 and self.has_unknown_view:
            return f"`{parts[0]}` is a table, or a temporary view whose name is not a constant"
        if len(parts) == 1 and parts[0].lower() in self.doubtful_views:
            return f"`{parts[0]}` is a table, or a temporary view that is registered below a condition"
        if len(parts) > 1 and (parts[0] in self.catalogs or parts[0] == SESSION_CATALOG):
            return Name(_own(parts[0]), parts[1:])
        if len(parts) > 2:
            return Name(parts[0], parts[1:])
        if self._catalog is None or (len(parts) == 1 and self._database is None):
            what = "catalog" if self._catalog is None else "database"
            name = ".".join(parts)
            return f"the {what} of `{name}` is not known: a USE before it may not run, or has no constant"
        if len(parts) == 2 or self._database is None:
            return Name(self._catalog, parts)
        return Name(self._catalog, (*self._database, *parts))


def _own(catalog: str) -> str:
    return "" if catalog == SESSION_CATALOG else catalog
