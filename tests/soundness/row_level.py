"""Statements that change some rows of a lake's table: the result is the table after them.

The table is first made of the rows of `former`; a statement's new rows are in `source`. So the lineage of
the table afterwards has edges from both, however Delta and Iceberg carry the statement out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from prover import Query
from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Lake:
    """A kind of table."""

    table: str
    using: str


def _iceberg(mode: str) -> Lake:
    properties = ", ".join(f"'write.{verb}.mode' = '{mode}'" for verb in ("delete", "update", "merge"))
    return Lake("lake.db.t", f"using iceberg tblproperties ({properties})")


DELTA = Lake("t", "using delta")
ON_WRITE = _iceberg("copy-on-write")
ON_READ = _iceberg("merge-on-read")
LAKES = {"delta": DELTA, "iceberg": ON_WRITE, "iceberg on read": ON_READ}
EVERY = (DELTA, ON_WRITE, ON_READ)
WRITTEN = (DELTA, ON_WRITE)
ICEBERG = (ON_WRITE, ON_READ)

DYNAMIC = "spark.sql.sources.partitionOverwriteMode"


@dataclass(frozen=True)
class Statement:
    """A change of the table `{t}`; several statements are lines that end with a semicolon."""

    name: str
    lakes: tuple[Lake, ...]
    sql: str
    partitioned: bool = False
    """By `g`."""

    held: str = "k, g, v, s"
    """Columns of `former` that the table is made of."""


NESTED = "k, g, v, s, array(s) as xs, map('a', s) as m"

STATEMENTS = (
    Statement("update", EVERY, "update {t} set v = v + s.a where g = 1"),
    Statement("update everywhere", (DELTA,), "update {t} set v = v * g, g = s.a"),
    Statement(
        "update by a subquery",
        (ON_WRITE,),
        "update {t} set v = -1 where k in (select k from source where g > 1)",
    ),
    Statement(
        "update inside a struct", WRITTEN, "update {t} set s.b = concat(s.b, 'x'), s.a = g where v > 50"
    ),
    Statement("update where a struct's field", EVERY, "update {t} set v = -v where s.a > 3"),
    Statement(
        "update by a choice between literals",
        EVERY,
        "update {t} set s.b = if(s.a > 3, 'hi', 'lo'), g = if(v > 50, 1, 2)",
    ),
    Statement(
        "update where elements and values",
        EVERY,
        "update {t} set v = -v where xs[0].a > 3;\nupdate {t} set g = k where m['a'].b > 'b'",
        held=NESTED,
    ),
    Statement("delete where a struct's field", EVERY, "delete from {t} where s.a > 3"),
    Statement(
        "delete where elements and values",
        EVERY,
        "delete from {t} where xs[0].a > 3;\ndelete from {t} where m['a'].b > 'b'",
        held=NESTED,
    ),
    Statement(
        "merge where structs' fields",
        EVERY,
        "merge into {t} t using source o on t.k = o.k"
        " when matched and t.s.a > 3 then update set v = o.v"
        " when matched and o.s.b > 'b' then delete"
        " when not matched and o.s.a > 2 then insert (k, g) values (o.k, o.g)"
        " when not matched by source and t.s.b > 'b' then update set g = -t.g",
    ),
    Statement(
        "merge where elements and values",
        EVERY,
        "merge into {t} t using (select k, g, v, array(s) as xs, map('a', s) as m from source) o on t.k = o.k"
        " when matched and o.xs[0].a > 3 then update set v = o.v"
        " when matched and t.m['a'].b > 'b' then delete"
        " when not matched and o.m['a'].a > 2 then insert (k, g) values (o.k, o.g)"
        " when not matched by source and t.xs[0].b > 'b' then update set g = -t.g",
        held=NESTED,
    ),
    Statement("delete", (DELTA, ON_READ), "delete from {t} where g = 2 or v > 80"),
    Statement(
        "delete by a subquery", ICEBERG, "delete from {t} where k in (select k from source where v > 20)"
    ),
    Statement(
        "delete by a correlated subquery",
        (ON_WRITE,),
        "delete from {t} t where not exists (select 1 from source o where o.k = t.k and o.g < t.g)",
    ),
    Statement(
        "merge stars",
        WRITTEN,
        "merge into {t} t using source o on t.k = o.k"
        " when matched then update set * when not matched then insert *",
    ),
    Statement(
        "merge computed update",
        (ON_WRITE,),
        "merge into {t} t using source o on t.k = o.k"
        " when matched and o.g > 1 then update set v = t.v + o.v, g = o.g",
    ),
    Statement(
        "merge delete",
        (DELTA,),
        "merge into {t} t using source o on t.k = o.k when matched and o.v > t.v then delete",
    ),
    Statement(
        "merge not matched by source",
        WRITTEN,
        "merge into {t} t using source o on t.k = o.k"
        " when not matched by source and t.g = 1 then update set v = -t.v"
        " when not matched by source and t.v > 70 then delete",
    ),
    Statement(
        "merge with every clause",
        EVERY,
        "merge into {t} t using source o on t.k = o.k"
        " when matched and o.v > 70 then delete"
        " when matched and t.g > 1 then update set v = o.v, s = o.s"
        " when matched then update set g = o.g"
        " when not matched and o.g > 0 then insert (k, v) values (o.k, o.v * 2)"
        " when not matched by source and t.v < 30 then update set g = -1"
        " when not matched by source and t.s.a = 1 then delete",
    ),
    Statement(
        "merge inserts alone",
        WRITTEN,
        "merge into {t} t using source o on t.k = o.k"
        " when not matched and o.g > 0 then insert (k, v) values (o.k, o.v * 2)",
    ),
    Statement(
        "merge inside a struct",
        WRITTEN,
        "merge into {t} t using source o on t.k = o.k when matched then update set s.a = o.s.a + 1",
    ),
    Statement(
        "merge of a query",
        (DELTA,),
        "merge into {t} t using (select s.a as k, max(v) as v, count(*) as n from source group by 1) o"
        " on t.k = o.k * 4 when matched then update set v = o.v"
        " when not matched then insert (k, g) values (o.k, o.n)",
    ),
    Statement(
        "merge with schema evolution",
        (DELTA,),
        "merge with schema evolution into {t} t using (select *, v * 2 as more from source) o on t.k = o.k"
        " when matched then update set * when not matched then insert *",
    ),
    Statement("insert by name", WRITTEN, "insert into {t} by name select v + 1 as v, k, g from source"),
    Statement("insert overwrite", (DELTA,), "insert overwrite {t} select k, g, v * 2, s from source"),
    Statement(
        "insert overwrite of a partition",
        (DELTA,),
        "insert overwrite {t} partition (g = 1) select k, v, s from source where v > 30",
        partitioned=True,
    ),
    Statement(
        "insert overwrite of the partitions that rows are in",
        WRITTEN,
        f"set {DYNAMIC} = dynamic;\ninsert overwrite {{t}} select k, g, v, s from source where v > 80",
        partitioned=True,
    ),
    Statement(
        "replace where",
        WRITTEN,
        "insert into {t} replace where g = 1 select k, g, v, s from source where g = 1",
        partitioned=True,
    ),
    Statement(
        "replace itself",
        (DELTA,),
        "create or replace table {t} {using} as select t.k, o.g, t.v + o.v as v, o.s"
        " from {t} t join source o on t.k = o.k",
    ),
    Statement(
        "restore",
        (DELTA,),
        "delete from {t} where g = 1;\ninsert overwrite {t} select * from source;\n"
        "restore table {t} to version as of 1",
    ),
    Statement(
        "a former version",
        (DELTA,),
        "insert overwrite {t} select * from source;\n"
        "insert into {t} select k, g, -v, s from {t} version as of 0 where g = 1",
    ),
    Statement(
        "shallow clone",
        (DELTA,),
        "drop table if exists copied;\ncreate table copied shallow clone {t};\n"
        "update copied set v = 0 where g = 1;\n"
        "insert overwrite {t} select * from copied",
    ),
)


def queries() -> list[Query]:
    """Return every statement on every kind of table that can do it."""
    return [
        Query(f"row level: {statement.name}, {name}", _change(statement, lake), tables="row_level")
        for statement in STATEMENTS
        for name, lake in LAKES.items()
        if lake in statement.lakes
    ]


def _change(statement: Statement, lake: Lake) -> Callable[[SparkSession, Path], DataFrame]:
    by = "partitioned by (g)" if statement.partitioned else ""

    def run(spark: SparkSession, scratch: Path) -> DataFrame:
        # A statement that Spark refused may have left it.
        spark.conf.unset(DYNAMIC)
        spark.sql(f"drop table if exists {lake.table}")
        spark.sql(f"create table {lake.table} {lake.using} {by} as select {statement.held} from former")
        for sql in statement.sql.format(t=lake.table, using=lake.using).split(";\n"):
            spark.sql(sql)
        return spark.table(lake.table)

    return run
