"""The base tables that queries read, small and seeded, and ways to change one column of them."""

from __future__ import annotations

import datetime
import decimal
import json
import random
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

Tables = dict[str, pa.Table]

FIRST_DAY = datetime.date(2024, 1, 1)
UNIQUE = frozenset({"customers.cid", "orders.oid", "events.eid", "former.k", "source.k"})
"""Columns whose values are different in every row: a copy of such a column identifies rows."""


def hand_made() -> Tables:
    """Make the tables of the hand-written queries: flat and nested values, a null in every tenth place.

    Numbers are multiples of a quarter, so that sums do not depend on the order of rows.
    """
    chance = random.Random(7)

    def column(kind: pa.DataType, count: int, value: Callable[[], Any], nulls: float = 0.1) -> pa.Array:
        return pa.array([None if chance.random() < nulls else value() for _ in range(count)], kind)

    def day(spread: int) -> datetime.date:
        return FIRST_DAY + datetime.timedelta(chance.randint(0, spread))

    people, count, rows = 60, 160, 100
    customers = pa.table(
        {
            "cid": pa.array(range(1, people + 1), pa.int64()),
            "cname": column(pa.string(), people, lambda: f"{chance.choice('abcde')}{chance.randint(1, 99)}"),
            "city": column(pa.string(), people, lambda: chance.choice(["Rome", "Oslo", "Paris", "Lima"])),
            "tier": column(pa.int32(), people, lambda: chance.randint(1, 4)),
            "ref": pa.array([None if i < 4 else chance.randint(1, i) for i in range(people)], pa.int64()),
        }
    )
    orders = pa.table(
        {
            "oid": pa.array(range(1, count + 1), pa.int64()),
            "cust": column(pa.int64(), count, lambda: chance.randint(1, 70)),
            "item": column(pa.string(), count, lambda: chance.choice(["pen", "ink", "pad", "cup", "box"])),
            "amount": column(pa.float64(), count, lambda: chance.randint(4, 400) / 4),
            "qty": column(pa.int32(), count, lambda: chance.randint(1, 9)),
            "day": column(pa.date32(), count, lambda: day(90), nulls=0),
            "status": column(pa.string(), count, lambda: chance.choice("NSDX")),
            "note": column(pa.string(), count, lambda: chance.choice(["a-1 x", "b-22 y", "c-3", "zz"])),
        }
    )
    items = pa.table(
        {
            "name": pa.array(["pen", "ink", "pad", "cup", "hat", "bag", None]),
            "price": pa.array([1.5, 7.0, 2.25, 9.0, 20.0, None, 3.0]),
            "cat": pa.array(["w", "w", "w", "k", "c", "c", None]),
            "stock": pa.array([10, 0, None, 4, 7, 2, 1], pa.int32()),
        }
    )
    part = pa.struct([("p", pa.int32()), ("q", pa.string()), ("r", pa.struct([("z", pa.int32())]))])

    def struct() -> dict[str, Any]:
        return {"p": chance.randint(1, 5), "q": chance.choice("abc"), "r": {"z": chance.randint(1, 9)}}

    def several(value: Callable[[], Any], most: int) -> Callable[[], list[Any]]:
        return lambda: [value() for _ in range(chance.randint(0, most))]

    moment = datetime.datetime(2024, 1, 1)
    events = pa.table(
        {
            "eid": pa.array(range(1, rows + 1), pa.int64()),
            "who": column(pa.int64(), rows, lambda: chance.randint(1, 60)),
            "st": column(part, rows, struct),
            "arr": column(pa.list_(pa.int32()), rows, several(lambda: chance.randint(1, 9), 4)),
            "m": column(
                pa.map_(pa.string(), pa.int32()),
                rows,
                lambda: [(key, chance.randint(1, 9)) for key in chance.sample("abcd", chance.randint(0, 3))],
            ),
            "js": column(
                pa.string(),
                rows,
                lambda: json.dumps({"a": chance.randint(1, 5), "b": chance.choice("xyz")}),
            ),
            "ts": column(
                pa.timestamp("us", tz="UTC"),
                rows,
                lambda: moment + datetime.timedelta(minutes=chance.randint(0, 20000)),
                nulls=0,
            ),
            "sts": column(pa.list_(part), rows, several(struct, 3)),
            "bits": column(pa.bool_(), rows, lambda: chance.random() < 0.5, nulls=0),
        }
    )
    return {"customers": customers, "orders": orders, "items": items, "events": events}


def row_level() -> Tables:
    """Make a table's former rows and the new ones, with the same columns; half of the keys are in both.

    Keys are so far apart that shifted ones are still unique: a MERGE refuses two matches of one row.
    """
    chance = random.Random(11)

    def rows(first: int) -> pa.Table:
        def column(kind: pa.DataType, value: Callable[[], Any]) -> pa.Array:
            return pa.array([None if chance.random() < 0.1 else value() for _ in range(40)], kind)

        part = pa.struct([("a", pa.int32()), ("b", pa.string())])
        return pa.table(
            {
                "k": pa.array(range(first, first + 160, 4), pa.int64()),
                "g": column(pa.int32(), lambda: chance.randint(0, 3)),
                "v": column(pa.float64(), lambda: chance.randint(4, 400) / 4),
                "s": column(part, lambda: {"a": chance.randint(1, 5), "b": chance.choice("abc")}),
            }
        )

    return {"former": rows(4), "source": rows(84)}


def tpch(folder: Path) -> Tables:
    """Make the tables of TPC-H with its own generator, cut down to the line items of 400 orders."""
    folder.mkdir()
    generator = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run([generator, "parquet", "-s", "0.001", "--output-dir", folder], check=True)
    tables = {}
    for path in sorted(folder.glob("*.parquet")):
        table = pq.read_table(path)
        # Arrow's views of strings are not known to every Spark.
        fields = [
            pa.field(column.name, pa.string() if "string" in str(column.type) else column.type)
            for column in table.schema
        ]
        tables[path.stem] = table.cast(pa.schema(fields))
    tables["orders"] = tables["orders"].slice(0, 400)
    keys = tables["orders"]["o_orderkey"].combine_chunks()
    in_keys = pc.is_in(tables["lineitem"]["l_orderkey"], value_set=keys)
    tables["lineitem"] = tables["lineitem"].filter(in_keys)
    return tables


def changed(table: pa.Table, columns: Iterable[str], way: str) -> pa.Table:
    """Return a table with other values in some columns; the same on every call."""
    for name in columns:
        index = table.schema.get_field_index(name)
        field = table.schema.field(index)
        values = table.column(name).to_pylist()
        chance = random.Random(zlib.crc32(f"{name} {way}".encode()))
        table = table.set_column(
            index, field, pa.array(WAYS[way](values, field.type, chance), type=field.type)
        )
    return table


def _shift(values: list[Any], kind: pa.DataType, chance: random.Random) -> list[Any]:
    return [_other(value, kind, chance) if chance.random() < 0.5 else value for value in values]


def _null(values: list[Any], kind: pa.DataType, chance: random.Random) -> list[Any]:
    return [None if chance.random() < 0.4 else value for value in values]


def _shuffle(values: list[Any], kind: pa.DataType, chance: random.Random) -> list[Any]:
    return chance.sample(values, len(values))


def _constant(values: list[Any], kind: pa.DataType, chance: random.Random) -> list[Any]:
    return [next(value for value in values if value is not None)] * len(values)


def _swap(values: list[Any], kind: pa.DataType, chance: random.Random) -> list[Any]:
    there = [value for value in values if value is not None]
    return [chance.choice(there) if chance.random() < 0.15 else value for value in values]


WAYS: dict[str, Callable[[list[Any], pa.DataType, random.Random], list[Any]]] = {
    "shift": _shift,
    "null": _null,
    "shuffle": _shuffle,
    "constant": _constant,
    "swap": _swap,
}
"""Values of no row before; values gone; values in other rows; all the same; some taken from other rows."""


def _other(value: Any, kind: pa.DataType, chance: random.Random) -> Any:
    """Return a value of the same type that differs."""
    if pa.types.is_boolean(kind):
        return not value
    if pa.types.is_integer(kind):
        return (value or 0) + chance.choice([1, 2, 3])
    if pa.types.is_floating(kind):
        return (value or 0) + chance.choice([3.5, 11.25])
    if pa.types.is_decimal(kind):
        # A small step is still a discount, a large one moves a price.
        step = 4 if (value or 0) > 1 else decimal.Decimal("0.03")
        return (value or decimal.Decimal(0)) + step
    if pa.types.is_string(kind):
        if value and value.startswith("{"):
            return value.replace('"a": ', '"a": 1').replace('"b": "', '"b": "k')
        return (value or "") + chance.choice(["q", "9 zz"])
    if pa.types.is_date(kind):
        return (value or FIRST_DAY) + datetime.timedelta(chance.choice([20, 41, 400]))
    if pa.types.is_timestamp(kind):
        return value + datetime.timedelta(hours=chance.choice([5, 50, 700]))
    if pa.types.is_struct(kind):
        return {field.name: _other((value or {}).get(field.name), field.type, chance) for field in kind}
    if pa.types.is_map(kind):
        return [("abcd"[("abcd".index(key) + 1) % 4], item + 1) for key, item in value or [("a", 5)]]
    if pa.types.is_list(kind):
        same = [_other(item, kind.value_type, chance) for item in (value or [])[:3]]
        return [*same, _other(None, kind.value_type, chance)]
    raise TypeError(f"no other value of {kind} is known")
