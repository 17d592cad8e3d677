"""Every kind of step that a seeded program may take: one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

KEPT = ".localCheckpoint()"
"""In the text of a step that keeps the rows of a frame: it reads them, whatever follows."""

COLUMNS = "id bigint, name string, p int"
FILES = ("parquet", "csv", "json")
LAKES = ("delta", "iceberg")
EVERY = FILES + LAKES
WITH_PATHS = (*FILES, "delta")


@dataclass(frozen=True)
class Thing:
    """Something that a program may read or change."""

    name: str
    kind: str
    """`path`, `managed`, `external` or `view`; `sunk` is a folder that a stream keeps a log of."""

    form: str
    place: str = ""
    parted: bool = False
    """By `p`."""

    filled: bool = False
    """There are rows in it."""

    stale: bool = False
    """A table whose files changed behind Spark's back."""

    below: tuple[Thing, ...] = ()
    """The source of a view."""

    @property
    def has_name(self) -> bool:
        """Return whether a catalog has it."""
        return self.kind not in ("path", "sunk")

    @property
    def is_table(self) -> bool:
        """Return whether a catalog has it and its rows may change."""
        return self.kind in ("managed", "external")


KINDS: dict[str, Callable[[Thing], bool]] = {
    "path": lambda thing: thing.kind == "path",
    "file path": lambda thing: thing.kind == "path" and thing.form in FILES,
    "flat file path": lambda thing: thing.kind == "path" and thing.form in FILES and not thing.parted,
    "parted file path": lambda thing: thing.kind == "path" and thing.form in FILES and thing.parted,
    "delta path": lambda thing: thing.kind == "path" and thing.form == "delta",
    "table": lambda thing: thing.is_table,
    "session table": lambda thing: thing.is_table and thing.form != "iceberg",
    "file table": lambda thing: thing.is_table and thing.form in FILES,
    "managed file table": lambda thing: thing.kind == "managed" and thing.form in FILES,
    "parted file table": lambda thing: thing.is_table and thing.form in FILES and thing.parted,
    "lake": lambda thing: thing.is_table and thing.form in LAKES,
    "view": lambda thing: thing.kind == "view",
}
"""Key -> the things that a row may change."""


@dataclass(frozen=True)
class Row:
    """A kind of step.

    The text has `{table}`, `{place}`, `{form}`, `{options}` and `{by}` of the changed or new dataset, and its
    source: a data frame in `{frame}`, SQL in `{query}`, a stream in `{stream}`. `{new}` is another name.
    """

    text: str
    on: str = ""
    """The thing that it changes, a key of `KINDS`."""

    makes: str = ""
    """The kind of its result: of a new place and name, or of a new name for the place that it is `on`."""

    forms: tuple[str, ...] = FILES
    weight: int = 2
    leaves: str = "rows"
    """State of the former place: `rows`, `nothing` in it, `no name`, or `as it was`."""

    fails: bool = False
    idle: bool = False
    """It fails before it reads its sources."""

    partly: bool = False
    """It need not read all rows."""

    itself: bool = False
    """It may read the table that it changes."""

    rewrites: bool = False
    """It reads the table that it changes."""


SAVE = ".write{by}{options}.format('{form}').save('{place}')"
FOLDER = "{options}.format('{form}').save('{place}/p=1')"
FAILING = "{frame}.selectExpr('id', \"if(id > 0, string(raise_error('no')), name) name\", 'p')"
FAILING_QUERY = "select id, if(id > 0, string(raise_error('no')), name) as name, p from ({query})"
STREAM = "{stream}.writeStream.trigger(availableNow=True).option('checkpointLocation', '{state}')"
ONE_EACH = "(select id, max(name) as name, max(p) as p from ({query}) group by id)"

ROWS = (
    # Files, and Delta's, by their path.
    Row("{frame}" + SAVE, makes="path", forms=WITH_PATHS, weight=6),
    Row("{frame}" + SAVE.replace("write", "write.mode('overwrite')"), makes="path", forms=WITH_PATHS),
    Row("{frame}" + SAVE.replace("write", "write.mode('append')"), on="path", weight=5),
    Row("{frame}" + SAVE.replace("write", "write.mode('overwrite')"), on="path", weight=4),
    Row("{frame}" + SAVE.replace("write", "write.mode('ignore')"), on="path", idle=True, weight=1),
    Row("insert overwrite directory '{place}' using {form} {header} {query}", on="flat file path"),
    # A folder of a dataset, by its path: other folders keep their rows.
    Row("{frame}.select('id', 'name').write.mode('overwrite')" + FOLDER, on="parted file path", weight=6),
    Row("{frame}.select('id', 'name').write.mode('append')" + FOLDER, on="parted file path", weight=3),
    # Tables.
    Row(
        "create table {table} using {form} {header} {parted} as {query}",
        makes="managed",
        forms=EVERY,
        weight=5,
    ),
    Row("create table {table} ({columns}) using {form} {header} {parted}", makes="managed", forms=EVERY),
    Row(
        "create table {table} using {form} {header} {parted} location '{place}' as {query}",
        makes="external",
        forms=WITH_PATHS,
        weight=3,
    ),
    Row("create table {table} ({columns}) using {form} {header} location '{place}'", makes="external"),
    Row(
        "create table {table} using {form} {header} location '{place}'", on="flat file path", makes="external"
    ),
    Row("create table {table} using delta location '{place}'", on="delta path", makes="external"),
    Row("{frame}.write.format('{form}'){by}{options}.saveAsTable('{table}')", makes="managed", forms=EVERY),
    Row(
        "{frame}.write.format('{form}'){by}{options}.option('path', '{place}').saveAsTable('{table}')",
        makes="external",
        forms=WITH_PATHS,
    ),
    Row("{frame}.writeTo('{table}').using('{form}').create()", makes="managed", forms=LAKES),
    Row("create table if not exists {table} using {form} as {query}", on="table", idle=True, weight=1),
    Row("insert into {table} {query}", on="table", itself=True, weight=6),
    Row("insert overwrite {table} {query}", on="table", weight=4),
    Row("{frame}.write.insertInto('{table}')", on="table", itself=True),
    Row("{frame}.write.insertInto('{table}', overwrite=True)", on="table"),
    Row("{frame}.write.mode('append').format('{form}'){by}.saveAsTable('{table}')", on="table"),
    Row("{frame}.write.mode('overwrite').format('{form}'){by}{options}.saveAsTable('{table}')", on="table"),
    Row("insert into {table} partition (p = 1) select id, name from ({query})", on="parted file table"),
    Row("insert overwrite {table} partition (p = 1) select id, name from ({query})", on="parted file table"),
    Row(
        "{frame}.write.option('partitionOverwriteMode', 'dynamic').insertInto('{table}', overwrite=True)",
        on="parted file table",
    ),
    Row("truncate table {table}", on="managed file table", leaves="nothing", weight=1),
    # Rows of lakes.
    Row("{frame}.writeTo('{table}').append()", on="lake"),
    Row("{frame}.writeTo('{table}').overwritePartitions()", on="lake"),
    Row("{frame}.writeTo('{table}').using('{form}'){parted_by}.createOrReplace()", on="lake"),
    Row("update {table} set name = concat(name, 'z') where id = 1", on="lake", rewrites=True, weight=3),
    Row("update {table} set name = 'all'", on="lake", rewrites=True, weight=1),
    Row("delete from {table} where id = 2", on="lake", rewrites=True, weight=3),
    Row("delete from {table} where id = 77", on="lake", rewrites=True, weight=1),
    Row("delete from {table}", on="lake", rewrites=True, leaves="nothing", weight=1),
    Row("delete from delta.`{place}` where id = 1", on="delta path", rewrites=True),
    Row(
        f"merge into {{table}} t using {ONE_EACH} s on t.id = s.id"
        " when matched then update set name = s.name when not matched then insert *",
        on="lake",
        rewrites=True,
        weight=4,
    ),
    Row(
        f"merge into {{table}} t using {ONE_EACH} s on t.id = s.id when matched then delete",
        on="lake",
        rewrites=True,
        leaves="nothing",
    ),
    # Names.
    Row("alter table {table} rename to {new}", on="session table", weight=4, leaves="new name"),
    Row("drop table {table}", on="table", leaves="no name", weight=4),
    Row("drop table {table} purge", on="table", leaves="no name"),
    Row("drop table if exists {table}", on="table", leaves="no name", weight=1),
    Row("drop table if exists {table}", forms=EVERY, weight=1),
    Row("create view {table} as {query}", makes="view", partly=True, weight=3),
    Row("create or replace view {table} as {query}", on="view", partly=True, weight=1),
    Row("drop view {table}", on="view", leaves="no name"),
    Row("drop database {database} cascade", leaves="no database", weight=1),
    # Streams.
    Row(
        STREAM + ".format('{form}').start('{place}').awaitTermination()",
        makes="sunk",
        forms=("parquet",),
        weight=1,
    ),
    Row(STREAM + ".format('delta').start('{place}').awaitTermination()", makes="path", forms=("delta",)),
    Row(
        STREAM.replace("{stream}", "{stream}.dropDuplicates(['id'])")
        + ".format('{form}').start('{place}').awaitTermination()",
        makes="sunk",
        forms=("parquet",),
    ),
    Row(STREAM + ".format('{form}').toTable('{table}').awaitTermination()", makes="sunk table"),
    Row(
        STREAM + ".foreachBatch(lambda rows, _: rows.write.mode('append'){by}{options}.format('{form}')"
        ".save('{place}')).start().awaitTermination()",
        on="path",
        partly=True,
    ),
    # Reads alone.
    Row("{frame}.collect()", weight=3),
    Row("{frame}.count()", partly=True),
    Row("{frame}.write.format('noop').mode('overwrite').save()"),
    Row("{frame}.schema", idle=True, weight=1),
    # What fails.
    Row(FAILING + SAVE, fails=True),
    Row(FAILING + SAVE.replace("write", "write.mode('append')"), on="path", fails=True, leaves="as it was"),
    Row(
        FAILING + SAVE.replace("write", "write.mode('overwrite')"),
        on="file path",
        fails=True,
        leaves="no name",
    ),
    Row(
        FAILING + SAVE.replace("write", "write.mode('overwrite')"),
        on="delta path",
        fails=True,
        leaves="as it was",
    ),
    Row("{frame}" + SAVE, on="path", fails=True, idle=True, leaves="as it was"),
    Row("create table {table} using {form} as " + FAILING_QUERY, fails=True, forms=EVERY),
    Row("insert into {table} " + FAILING_QUERY, on="table", fails=True, leaves="as it was"),
    Row("insert overwrite {table} " + FAILING_QUERY, on="file table", fails=True, leaves="nothing"),
    Row(
        "create table {table} using {form} as {query}", on="table", fails=True, idle=True, leaves="as it was"
    ),
    Row("drop table {table}", fails=True, weight=1),
    Row(FAILING + ".collect()", fails=True, partly=True),
)
"""In any order."""
