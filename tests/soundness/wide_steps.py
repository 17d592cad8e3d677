"""Tables of the expressions, frames and steps of programs over wide columns, one row each.

Columns have other types and other sources, so that a false edge and a missing one show. In a text, `{n}` and
`{m}` are columns of numbers, `{s}` and `{t}` of strings, `{d}` of doubles, `{i}` of ints, `{x}` of a struct
and `{v}` a session variable; each occurrence of a letter is the same column.
"""

from __future__ import annotations

from dataclasses import dataclass

FILES = ("parquet", "csv", "json")
LAKES = ("delta", "iceberg")
STRUCT = "struct<a:bigint,b:string>"
LETTERS = {"n": "bigint", "m": "bigint", "s": "string", "t": "string", "d": "double", "i": "int", "x": STRUCT}
"""Letter in a text -> type of its column."""

NAMES = ("id", "v", "s", "w", "z")
"""Columns of datasets that a program makes: few, so that a later schema has them with other types."""


@dataclass(frozen=True)
class Expression:
    """A value of a row, in SQL."""

    text: str
    type: str
    weight: int = 1


EXPRESSIONS = (
    Expression("{n}", "bigint", 5),
    Expression("{n} + {m}", "bigint", 2),
    Expression("case when {s} > 'm' then {n} else {m} end", "bigint", 2),
    Expression("bigint(length({s}))", "bigint"),
    Expression("bigint({i})", "bigint"),
    Expression("coalesce({x}.a, {n})", "bigint"),
    Expression("{x}.a", "bigint", 2),
    Expression("greatest({n}, {v})", "bigint", 2),
    Expression("{v}", "bigint"),
    Expression("7L", "bigint"),
    Expression("{s}", "string", 5),
    Expression("concat({s}, '-', {t})", "string", 2),
    Expression("if({n} > 8, {s}, {t})", "string", 2),
    Expression("string({n})", "string"),
    Expression("{x}.b", "string", 2),
    Expression("'k0'", "string"),
    Expression("{d}", "double", 4),
    Expression("{d} * {n}", "double"),
    Expression("double({n})", "double"),
    Expression("0.5D", "double"),
    Expression("{i}", "int", 4),
    Expression("int({n} % 5)", "int"),
    Expression("3", "int"),
    Expression("{x}", STRUCT, 4),
    Expression("struct({n} a, {s} b)", STRUCT, 2),
    Expression("struct({x}.a a, {s} b)", STRUCT),
    Expression("if({n} > 8, {x}, struct({m} a, {s} b))", STRUCT),
    Expression("struct(1L a, 'k0' b)", STRUCT),
)
"""In any order; each type has one that needs no column."""


@dataclass(frozen=True)
class Shape:
    """A frame over another, `{l}`, and maybe over a second one, `{r}`.

    `{n1}` and the like are the second frame's columns, `{new}` and `{new2}` names that no frame has.
    """

    text: str
    keeps: bool = True
    """It has all columns of the first frame."""

    adds: tuple[tuple[str, str, str], ...] = ()
    """Name, type and the letters that the value uses."""

    decides: str = ""
    """Letters of the columns that decide which rows there are."""

    weight: int = 2

    @property
    def has_second(self) -> bool:
        """Return whether it needs a second frame."""
        return "{r}" in self.text


def _sql(text: str) -> str:
    second = ", r={r}" if "{{r}}" in text else ""
    return f'spark.sql("{text}", l={{l}}{second})'


SHAPES = (
    Shape("{l}.where('{n} > 8')", decides="n"),
    Shape("{l}.where(\"{s} > 'f'\")", decides="s"),
    Shape(
        _sql("select {s} {new}, sum({n}) {new2}, max({t}) {new3} from {{l}} group by {s}"),
        keeps=False,
        adds=(("{new}", "string", "s"), ("{new2}", "bigint", "n"), ("{new3}", "string", "t")),
        decides="s",
        weight=3,
    ),
    Shape(
        _sql(
            "select *, sum({n}) over (partition by {s}) {new}, rank() over (order by {m}) {new2} from {{l}}"
        ),
        adds=(("{new}", "bigint", "ns"), ("{new2}", "int", "m")),
        weight=3,
    ),
    Shape(
        "{l}.join({r}.selectExpr('{n1} {new}', '{m1} {new2}', '{s1} {new3}'),"
        " col('{n}') == col('{new}'), 'left')",
        adds=(("{new}", "bigint", "1n"), ("{new2}", "bigint", "1m"), ("{new3}", "string", "1s")),
        decides="n1n",
        weight=4,
    ),
    Shape(
        "{l}.join({r}.selectExpr('{s1} {new}', '{n1} {new2}'), col('{s}') == col('{new}'), 'left_semi')",
        decides="s1s",
    ),
    Shape(
        _sql("select {s} {new}, {t} {new2} from {{l}} union all select {t1}, {s1} from {{r}}"),
        keeps=False,
        adds=(("{new}", "string", "s1t"), ("{new2}", "string", "t1s")),
        weight=3,
    ),
    Shape(
        _sql("select *, (select max({n1}) from {{r}}) {new} from {{l}}"), adds=(("{new}", "bigint", "1n"),)
    ),
    Shape(_sql("select * from {{l}} where {n} in (select {n1} from {{r}})"), decides="n1n"),
    Shape(
        "{l}.withColumn('{new}', struct(col('{n}').alias('k'), col('{m}').alias('a'), col('{s}').alias('b'))"
        ".dropFields('k'))",
        adds=(("{new}", STRUCT, "ms"),),
        weight=2,
    ),
    Shape(
        "{l}.withColumn('{new}', struct(col('{n}').alias('a'), col('{s}').alias('b'))"
        ".withField('a', col('{m}')))",
        adds=(("{new}", STRUCT, "ms"),),
        weight=2,
    ),
    Shape(
        "{l}.withColumn('{new}', col('{x}').withField('b', col('{s}'))).withColumn('{new2}', col('{new}.a'))",
        adds=(("{new}", STRUCT, "xs"), ("{new2}", "bigint", "x")),
        weight=2,
    ),
    Shape("{l}.distinct()", decides="*", weight=1),
    Shape("{l}.localCheckpoint()", weight=1),
    Shape("{l}.cache()", weight=1),
)
"""In any order."""


@dataclass(frozen=True)
class WideRow:
    """A kind of step: its text, its target, and its effect on columns and rows."""

    text: str
    does: str
    """A key of `EFFECTS` in `wide_programs`."""

    on: str = ""
    makes: str = ""
    forms: tuple[str, ...] = FILES
    weight: int = 2


SAVE = "{options}.format('{form}').save('{place}')"
STREAM = "{stream}.writeStream.trigger(availableNow=True).option('checkpointLocation', '{state}')"
PATHS = (*FILES, "delta")
TABLES = ("parquet", "json", *LAKES)
EACH = "(select {n} k, max({s}) o from {{q}} group by {n})"

WIDE_ROWS = (
    # Files and Delta's, by their path.
    WideRow("{frame}.write" + SAVE, "fills anew", makes="path", forms=PATHS, weight=3),
    WideRow("{frame}.write.mode('append')" + SAVE, "fills anew", makes="path", forms=PATHS, weight=6),
    WideRow("{frame}.write.mode('overwrite')" + SAVE, "fills anew", makes="path", forms=PATHS),
    WideRow("{frame}.write.mode('append')" + SAVE, "adds", on="path", weight=4),
    WideRow("{frame}.write.mode('overwrite'){schema}" + SAVE, "fills anew", on="path", weight=6),
    # Tables.
    WideRow(
        'spark.sql("create table {table} using {form} as select * from {{q}}", q={frame})',
        "fills anew",
        makes="table",
        forms=TABLES,
        weight=3,
    ),
    WideRow(
        'spark.sql("create table {table} ({columns}) using {form}")', "is empty", makes="table", forms=TABLES
    ),
    WideRow(
        "{frame}.write.mode('append').format('{form}').saveAsTable('{table}')",
        "fills anew",
        makes="table",
        forms=TABLES,
        weight=5,
    ),
    WideRow(
        "{frame}.write.mode('overwrite').format('{form}'){schema}.saveAsTable('{table}')",
        "fills anew",
        on="table",
        weight=5,
    ),
    WideRow('spark.sql("insert into {table} select * from {{q}}", q={frame})', "adds", on="table", weight=6),
    WideRow(
        'spark.sql("insert overwrite {table} select * from {{q}}", q={frame})', "fills", on="table", weight=4
    ),
    WideRow(
        'spark.sql("insert into {table} ({some}) select * from {{q}}", q={frame})', "adds some", on="table"
    ),
    WideRow("{frame}.write.mode('append').format('{form}').saveAsTable('{table}')", "adds", on="table"),
    WideRow("{frame}.writeTo('{table}').append()", "adds", on="lake"),
    WideRow(
        "{frame}.writeTo('{table}').using('{form}').createOrReplace()", "fills anew", on="lake", weight=10
    ),
    # Columns.
    WideRow('spark.sql("alter table {table} add columns ({more})")', "adds a column", on="table", weight=5),
    WideRow(
        'spark.sql("alter table {table} rename column {old} to {new}")', "renames", on="mapped", weight=24
    ),
    WideRow('spark.sql("alter table {table} drop column {old}")', "drops a column", on="mapped", weight=18),
    WideRow(
        'spark.sql("alter table {table} alter column {old} type bigint")', "retypes", on="iceberg", weight=40
    ),
    WideRow(
        "spark.sql(\"alter table {table} set tblproperties ('delta.columnMapping.mode' = 'name',"
        " 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')\")",
        "maps",
        on="unmapped",
        weight=16,
    ),
    # Rows.
    WideRow(
        "spark.sql(\"update {table} set {s} = concat({s}, '-', string({n})) where {m} > 8\")",
        "updates",
        on="lake",
        weight=20,
    ),
    WideRow('spark.sql("delete from {table} where {n} > 15")', "deletes", on="lake", weight=16),
    WideRow(
        f'spark.sql("merge into {{table}} t using {EACH} q on t.{{n0}} = q.k when matched then update set'
        ' {s0} = q.o when not matched then insert ({n0}, {s0}) values (q.k, q.o)", q={frame})',
        "merges",
        on="lake",
        weight=60,
    ),
    # Names.
    WideRow('spark.sql("alter table {table} rename to {renamed}")', "is renamed", on="session table"),
    WideRow('spark.sql("drop table {table}")', "is dropped", on="table"),
    WideRow(
        'spark.sql("create view {view} as select {listed} from {table}")', "is viewed", on="table", weight=4
    ),
    WideRow("{frame}.createOrReplaceTempView('{temporary}')", "is named", makes="frame", weight=2),
    WideRow("{temporary} = {frame}.cache()", "is named", makes="frame", weight=1),
    WideRow("{temporary} = {frame}.localCheckpoint()", "is kept", makes="frame", weight=2),
    # Variables.
    WideRow(
        'spark.sql("declare or replace variable {variable} bigint"),'
        ' spark.sql("set var {variable} = (select max({n}) from {{q}})", q={frame})',
        "sets",
        makes="variable",
        weight=3,
    ),
    WideRow(
        "spark.sql(\"execute immediate 'select {listed}, :m {new} from {table}' using {variable} as m\")"
        ".write.mode('append').format('{form}').save('{place}')",
        "executes",
        makes="path",
        forms=("parquet",),
        weight=16,
    ),
    # Streams.
    WideRow(
        STREAM + "{options}.format('{form}').start('{place}').awaitTermination()",
        "streams",
        makes="sunk",
        weight=1,
    ),
    WideRow(
        STREAM + ".format('delta').start('{place}').awaitTermination()",
        "streams",
        makes="path",
        forms=("delta",),
        weight=1,
    ),
    WideRow(
        STREAM + ".format('{form}').toTable('{table}').awaitTermination()", "streams", makes="sunk table"
    ),
    WideRow(
        STREAM + ".foreachBatch(lambda rows, _: rows.write.mode('append'){options}.format('{form}')"
        ".save('{place}')).start().awaitTermination()",
        "streams",
        makes="path",
        forms=("parquet", "json"),
        weight=1,
    ),
)
"""In any order."""
