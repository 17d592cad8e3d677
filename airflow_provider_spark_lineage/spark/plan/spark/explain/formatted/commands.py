"""Reader of the physical commands of a text: writes, and commands on tables of V2 catalogs."""

from __future__ import annotations

import re

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.text import Operator
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.translation import (
    MORE,
    OperatorReader,
    Translation,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import (
    Drawn,
    UnreadablePlanError,
    required,
)

_ON_TABLE = re.compile(
    r"(?P<table>[\w.$]+(?:@[0-9a-f]+|\(\w+\)), (?:`[^`]*`|[^,\s`])+)(?:, (?P<rest>.*))?", re.DOTALL
)
_ICEBERG = re.compile(r"Iceberg\w*Write\(table=([^,()]+), ")


def execute(operator: Operator, plan: Translation) -> Drawn:
    """`Execute <command>`: over the rows that it writes, or around the logical command."""
    if operator.inner:
        return plan.of(operator.inner[0])
    name, arguments = operator.name.removeprefix("Execute "), operator.detail("Arguments")
    children = [plan.of(child) for child in operator.children]
    names = re.search(r"\[[^\[\]]*\]$", arguments)
    if names and children:
        # Spark cuts a long list of names, but not the list of the rows' columns.
        listed, *rest = MORE.split(names[0][1:-1])
        children = [plan.node(f"{'NamedAtLeast' if rest else 'Named'} [{listed}]", *children)]
        arguments = arguments[: names.start()] + "[]"
    return plan.node(f"{name} {arguments}", *children)


def _resolved(operator: Operator) -> tuple[Drawn, str]:
    """Return the table of a command as a node, and the arguments after it."""
    match = required(_ON_TABLE.fullmatch(operator.detail("Arguments")), "no table")
    return Drawn(f"ResolvedIdentifier {match['table']}", 0), match["rest"] or ""


def _on_table(operator: Operator, plan: Translation) -> Drawn:
    table, rest = _resolved(operator)
    return plan.node(f"{operator.name.removeprefix('Atomic')} {rest}".strip(), table)


_CHANGES = {
    "AddColumn": "AddColumns",
    "DeleteColumn": "DropColumns",
    "RemoveProperty": "UnsetTableProperties",
    "RenameColumn": "RenameColumn",
    "SetProperty": "SetTableProperties",
    **dict.fromkeys(
        "UpdateColumnComment UpdateColumnNullability UpdateColumnPosition UpdateColumnType".split(),
        "AlterColumns",
    ),
}


def _alter(operator: Operator, plan: Translation) -> Drawn:
    """`AlterTable <catalog>, db.t, [...TableChange$AddColumn@1a]`."""
    table, rest = _resolved(operator)
    changes = {_CHANGES.get(change, "") for change in re.findall(r"TableChange\$(\w+)@", rest)}
    if len(changes) != 1 or "" in changes:
        raise UnreadablePlanError("its change is not in the text")
    return plan.node(changes.pop(), table)


def _as_select(operator: Operator, plan: Translation) -> Drawn:
    """A command whose query runs in an execution inside."""
    table, _ = _resolved(operator)
    writes = [
        (run, write)
        for run in plan.inside
        for write in run.formatted.numbered.values()
        if write.name in ("AppendData", "OverwriteByExpression") and write.children
    ]
    if len(writes) != 1:
        raise UnreadablePlanError("its query is not in the text")
    ((run, write),) = writes
    return plan.node(operator.name.removeprefix("Atomic"), table, run.translated(write.children[0]))


def _write(operator: Operator, plan: Translation) -> Drawn:
    """`AppendData IcebergWrite(table=lake.db.t, format=PARQUET)`."""
    match = required(_ICEBERG.search(operator.detail("Arguments")), "no table")
    name = operator.name
    if name == "OverwriteByExpression":
        # The rows that it replaces are not in the text; a partial overwrite is always right.
        name = "OverwritePartitionsDynamic"
        plan.problem(operator, of_explained.NO_REPLACED_ROWS())
    return plan.node(f"{name} RelationV2[] {match[1]}", plan.input(operator))


_SCANS = ("Scan ", "BatchScan ")
_CONSTANT = re.compile(
    r"defaultvalueexpression\(.*, (?:-?[\d.]+\w*|'.*'|null|true|false)\), \w+", re.DOTALL | re.IGNORECASE
)


def _variable(operator: Operator, plan: Translation) -> Drawn:
    """`CreateVariable [ResolvedIdentifier ..., session.x], defaultvalueexpression(1, 1), false`."""
    match = required(
        re.fullmatch(r"\[(.*?)\s*\], (default.*)", operator.detail("Arguments"), re.DOTALL), "no variable"
    )
    names = [Drawn(name.strip(), 0) for name in match[1].split("\n, ")]
    if not _CONSTANT.fullmatch(match[2]):
        plan.is_unread = True
        plan.problem(operator, of_explained.NO_SOURCES_OF_VALUE())
    return plan.node(f"CreateVariable {match[2]}", *names)


def _set_variable(operator: Operator, plan: Translation) -> Drawn:
    if any(
        below.name.startswith(_SCANS) and below.name != "Scan OneRowRelation"
        for below in plan.formatted.numbered.values()
    ):
        plan.is_unread = True
        plan.problem(operator, of_explained.NO_USES_OF_VALUE())
    return plan.node(f"SetVariable {operator.detail('Arguments')}", plan.input(operator))


COMMANDS_OF_CATALOGS: dict[str, OperatorReader] = {
    "AlterTable": _alter,
    "CreateVariable": _variable,
    "SetVariable": _set_variable,
    **dict.fromkeys(("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic"), _write),
    **dict.fromkeys(
        ("AtomicReplaceTable", "CreateTable", "DropTable", "RenameTable", "ReplaceTable", "TruncateTable"),
        _on_table,
    ),
    **dict.fromkeys(
        """
        AtomicCreateTableAsSelect AtomicReplaceTableAsSelect CreateTableAsSelect ReplaceTableAsSelect
        """.split(),
        _as_select,
    ),
}
"""Name that Spark prints -> row."""
