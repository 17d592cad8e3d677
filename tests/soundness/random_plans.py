"""Random queries, each as DataFrame code and as SQL text that means the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from prover import Query
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

NUMBERS = {
    "orders": ("oid", "cust", "amount", "qty"),
    "customers": ("cid", "tier", "ref"),
    "items": ("price", "stock"),
}
TEXTS = {
    "orders": ("item", "status", "note"),
    "customers": ("cname", "city"),
    "items": ("name", "cat"),
}


@dataclass(frozen=True)
class Columns:
    """Columns that a step may use, by name and kind."""

    numbers: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.numbers, *self.texts)


@dataclass(frozen=True)
class Step:
    """One operation on the frame before."""

    frame: Callable[[DataFrame], DataFrame]
    sql: str
    """`{input}` is the frame of the steps before."""

    columns: Columns
    """The columns of its result."""


@dataclass(frozen=True)
class Plan:
    """A base table and the steps from there."""

    table: str
    steps: tuple[Step, ...]

    @property
    def sql(self) -> str:
        text = self.table
        for step in self.steps:
            text = f"({step.sql.replace('{input}', text)})"
        return f"select * from {text}"

    def __repr__(self) -> str:
        return self.sql

    def as_sql(self) -> Query:
        return Query(self.sql, lambda spark, scratch: spark.sql(self.sql))

    def as_frame(self, way: Callable[[DataFrame], DataFrame] | None = None, after: int = 0) -> Query:
        """Return DataFrame code; `way` is put around the frame after so many steps."""

        def run(spark: SparkSession, scratch: Path) -> DataFrame:
            frame = spark.table(self.table)
            for number, step in enumerate(self.steps):
                if way is not None and number == after % len(self.steps):
                    frame = way(frame)
                frame = step.frame(frame)
            return frame

        return Query(self.sql, run)


def _projected(expressions: dict[str, str], numbers: int) -> Step:
    """Compute columns; the first so many are numbers."""
    listed = ", ".join(f"{text} as {name}" for name, text in expressions.items())
    names = tuple(expressions)
    return Step(
        lambda frame: frame.selectExpr(*(f"{text} as {name}" for name, text in expressions.items())),
        f"select {listed} from {{input}}",
        Columns(names[:numbers], names[numbers:]),
    )


@st.composite
def _number(draw: st.DrawFn, columns: Columns) -> str:
    first, second, third = (draw(st.sampled_from(columns.numbers)) for _ in range(3))
    text = draw(st.sampled_from(columns.texts))
    return draw(
        st.sampled_from(
            (
                first,
                f"{first} + {second}",
                f"coalesce({first}, {second})",
                f"case when {first} > 3 then {second} else {third} end",
                f"if({text} > 'f', {first}, {second})",
                f"if({text} > 'f', {first} + 1, {first} + 2)",
                f"if({first} > {second}, 1, 2)",
                f"nullif({first}, {second})",
                f"length({text})",
                f"greatest({first}, {second})",
                f"struct({first} as p, {second} as q).q",
                f"array({first}, {second})[0]",
            )
        )
    )


@st.composite
def _text(draw: st.DrawFn, columns: Columns) -> str:
    first, second = (draw(st.sampled_from(columns.texts)) for _ in range(2))
    number = draw(st.sampled_from(columns.numbers))
    return draw(
        st.sampled_from(
            (
                first,
                f"upper({first})",
                f"concat_ws('-', {first}, {second})",
                f"coalesce({first}, {second}, 'x')",
                f"case when {number} > 5 then {first} else {second} end",
                f"if({number} > 5, 'p', 'q')",
                f"cast({number} as string)",
                f"nvl2({first}, {second}, 'y')",
            )
        )
    )


@st.composite
def project(draw: st.DrawFn, columns: Columns) -> Step:
    count = draw(st.integers(1, 2))
    numbers = [draw(_number(columns)) for _ in range(count)]
    texts = [draw(_text(columns)) for _ in range(draw(st.integers(1, 2)))]
    expressions = {f"c{index}": text for index, text in enumerate((*numbers, *texts))}
    return _projected(expressions, count)


@st.composite
def _predicate(draw: st.DrawFn, columns: Columns) -> str:
    number, other = (draw(st.sampled_from(columns.numbers)) for _ in range(2))
    text = draw(st.sampled_from(columns.texts))
    return draw(
        st.sampled_from(
            (
                f"{number} > 3",
                f"{text} < 'p'",
                f"{number} <= {other} or {text} is null",
                f"{number} < (select max(qty) + 10 from orders where status = 'N')",
                f"{text} in (select name from items where stock > 0) or {number} > 20",
                f"exists (select 1 from customers where cid = {number} and tier > 1) or {text} > 'm'",
            )
        )
    )


@st.composite
def keep(draw: st.DrawFn, columns: Columns) -> Step:
    predicate = draw(_predicate(columns))

    def frame(before: DataFrame) -> DataFrame:
        if "select" in predicate:
            text = f"select * from {{before}} where {predicate}"
            return before.sparkSession.sql(text, before=before)
        return before.filter(predicate)

    return Step(frame, f"select * from {{input}} where {predicate}", columns)


@st.composite
def join(draw: st.DrawFn, columns: Columns) -> Step:
    table = draw(st.sampled_from(tuple(NUMBERS)))
    how = draw(st.sampled_from(("inner", "left", "full", "left semi", "left anti")))
    by_text = draw(st.booleans())
    mine = draw(st.sampled_from(columns.texts if by_text else columns.numbers))
    theirs = draw(st.sampled_from((TEXTS if by_text else NUMBERS)[table]))
    right = Columns(NUMBERS[table], TEXTS[table])
    renamed = {name: f"r_{name}" for name in right.all}
    listed = ", ".join(f"{name} as {new}" for name, new in renamed.items())
    both = columns
    if how not in ("left semi", "left anti"):
        both = Columns(
            (*columns.numbers, *(renamed[name] for name in right.numbers)),
            (*columns.texts, *(renamed[name] for name in right.texts)),
        )
    selected = {f"c{index}": name for index, name in enumerate((*both.numbers[-3:], *both.texts[-3:]))}
    numbers = len(both.numbers[-3:])
    on = f"{mine} = {renamed[theirs]}"
    after = _projected(selected, numbers)

    def frame(before: DataFrame) -> DataFrame:
        other = before.sparkSession.table(table).selectExpr(
            *(f"{name} as {new}" for name, new in renamed.items())
        )
        return after.frame(before.join(other, F.expr(on), how.replace(" ", "")))

    joined = f"(select * from {{input}} {how} join (select {listed} from {table}) on {on})"
    return Step(frame, after.sql.replace("{input}", joined), after.columns)


@st.composite
def union(draw: st.DrawFn, columns: Columns) -> Step:
    table = draw(st.sampled_from(tuple(NUMBERS)))
    mine = (draw(st.sampled_from(columns.numbers)), draw(st.sampled_from(columns.texts)))
    theirs = (draw(st.sampled_from(NUMBERS[table])), draw(st.sampled_from(TEXTS[table])))

    def frame(before: DataFrame) -> DataFrame:
        other = before.sparkSession.table(table).select(*theirs)
        return before.selectExpr(f"{mine[0]} as c0", f"{mine[1]} as c1").union(other)

    left = f"select {mine[0]} as c0, {mine[1]} as c1 from {{input}}"
    text = f"{left} union all select {theirs[0]}, {theirs[1]} from {table}"
    return Step(frame, text, Columns(("c0",), ("c1",)))


@st.composite
def aggregate(draw: st.DrawFn, columns: Columns) -> Step:
    key = draw(st.sampled_from(columns.all))
    number = draw(st.sampled_from(columns.numbers))
    text = draw(st.sampled_from(columns.texts))
    functions = {
        "a0": draw(st.sampled_from((f"sum({number})", "count(*)", f"count(distinct {text})"))),
        "a1": draw(st.sampled_from((f"max({number})", f"avg({number}) filter (where {text} > 'f')"))),
        "a2": draw(st.sampled_from((f"min({text})", f"max(struct({text} as a, {number} as b)).a"))),
    }
    listed = ", ".join(f"{function} as {name}" for name, function in functions.items())
    after = _projected({"c0": "a0", "c1": "a1", "c2": "a2", "c3": f"cast({key} as string)"}, 2)

    def frame(before: DataFrame) -> DataFrame:
        aggregates = [F.expr(function).alias(name) for name, function in functions.items()]
        return after.frame(before.groupBy(key).agg(*aggregates))

    grouped = f"(select {key}, {listed} from {{input}} group by {key})"
    return Step(frame, after.sql.replace("{input}", grouped), after.columns)


@st.composite
def window(draw: st.DrawFn, columns: Columns) -> Step:
    partition = draw(st.sampled_from(columns.all))
    number = draw(st.sampled_from(columns.numbers))
    # Rows that are equal in all columns are the same in any order.
    order = f"order by {', '.join(columns.all)}"
    function = draw(st.sampled_from(("row_number()", f"lag({number})", "rank()", f"sum({number})")))
    selected = {"c0": f"{function} over (partition by {partition} {order})", "c1": number}
    return _projected({**selected, "c2": draw(st.sampled_from(columns.texts))}, 2)


def distinct(columns: Columns) -> st.SearchStrategy[Step]:
    return st.just(Step(lambda frame: frame.distinct(), "select distinct * from {input}", columns))


@st.composite
def sort_and_limit(draw: st.DrawFn, columns: Columns) -> Step:
    order = tuple(draw(st.permutations(columns.all)))
    count = draw(st.integers(3, 40))
    text = f"select * from {{input}} order by {', '.join(order)} limit {count}"
    return Step(lambda frame: frame.orderBy(*order).limit(count), text, columns)


@st.composite
def explode(draw: st.DrawFn, columns: Columns) -> Step:
    first, second = (draw(st.sampled_from(columns.numbers)) for _ in range(2))
    text = draw(st.sampled_from(columns.texts))
    generators = (
        f"explode(array({first}, {second}))",
        f"explode(filter(array({first}, {second}), x -> x > 2))",
    )
    generator = draw(st.sampled_from(generators))
    return _projected({"c0": generator, "c1": text}, 1)


@st.composite
def pivot(draw: st.DrawFn, columns: Columns) -> Step:
    key, by = draw(st.sampled_from(columns.texts)), draw(st.sampled_from(columns.texts))
    value = draw(st.sampled_from(columns.numbers))
    narrow = {"k": f"upper({key})", "p": f"substr({by}, 1, 1)", "v": value}

    def frame(before: DataFrame) -> DataFrame:
        some = before.selectExpr(*(f"{text} as {name}" for name, text in narrow.items()))
        wide = some.groupBy("k").pivot("p", ["p", "N"]).agg(F.sum("v"))
        return wide.selectExpr("p as c0", "N as c1", "k as c2")

    listed = ", ".join(f"{text} as {name}" for name, text in narrow.items())
    wide = f"select * from (select {listed} from {{input}}) pivot (sum(v) for p in ('p' as a, 'N' as b))"
    return Step(frame, f"select a as c0, b as c1, k as c2 from ({wide})", Columns(("c0", "c1"), ("c2",)))


@st.composite
def unpivot(draw: st.DrawFn, columns: Columns) -> Step:
    first, second = (draw(st.sampled_from(columns.numbers)) for _ in range(2))
    narrow = {"k": draw(st.sampled_from(columns.texts)), "x": f"double({first})", "y": f"double({second})"}

    def frame(before: DataFrame) -> DataFrame:
        some = before.selectExpr(*(f"{text} as {name}" for name, text in narrow.items()))
        long = some.unpivot("k", ["x", "y"], "what", "v").filter("v is not null")
        return long.selectExpr("v as c0", "k as c1", "what as c2")

    listed = ", ".join(f"{text} as {name}" for name, text in narrow.items())
    long = f"select * from (select {listed} from {{input}}) unpivot include nulls (v for what in (x, y))"
    text = f"select v as c0, k as c1, what as c2 from ({long}) where v is not null"
    return Step(frame, text, Columns(("c0",), ("c1", "c2")))


@st.composite
def through_a_struct(draw: st.DrawFn, columns: Columns) -> Step:
    """Put columns into a struct, do something with it, and take them out again."""
    number, text = draw(st.sampled_from(columns.numbers)), draw(st.sampled_from(columns.texts))
    packed = f"named_struct('n', {number}, 'i', named_struct('t', {text}))"
    step = draw(
        st.sampled_from(
            (
                packed,
                f"case when {text} > 'f' then {packed} end",
                f"coalesce(if({number} > 3, {packed}, null), {packed})",
                f"explode(array({packed}, {packed}))",
                f"first({packed}) over (partition by {text} order by {', '.join(columns.all)})",
                f"element_at(array({packed}), 1)",
            )
        )
    )
    pack = _projected({"s": step}, 0)
    unpack = _projected({"c0": "s.n", "c1": "s.i.t"}, 1)
    again = draw(st.booleans())

    def frame(before: DataFrame) -> DataFrame:
        some = pack.frame(before)
        return unpack.frame(some.union(some) if again else some)

    text = f"({pack.sql})"
    both = f"(select * from {text} union all select * from {text})" if again else text
    return Step(frame, unpack.sql.replace("{input}", both), unpack.columns)


STEPS = (
    project,
    project,
    keep,
    join,
    union,
    aggregate,
    window,
    distinct,
    sort_and_limit,
    explode,
    pivot,
    unpivot,
    through_a_struct,
    through_a_struct,
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """A base table and one to five steps."""
    table = draw(st.sampled_from(tuple(NUMBERS)))
    columns = Columns(NUMBERS[table], TEXTS[table])
    steps = []
    for _ in range(draw(st.integers(1, 5))):
        step = draw(draw(st.sampled_from(STEPS))(columns))
        steps.append(step)
        columns = step.columns
    return Plan(table, tuple(steps))
