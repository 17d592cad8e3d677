"""Actions of recorded plans: one row for each kind of command of Spark Connect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Set, Tuple

from airflow_provider_spark_lineage.spark.capture.connect.parameters import sql_in
from airflow_provider_spark_lineage.spark.capture.connect.relations import (
    COMPUTED,
    has_rows_of_program,
    is_costly,
    kind_of,
    reads_of,
    shown,
    wanted,
    why_not,
)
from airflow_provider_spark_lineage.spark.capture.connect.statements import Ask, statement_of
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets


@dataclass
class Action:
    """The effect of one plan, in plain values, with the relations that the server explains."""

    name: str
    """Spark's name of such an action: `collect`, `save`, `command`."""

    ask: Ask = Ask.BESIDE
    relations: List[Any] = field(default_factory=list)
    """The relations to explain: one, or none if there is none or the server must not analyse it."""

    sql: str = ""
    """The statement to explain, instead of a relation."""

    statement: Any = None
    """The relation that holds the statement, with its arguments."""

    command: Dict[str, Any] = field(default_factory=dict)
    """The command as plain JSON; empty for a query."""

    targets: Tuple[str, ...] = ()
    """Names of created, changed or dropped tables, as written."""

    is_costly: bool = False
    """The server runs a job to plan it, and keeps the plan since Spark 4.0."""

    has_rows: bool = False
    """The plan has rows that the program sent."""

    is_of_partition: bool = False
    """The statement names a partition."""

    is_insert: bool = False
    """The statement certainly inserts rows."""

    function: str = ""
    """The name of the temporary function that the statement creates."""

    is_script: bool = False
    """The statement is an SQL script."""

    variables: Optional[Dict[str, str]] = None
    """Variables of the statement's script, with their types; None outside of scripts."""

    queried: Set[str] = field(default_factory=set)
    """Variables whose values come from queries."""

    view: str = ""
    """The name of the temporary view that it creates."""

    reads: List[Any] = field(default_factory=list)
    """The relations that read files or tables, in the order of the plan."""

    problems: List[str] = field(default_factory=list)

    @property
    def is_command(self) -> bool:
        """Return whether it changes data, or the meaning of names."""
        return bool(self.command or self.sql)

    @property
    def renames(self) -> bool:
        """Return whether it may change the meaning of names."""
        return bool(self.is_command and self.ask is not Ask.BESIDE)


def action_of(plan: Any, decompress: Callable[[bytes], bytes]) -> Optional[Action]:
    """Return the action of a plan; None for a plan that does not touch data."""
    kind = plan.WhichOneof("op_type")
    if kind == "compressed_operation":
        plan = _decompressed(plan, decompress)
        kind = plan.WhichOneof("op_type")
    if kind == "root":
        return _query(plan.root)
    if kind == "command":
        command = plan.command
        row = COMMANDS.get(str(command.WhichOneof("command_type")))
        return row(getattr(command, command.WhichOneof("command_type"))) if row else None
    return None


def _decompressed(plan: Any, decompress: Callable[[bytes], bytes]) -> Any:
    """Return the original of a large plan that the client compressed (since Spark 4.1)."""
    compressed = plan.compressed_operation
    name = compressed.OpType.Name(compressed.op_type)
    whole = type(plan)()
    part = whole.root if name.endswith("RELATION") else whole.command
    part.ParseFromString(decompress(compressed.data))
    return whole


_NAMES = {"show_string": "showString", "html_string": "htmlString"}


def _query(relation: Any) -> Optional[Action]:
    """Return the action of a query that fetches rows."""
    kind = kind_of(relation)
    if kind == "catalog":
        return _made(relation.catalog)
    if kind == "ml_relation":
        return None
    action = Action(_NAMES.get(kind, kind if kind in COMPUTED else "collect"))
    _explain(action, shown(relation))
    return action


def _made(catalog: Any) -> Optional[Action]:
    """Return the action of `spark.catalog.createTable`; other calls of the catalog do not change data."""
    kind = catalog.WhichOneof("cat_type")
    if kind not in ("create_table", "create_external_table"):
        return None
    name = getattr(catalog, kind).table_name
    return Action("createTable", Ask.BEFORE, command={"kind": "create_table", "table": name}, targets=(name,))


def _explain(action: Action, relation: Any) -> None:
    """Add a relation that the server explains, or the reason why it must not."""
    action.reads = reads_of(relation)
    action.has_rows = has_rows_of_program(relation)
    lost = why_not(relation)
    if lost:
        action.problems.append(lost)
        return
    action.relations = [relation]
    action.is_costly = is_costly(relation)
    if action.is_costly:
        action.ask = Ask.BEFORE


_MODES = {
    "SAVE_MODE_UNSPECIFIED": "ErrorIfExists",
    "SAVE_MODE_APPEND": "Append",
    "SAVE_MODE_OVERWRITE": "Overwrite",
    "SAVE_MODE_ERROR_IF_EXISTS": "ErrorIfExists",
    "SAVE_MODE_IGNORE": "Ignore",
}


def _write(write: Any) -> Action:
    """Return the action of `df.write`, to a path, a table, or a place in the options."""
    to = write.WhichOneof("save_type")
    command: Dict[str, Any] = {
        "kind": "write",
        "format": write.source.lower(),
        "mode": _MODES.get(type(write).SaveMode.Name(write.mode), ""),
        "partition_by": list(write.partitioning_columns),
        "options": wanted(write.options),
        "replaces": _replaces(write.options),
    }
    action = Action("save", command=command)
    if to == "path":
        command["path"] = without_secrets(write.path)
        if command["mode"] in ("Append", "Ignore"):
            # Whether there is something at the path decides what the write does.
            action.ask = Ask.BEFORE
        if command["format"] == "iceberg" and "/" not in write.path:
            # A name instead of a path.
            command["table"], command["insert"] = write.path, False
            action.targets = (write.path,)
    elif to == "table":
        name = write.table.table_name
        method = type(write.table).TableSaveMethod.Name(write.table.save_method)
        command["table"] = name
        command["insert"] = method.endswith("INSERT_INTO")
        action.name = "insertInto" if command["insert"] else "saveAsTable"
        action.targets = (name,)
        if not command["insert"]:
            action.ask = Ask.BEFORE
    _explain(action, write.input)
    return action


_OPTIONS = {"replacewhere": "replace_where", "replaceusing": "replace_using", "replaceon": "replace_on"}
"""Option, in lower case, that restricts an overwrite to some rows -> the fact that it is used."""


def _replaces(options: Mapping[str, str]) -> Dict[str, Any]:
    """Return facts from options about the rows that an overwrite replaces, without the conditions' texts."""
    named = {name.lower(): value for name, value in options.items()}
    facts: Dict[str, Any] = {fact: True for name, fact in _OPTIONS.items() if name in named}
    if "partitionoverwritemode" in named:
        facts["partition_overwrite"] = named["partitionoverwritemode"].lower()
    return facts


def _write_v2(write: Any) -> Action:
    """Return the action of `df.writeTo(table)`."""
    mode = type(write).Mode.Name(write.mode)
    command = {
        "kind": "write_v2",
        "format": write.provider.lower(),
        "mode": mode[len("MODE_") :].lower(),
        "table": write.table_name,
        "options": wanted(write.options),
        "is_placed": any(name.lower() == "location" for name in write.table_properties),
    }
    action = Action("writeTo", command=command, targets=(write.table_name,))
    if "create" in command["mode"] or "replace" in command["mode"]:
        action.ask = Ask.BEFORE
    _explain(action, write.input)
    return action


def _statement(command: Any) -> Optional[Action]:
    """Return the action of `spark.sql`: a command runs at once; a query runs when its rows are fetched."""
    sql = sql_in(command)
    action = action_of_statement(command.sql if sql is None else sql.query, command)
    if action.ask is Ask.NEVER and not action.problems:
        return None
    if sql is not None and kind_of(command.input) == "with_relations":
        action.is_script = False
    return action


def action_of_statement(text: str, command: Any) -> Action:
    """Return the action of an SQL statement; `command` is the server's explanation."""
    statement = statement_of(text)
    return Action(
        "command",
        ask=statement.ask,
        sql=text,
        statement=command,
        targets=statement.targets,
        is_of_partition=statement.is_of_partition,
        is_insert=statement.is_insert,
        function=statement.function,
        is_script=statement.is_script,
        problems=[statement.lost] if statement.lost else [],
    )


def _view(command: Any) -> Optional[Action]:
    """Return the action of a temporary view, which counts when it is used: plans do not have its reads."""
    action = Action("createView", Ask.NEVER, view=command.name.strip("`").lower())
    action.reads = reads_of(command.input)
    action.has_rows = has_rows_of_program(command.input)
    return action


def _checkpoint(command: Any) -> Action:
    """Return the action of a checkpoint: later plans read its rows with new column ids."""
    name = "localCheckpoint" if command.local else "checkpoint"
    action = Action(name, command={"kind": "checkpoint"})
    _explain(action, command.relation)
    return action


def _merge(command: Any) -> Action:
    """Return the action of `df.mergeInto`."""
    action = Action(
        "mergeInto",
        command={"kind": "merge", "table": command.target_table_name},
        targets=(command.target_table_name,),
    )
    _explain(action, command.source_table_plan)
    return action


def _stream(command: Any) -> Action:
    """Return the action of `df.writeStream.start`; its batches run on the server until the query ends."""
    to = command.WhichOneof("sink_destination")
    value = {
        "kind": "stream",
        "format": command.format.lower(),
        "mode": command.output_mode,
        "options": wanted(command.options),
        "path": without_secrets(command.path) if to == "path" else "",
        "table": command.table_name if to == "table_name" else "",
        "foreach": command.HasField("foreach_batch") or command.HasField("foreach_writer"),
    }
    action = Action("start", command=value, targets=(command.table_name,) if to == "table_name" else ())
    if to == "table_name":
        action.ask = Ask.BEFORE
    _explain(action, command.input)
    return action


def _external(command: Any) -> Action:
    """Return the action of `spark.executeCommand`, which runs in an external system."""
    return Action(
        "executeCommand",
        command={"kind": "other"},
        problems=["the effect of an external system's command is not recorded"],
    )


def _learn(command: Any) -> Optional[Action]:
    """Return the action of MLlib's `fit` and `evaluate`, which read a DataFrame, or of a model's save."""
    kind = command.WhichOneof("command")
    if kind == "write":
        lost = "the place of a saved model is not recorded"
        return Action("save", command={"kind": "other"}, problems=[lost])
    if kind not in ("fit", "evaluate"):
        return None
    action = Action(kind)
    _explain(action, getattr(command, kind).dataset)
    return action


COMMANDS: Dict[str, Callable[[Any], Optional[Action]]] = {
    "write_operation": _write,
    "write_operation_v2": _write_v2,
    "sql_command": _statement,
    "create_dataframe_view": _view,
    "checkpoint_command": _checkpoint,
    "merge_into_table_command": _merge,
    "write_stream_operation_start": _stream,
    "execute_external_command": _external,
    "ml_command": _learn,
}
"""`Command.command_type` -> its row. Other commands register functions, or concern the session."""
