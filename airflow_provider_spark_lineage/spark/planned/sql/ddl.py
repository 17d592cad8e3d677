"""Reader of Spark SQL statements that create, change and drop tables and views."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp
from airflow_provider_spark_lineage.spark.planned.sql.targets import StatementTargets, of_table


def _create(tree: Any, result: StatementTargets) -> None:
    kind = str(tree.args.get("kind") or "").upper()
    if kind in ("TABLE", "VIEW"):
        properties, options = _properties(tree)
        is_temporary = "TemporaryProperty" in properties or "GlobalProperty" in properties
        if tree.expression is not None:
            result.reads(tree.expression)
        if is_temporary or (kind == "VIEW" and "FileFormatProperty" in properties):
            _temporary_view(tree, properties, options, result)
        elif kind == "VIEW":
            change = "overwrite" if tree.args.get("replace") else "create"
            result.write(tree.this, change, is_view=True, if_exists=bool(tree.args.get("exists")))
        else:
            _table(tree, properties, options, result)
    elif kind not in ("DATABASE", "FUNCTION", "NAMESPACE", "SCHEMA"):
        result.unread(of_programs.CREATE(kind=kind))


def _temporary_view(
    tree: Any, properties: Mapping[str, str], options: dict[str, str], result: StatementTargets
) -> None:
    """Note a temporary view; a view over files is noted as a read of the files."""
    parts = of_table(tree.this)
    if parts and "GlobalProperty" not in properties:
        # Global views have the database `global_temp`.
        result.session.add_view(parts[-1])
    if tree.expression is None:
        file_format = properties.get("FileFormatProperty", "")
        if options.get("path"):
            result.path(options["path"], "", file_format)
        elif options:
            result.read_options(file_format, options)
        else:
            result.unread(of_programs.SOURCE_OF_VIEW())


def _table(
    tree: Any, properties: Mapping[str, str], options: Mapping[str, str], result: StatementTargets
) -> None:
    path = properties.get("LocationProperty") or options.get("path") or ""
    copied = tree.args.get("clone")
    if copied is not None:
        result.reads(copied)
    result.write(
        tree.this,
        "overwrite" if tree.args.get("replace") else "create",
        format=properties.get("FileFormatProperty", "").lower(),
        paths=(path,) if path else (),
        options=tuple(sorted(options.items())),
        if_exists=bool(tree.args.get("exists")),
        has_rows=tree.expression is not None or copied is not None,
    )


def _properties(tree: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the properties of a CREATE, class -> value, and its OPTIONS, name -> value."""
    values: dict[str, str] = {}
    options: dict[str, str] = {}
    clause = tree.args.get("properties")
    for node in clause.expressions if clause is not None else ():
        if isinstance(node, exp.OptionsProperty):
            for option in node.expressions:
                value = option.args.get("value")
                options[option.name.lower()] = value.name if value is not None else ""
        elif isinstance(node, exp.FileFormatProperty | exp.LocationProperty):
            values[type(node).__name__] = node.name
        elif isinstance(node, exp.TemporaryProperty | exp.GlobalProperty):
            values[type(node).__name__] = ""
    return values, options


def _drop(tree: Any, result: StatementTargets) -> None:
    kind = str(tree.args.get("kind") or "").upper()
    if kind not in ("TABLE", "VIEW"):
        if kind in ("DATABASE", "NAMESPACE", "SCHEMA"):
            result.unread(of_programs.DROPPED_TABLES())
        return
    tables = tree.args.get("tables") or tree.this
    for table in tables if isinstance(tables, list) else [tables]:
        parts = of_table(table)
        if parts and result.session.is_view(parts):
            result.session.add_view(parts[-1], is_view=False)
        else:
            exists = bool(tree.args.get("exists"))
            result.write(table, "drop", if_exists=exists, is_view=kind == "VIEW")


def _truncate(tree: Any, result: StatementTargets) -> None:
    partition = bool(tree.args.get("partition"))
    for table in tree.expressions:
        result.write(table, "truncate", partial=partition, rewrites=partition)


def _alter(tree: Any, result: StatementTargets) -> None:
    kind = str(tree.args.get("kind") or "").upper()
    if kind not in ("TABLE", "VIEW") or tree.this is None:
        return
    is_view = kind == "VIEW"
    actions = tree.args.get("actions") or ()
    for action in actions:
        if isinstance(action, exp.AlterRename):
            _rename(tree.this, action.this, result, is_view=is_view)
            return
        if isinstance(action, exp.Query):
            result.reads(action)
    sets = [action for action in actions if isinstance(action, exp.AlterSet)]
    places = tuple(action.args["location"].name for action in sets if action.args.get("location"))
    if places or not sets:
        # A new location of a partition does not move its table.
        paths = () if tree.this.args.get("partition") else places
        result.write(tree.this, "alter", is_view=is_view, paths=paths)


def _rename(old: Any, new: Any, result: StatementTargets, *, is_view: bool) -> None:
    before, after = of_table(old), of_table(new)
    if result.session.is_view(before or ("",)):
        result.session.add_view(before[-1], is_view=False)
        result.session.add_view(after[-1] if after else "")
        return
    if len(after) == 1:
        after = (*before[:-1], *after)
    result.rename(before, after, is_view=is_view)


DDL: Mapping[str, Callable[[Any, StatementTargets], None]] = {
    "Alter": _alter,
    "Create": _create,
    "Drop": _drop,
    "TruncateTable": _truncate,
}
