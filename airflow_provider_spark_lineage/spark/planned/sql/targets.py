"""Reads and writes of one statement: its tables, resolved in the session, and its paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from operator import is_not
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp
from airflow_provider_spark_lineage.spark.planned.program import Access, Unread
from airflow_provider_spark_lineage.spark.planned.session import Session

_FORMATS = frozenset("avro binaryfile csv delta hudi iceberg image json libsvm orc parquet text xml".split())
"""Formats in SQL names of files: parquet.`/path`."""

_NO_READ = frozenset(
    """
    collations explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer range
    sql_keywords stack variant_explode variant_explode_outer
    """.split()
)
"""Functions in FROM that read no dataset."""

_DELTA_VERSION = re.compile(r"@(?:v\d+|\d{17})\Z")


def of_table(table: Any) -> tuple[str, ...]:
    """Return the parts of a table's name; empty if it is not a table."""
    if isinstance(table, exp.Schema):
        table = table.this
    parts = table.parts if isinstance(table, exp.Table) else ()
    return tuple(part.name for part in parts) if all(isinstance(p, exp.Identifier) for p in parts) else ()


def without_version(file_format: str, path: str) -> str:
    """Return the path of a Delta table without a version at its end.

    >>> without_version("delta", "/orders@v3")
    '/orders'
    """
    return _DELTA_VERSION.sub("", path) if file_format == "delta" else path


@dataclass
class StatementTargets:
    """Collects the reads and writes of one statement."""

    session: Session
    line: int
    is_certain: bool
    unknown: str
    """The placeholder for unknown text."""

    steps: list[Access | Unread] = field(default_factory=list)

    def unread(self, reason: Reason) -> None:
        """Add a gap."""
        self.steps.append(Unread(self.line, reason))

    def reads(self, tree: Any, besides: Any = None) -> None:
        """Add a read of every table of a tree except `besides`."""
        for table in () if tree is None else tree.find_all(exp.Table):
            if table is besides or (besides is not None and table.parent is besides):
                continue
            parts = of_table(table)
            function = str(table.this.name or table.this.key).lower()
            if not parts and function not in _NO_READ:
                self.unread(of_programs.FUNCTION(name=function))
            elif parts and not (len(parts) == 1 and parts[0].lower() in _visible(table)):
                self.access(parts, "")

    def write(self, table: Any, change: str, **more: Any) -> None:
        """Add a change of a table; `more` are fields of `Access`."""
        self.access(of_table(table), change, **more)

    def access(self, parts: tuple[str, ...], change: str, **more: Any) -> None:
        """Add an access by a table's name, which may name files; a temporary view is not a dataset."""
        file_format = parts[0].lower() if len(parts) == 2 else ""
        if file_format in _FORMATS and re.search(r"[/:]|\.\w+\Z", parts[1]):
            self.path(without_version(file_format, parts[1]), change, file_format, **more)
        elif not parts or not self.session.is_view(parts):
            self.change(parts, change, **more)
        elif change:
            self.unread(of_programs.DATASET_OF_VIEW(name=".".join(parts)))

    def change(self, parts: tuple[str, ...], change: str, **more: Any) -> None:
        """Add an access of a table in a catalog."""
        if not parts or any(self.unknown in part for part in parts):
            self.unread(of_programs.TABLE_IN_SQL())
            return
        name = self.session.resolve(parts)
        if isinstance(name, Reason):
            self.unread(name)
            return
        if more.get("is_view") and change in ("create", "overwrite", "drop"):
            self.session.own_views.discard(name) if change == "drop" else self.session.own_views.add(name)
        elif not change and name in self.session.own_views:
            return
        access = Access(
            self.line, change, table=name.parts, catalog=name.catalog, is_certain=self.is_certain, **more
        )
        self.steps.append(access)

    def read_options(self, file_format: str, options: dict[str, str]) -> None:
        """Add a read of the dataset that options name."""
        pairs = tuple(sorted(options.items()))
        if any(self.unknown in value for _, value in pairs):
            self.unread(of_programs.OPTION_IN_SQL())
            return
        self.steps.append(
            Access(self.line, format=file_format.lower(), options=pairs, is_certain=self.is_certain)
        )

    def rename(self, before: tuple[str, ...], after: tuple[str, ...], *, is_view: bool) -> None:
        """Add a change of a table's name."""
        old = self.session.resolve(before) if before else of_programs.TABLE_IN_SQL()
        if isinstance(old, Reason):
            self.unread(old)
            return
        self.change(after, "rename", previous=old.parts, is_view=is_view)

    def path(self, path: str, change: str, file_format: str, **more: Any) -> None:
        """Add an access of files or a folder."""
        if not path or self.unknown in path:
            self.unread(of_programs.PATH_IN_SQL())
            return
        fields = {**more, "format": file_format, "paths": (path,)}
        self.steps.append(Access(self.line, change, is_certain=self.is_certain, **fields))


def _visible(node: Any) -> Iterator[str]:
    """Yield the names, in lower case, that WITH defines at a place in a statement."""
    child, parent = node, node.parent
    while parent is not None:
        clause = parent.args.get("with_") or parent.args.get("with")
        if isinstance(parent, exp.With):
            before = takewhile(partial(is_not, child), parent.expressions)
            yield from (definition.alias.lower() for definition in before)
            if parent.args.get("recursive"):
                yield child.alias.lower()
            child, parent = parent.parent, parent.parent.parent if parent.parent else None
            continue
        yield from (definition.alias.lower() for definition in (clause.expressions if clause else ()))
        child, parent = parent, parent.parent
