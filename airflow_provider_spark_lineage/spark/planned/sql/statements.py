"""Reader of Spark SQL statements: the tables and paths that each will read and write.

Only the names of tables are known, so columns are not read. A statement that is not understood is a gap with
its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, takewhile
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import SqlError
from airflow_provider_spark_lineage.spark.plan.database_sql.parser import parsed
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp
from airflow_provider_spark_lineage.spark.planned.program import HOLE, Access, Unread
from airflow_provider_spark_lineage.spark.planned.session import Session
from airflow_provider_spark_lineage.spark.planned.sql.ddl import DDL
from airflow_provider_spark_lineage.spark.planned.sql.splitting import statements, with_variables
from airflow_provider_spark_lineage.spark.planned.sql.targets import StatementTargets, of_table

MAX_STATEMENTS = 500
"""Limit of the statements of one text: sqlglot needs milliseconds for each statement."""

WORD = "spark_lineage_unknown"
"""Placeholder for an unknown part of the text: a name that the parser accepts."""

_SET = re.compile(r"SET\s+(?:(?:hivevar|hiveconf):)?([\w.\-]+)\s*=\s*(.*)", re.IGNORECASE | re.DOTALL)
_DIRECTORY = re.compile(
    r"""
    INSERT\s+OVERWRITE\s+(?P<local>LOCAL\s+)?DIRECTORY\s*
    (?P<path>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")?\s*
    (?:USING\s+(?P<format>[\w.]+)\s*)?
    (?:OPTIONS\s*\((?P<options>(?:[^()'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*)\)\s*)?
    (?P<rest>.*)
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_OTHER_FORMS = (
    (re.compile(r"TABLE\s+", re.IGNORECASE), "SELECT * FROM "),
    (re.compile(r"REPLACE\s+TABLE\s+", re.IGNORECASE), "CREATE OR REPLACE TABLE "),
    (re.compile(r"USE\s+NAMESPACE\s+", re.IGNORECASE), "USE DATABASE "),
    (re.compile(r"SET\s+CATALOG\s+", re.IGNORECASE), "USE CATALOG "),
    (re.compile(r"MERGE\s+WITH\s+SCHEMA\s+EVOLUTION\s+INTO\s+", re.IGNORECASE), "MERGE INTO "),
    (re.compile(r"INSERT\s+WITH\s+SCHEMA\s+EVOLUTION\s+INTO\s+", re.IGNORECASE), "INSERT INTO "),
)
"""Beginnings of statements that sqlglot does not parse -> equivalents that it parses."""

_IF_NEW = re.compile(r"(INSERT\s+OVERWRITE\s[^()]*\([^()]*\)\s*)IF\s+NOT\s+EXISTS\b", re.IGNORECASE)
"""An insert with IF NOT EXISTS after its partition, which sqlglot does not parse at this place."""

_CHANGE = re.compile(
    r"(?:ALTER\s+TABLE|(?:MSCK\s+)?REPAIR\s+TABLE)\s+(?P<name>(?:`[^`]*`|[\w.])+)\s*(?P<rest>\w*)",
    re.IGNORECASE,
)
"""Changes of tables; sqlglot parses only some of them."""

_ANALYZE = re.compile(
    r"ANALYZE\s+TABLE\s+(?P<name>(?:`[^`]*`|[\w.])+)\s.*?\bSTATISTICS\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ANALYZE_ALL = re.compile(r"ANALYZE\s+TABLES\b", re.IGNORECASE)

_STORED = re.compile(r"\bSTORED\s+AS\s+(\w+)\s*", re.IGNORECASE)
_ROW_FORMAT = re.compile(r"ROW\s+FORMAT\b.*?(?=\b(?:STORED|SELECT|WITH|FROM|VALUES|TABLE)\b)", re.I | re.S)
_PATH_OPTION = re.compile(r"""['"`]?path['"`]?\s*=?\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.IGNORECASE)

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
"""Templates that Jinja or dbt replace before Spark gets the text."""

_HARMLESS = frozenset(
    """
    ADD ANALYZE CLEAR COMMENT DESC DESCRIBE DFS EXPLAIN GRANT LIST OPTIMIZE REFRESH RELOAD RESET REVOKE SET
    SHOW UNCACHE VACUUM
    """.split()
)
"""First words of statements that read and write no rows of a dataset, or only reorganize its files."""

_NAMED = _HARMLESS.union(
    """
    ALTER CACHE CALL COPY CREATE DELETE DROP INSERT INTO LOAD MERGE MSCK OR OVERWRITE REPAIR REPLACE SELECT
    TABLE TEMPORARY TRUNCATE UPDATE USE VIEW WITH
    """.split()
)
"""Words that a gap may quote; other words are left out, because the text may be a secret instead of SQL."""


def read_sql(
    text: str, session: Session, line: int = 0, *, is_certain: bool = True
) -> Iterator[Access | Unread]:
    """Yield the reads and writes of the statements of a text, in order; change the session as they do.

    `line` is the line of all statements, if the text is a constant in a script; without it each has its own.
    """
    for number, statement in enumerate(statements(text)):
        if number == MAX_STATEMENTS:
            yield Unread(line or statement.line, of_programs.TOO_MANY_STATEMENTS(count=number))
            return
        filled, missing = with_variables(statement.text, session.variables)
        result = StatementTargets(session, line or statement.line, is_certain, WORD)
        for name in missing:
            result.unread(of_programs.NO_VARIABLE(name=name))
        if HOLE in filled and not missing:
            result.unread(of_programs.PART_OF_SQL())
        try:
            _read(filled.replace(HOLE, WORD), result)
        except RecursionError:
            result.unread(of_programs.DEEP_STATEMENT())
        yield from result.steps


def lines_not_parsed(text: str, variables: Mapping[str, str]) -> list[int]:
    """Return the lines of statements that cannot be parsed; an unknown kind of statement is not listed."""
    return [
        statement.line
        for statement in islice(statements(text), MAX_STATEMENTS)
        if not _is_parsed(with_variables(statement.text, variables)[0].replace(HOLE, WORD))
    ]


def _is_parsed(text: str) -> bool:
    if text.split(None, 1)[0].upper() in _HARMLESS or any(
        form.match(text) for form in (_SET, _DIRECTORY, _CHANGE)
    ):
        return True
    try:
        return _parsed(_rewritten(text)) is not None
    except RecursionError:
        return False


def _read(text: str, result: StatementTargets) -> None:
    setting = _SET.fullmatch(text)
    if setting:
        if WORD in setting[2] or not result.is_certain:
            result.session.variables.pop(setting[1], None)
        else:
            result.session.variables[setting[1]] = setting[2].strip()
            result.session.note_setting(setting[1], setting[2].strip())
        return
    directory = _DIRECTORY.match(text)
    if directory:
        _insert_directory(directory, result)
        return
    # If the partition exists already, it stays unchanged.
    result.is_certain &= not _IF_NEW.match(text)
    tree = _parsed(_rewritten(text))
    change = _CHANGE.match(text)
    kind, first = type(tree).__name__, text.split(None, 1)[0].upper()
    if change and (tree is None or kind == "Command"):
        _change(change, result)
    elif first == "ANALYZE":
        _analyze(text, result)
    elif isinstance(tree, exp.Query | exp.Values):
        result.reads(tree)
    elif kind in READERS:
        READERS[kind](tree, result)
    elif kind not in _NOTHING and first not in _HARMLESS:
        words = " ".join(takewhile(_NAMED.__contains__, text.upper().split()))
        reason = (of_programs.STATEMENT if words else of_programs.ANY_STATEMENT)(words=words)
        is_template = _TEMPLATE.search(text) is not None
        result.unread(reason.reworded(f"{reason}{of_programs.TEMPLATE}") if is_template else reason)


def _rewritten(text: str) -> str:
    """Return a statement in a form that sqlglot parses."""
    for form, other in _OTHER_FORMS:
        match = form.match(text)
        if match:
            return other + text[match.end() :]
    return _IF_NEW.sub(r"\1", text, count=1)


def _parsed(text: str) -> Any:
    """Return the tree of one statement; None if it cannot be parsed."""
    try:
        return parsed(text, "spark")
    except SqlError:
        return None


def _table_of(name: str) -> Any:
    """Return the tree of a table's name; None if it cannot be parsed."""
    query = _parsed(f"SELECT * FROM {name}")  # noqa: S608  read, never run
    return query.find(exp.Table) if query is not None else None


def _insert_directory(match: re.Match[str], result: StatementTargets) -> None:
    """Read INSERT OVERWRITE DIRECTORY; sqlglot does not parse most of its forms."""
    rest = _ROW_FORMAT.sub("", match["rest"], count=1)
    stored = _STORED.match(rest)
    query = _parsed(rest[stored.end() :] if stored else rest)
    if query is None:
        result.unread(of_programs.DIRECTORY())
    else:
        result.reads(query)
    option = _PATH_OPTION.search(match["options"] or "")
    written = match["path"] or (option[1] if option else "")
    path = re.sub(r"\\(.)", r"\1", written[1:-1])
    if match["local"] and path.startswith("/"):
        path = "file:" + path
    result.path(path, "overwrite", (match["format"] or (stored[1] if stored else "")).lower())


def _change(match: re.Match[str], result: StatementTargets) -> None:
    """Read a change of a table's columns, partitions or layout; a change of properties is ignored."""
    table = _table_of(match["name"])
    if table is None:
        result.unread(of_programs.NAME_OF_TABLE())
    elif match["rest"].upper() != "UNSET":
        result.write(table, "alter")


def _analyze(text: str, result: StatementTargets) -> None:
    """Read ANALYZE, which counts the rows of a table; with NOSCAN it looks only at files."""
    match = _ANALYZE.match(text)
    table = _table_of(match["name"]) if match else None
    if match and match["rest"].strip().upper() == "NOSCAN":
        return
    if table is not None:
        result.reads(table)
    elif _ANALYZE_ALL.match(text):
        result.unread(of_programs.ANALYZED_TABLES())
    else:
        result.unread(of_programs.ANALYZED_TABLE())


def _insert(tree: Any, result: StatementTargets) -> None:
    result.reads(tree, besides=tree.this)
    if isinstance(tree.this, exp.Directory):
        result.path(tree.this.this.name, "overwrite", "")
        return
    overwrites, replaces = bool(tree.args.get("overwrite")), bool(tree.args.get("where"))
    partition = tree.args.get("partition") or tree.this.args.get("partition")
    keeps_others = bool(partition) or result.session.overwrites_partitions()
    change = "overwrite" if overwrites or replaces else "append"
    result.write(tree.this, change, partial=(overwrites and keeps_others) or replaces)


def _inserts(tree: Any, result: StatementTargets) -> None:
    """Read `FROM ... INSERT ... INSERT ...`."""
    result.reads(tree.args.get("source"))
    for insert in tree.expressions:
        _insert(insert, result)


def _rewrite(tree: Any, result: StatementTargets) -> None:
    """Read UPDATE, DELETE and MERGE: unchanged rows are read and written again."""
    result.reads(tree)
    result.write(tree.this, "overwrite", rewrites=True, partial=True)


def _cache(tree: Any, result: StatementTargets) -> None:
    if tree.expression is not None:
        result.reads(tree.expression)
        result.session.add_view(tree.this.name)


def _use(tree: Any, result: StatementTargets) -> None:
    parts = of_table(tree.this)
    kind = str(tree.args.get("kind") or "").upper()
    if any(WORD in part for part in parts):
        result.session.use(None)
    elif kind == "CATALOG" and parts:
        result.session.use_catalog(parts[0], is_certain=result.is_certain)
    elif parts:
        result.session.use(parts, is_certain=result.is_certain)


def _load(tree: Any, result: StatementTargets) -> None:
    path = tree.args["inpath"].name
    if tree.args.get("local") and path.startswith("/"):
        path = "file:" + path
    result.path(path, "", "")
    overwrite, partition = bool(tree.args.get("overwrite")), bool(tree.args.get("partition"))
    result.write(tree.this, "overwrite" if overwrite else "append", partial=overwrite and partition)


_NOTHING = frozenset({"Refresh", "Semicolon", "Uncache"})

READERS: Mapping[str, Callable[[Any, StatementTargets], None]] = {
    "Cache": _cache,
    # The values of variables may be queries.
    **dict.fromkeys(("Declare", "Set"), lambda tree, result: result.reads(tree)),
    "Delete": _rewrite,
    "Insert": _insert,
    "LoadData": _load,
    "Merge": _rewrite,
    "MultitableInserts": _inserts,
    "Update": _rewrite,
    "Use": _use,
    **DDL,
}
"""sqlglot's class of a statement -> the function that reads it; queries are not listed."""
