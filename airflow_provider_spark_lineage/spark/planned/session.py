"""Session state that resolves the names of tables: views, current database, variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason

_VIEWS = "global_temp"
"""Spark's database of global temporary views."""

SESSION_CATALOG = "spark_catalog"
_CATALOG = "spark.sql.catalog."

Block = tuple[object, ...]
"""The conditions around a statement, the outermost first; each block that may run is its own condition."""


@dataclass(frozen=True)
class Name:
    """A table's full name."""

    catalog: str
    """Empty for the session's own catalog."""

    parts: tuple[str, ...]


class Session:
    """The state of a session after the statements that were read so far."""

    def __init__(self, variables: Mapping[str, str], conf: Mapping[str, str]) -> None:
        # Spark also replaces `${...}` by its own settings.
        self.variables = {**conf, **variables}
        self.catalogs: set[str] = set()
        self.place: Block = ()
        """The conditions around the current statement."""

        self._views: dict[str, list[tuple[Block, bool]]] = {}
        """Name, in lower case -> the places where it became (True) or ended as (False) a temporary view."""

        self.has_unknown_view = False
        """A view was registered under an unknown name."""

        self.own_views: set[Name] = set()
        """Views of a catalog that the program creates; their reads are noted where they are created."""

        self._catalog: str | None = ""
        """None, like the database below, after a USE in a condition or with a name that is not a constant."""

        self._database: tuple[str, ...] | None = ("default",)
        for key, value in conf.items():
            self.note_setting(key, value)

    def note_setting(self, key: str, value: str) -> None:
        """Note a setting that defines a catalog or changes the current catalog."""
        if key.startswith(_CATALOG) and key.count(".") == 3:
            self.catalogs.add(key[len(_CATALOG) :])
        elif key == "spark.sql.defaultCatalog":
            self.use_catalog(value)

    def forget_views(self) -> None:
        """Note that any temporary view may have ended."""
        for name in self._views:
            self.add_view(name, is_view=False, condition=(object(),))

    def add_view(self, name: str, *, is_view: bool = True, condition: Block = ()) -> None:
        """Note the start of a temporary view, or its end."""
        place = (*self.place, *condition)
        views: list[tuple[Block, bool]] = []
        ended = set[bool]()
        for view in self._views.get(name.lower(), ()):
            if _is_around(place, view[0]):
                continue
            # No block is entered a second time, so equal states of ended blocks are stored once.
            if _is_around(view[0], place):
                ended.clear()
            elif view[1] in ended:
                continue
            else:
                ended.add(view[1])
            views.append(view)
        self._views[name.lower()] = [*views, (place, is_view)]

    def _is_view(self, name: str) -> bool | None:
        """Return whether a name is a temporary view here; None if a condition decides."""
        elsewhere = set[bool]()
        for place, is_view in ((), False), *self._views.get(name.lower(), ()):
            if _is_around(place, self.place):
                elsewhere = {is_view}
            else:
                elsewhere.add(is_view)
        return elsewhere.pop() if len(elsewhere) == 1 else None

    def use(self, parts: tuple[str, ...] | None, *, is_certain: bool = True) -> None:
        """Change the current database, or the catalog if `parts` names one; None for an unknown name."""
        if parts and (parts[0] in self.catalogs or parts[0] == SESSION_CATALOG or len(parts) > 1):
            self.use_catalog(parts[0], is_certain=is_certain)
            parts = parts[1:] or self._database
        self._database = parts if is_certain else None

    def use_catalog(self, name: str, *, is_certain: bool = True) -> None:
        """Change the current catalog; its current database is then its default database."""
        self._catalog = _own(name) if is_certain else None
        self._database = None if not is_certain else () if self._catalog else ("default",)

    def overwrites_partitions(self) -> bool:
        """Return whether an overwrite of a partitioned table keeps the partitions that get no rows."""
        return self.variables.get("spark.sql.sources.partitionOverwriteMode", "").lower() == "dynamic"

    def is_view(self, parts: tuple[str, ...]) -> bool:
        """Return whether a name is certainly a temporary view."""
        return parts[0].lower() == _VIEWS if len(parts) > 1 else self._is_view(parts[0]) is True

    def resolve(self, parts: tuple[str, ...]) -> Name | Reason:
        """Return the full name of a table, or why it is unknown; call `is_view` first."""
        if len(parts) == 1 and self.has_unknown_view:
            return of_programs.OR_UNNAMED_VIEW(name=parts[0])
        if len(parts) == 1 and self._is_view(parts[0]) is None:
            return of_programs.OR_UNCERTAIN_VIEW(name=parts[0])
        if len(parts) > 1 and (parts[0] in self.catalogs or parts[0] == SESSION_CATALOG):
            return Name(_own(parts[0]), parts[1:])
        if len(parts) > 2:
            return Name(parts[0], parts[1:])
        if self._catalog is None or (len(parts) == 1 and self._database is None):
            what = "catalog" if self._catalog is None else "database"
            return of_programs.UNCERTAIN_USE(what=what, name=".".join(parts))
        if len(parts) == 2 or self._database is None:
            return Name(self._catalog, parts)
        return Name(self._catalog, (*self._database, *parts))


def _is_around(outer: Block, inner: Block) -> bool:
    return inner[: len(outer)] == outer


def _own(catalog: str) -> str:
    return "" if catalog == SESSION_CATALOG else catalog
