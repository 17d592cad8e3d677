"""Finds the queries of this folder: `queries/*.sql`, TPC-H, functions of `frames.py` and others."""

from __future__ import annotations

import re
from pathlib import Path

import frames
import jobs
import python_frames
import row_level
import tpch_frames
from prover import Query
from pyspark.sql import DataFrame, SparkSession

PLACE = Path(__file__).resolve().parent

WIDER = {
    "q02": (("p_size = 15", "p_size < 25"), ("'%BRASS'", "'%E%'"), ("r_name = ", "r_name <> ")),
    "q03": (("c_mktsegment = 'BUILDING'", "c_mktsegment < 'H'"), ("> DATE '1995", "> DATE '1994")),
    "q05": (
        ("r_name = ", "r_name <> "),
        ("'1' YEAR", "'5' YEAR"),
        ("c_nationkey = s", "c_nationkey % 5 = s"),
    ),
    "q06": (("'1' YEAR", "'5' YEAR"),),
    "q07": (("= 'FRANCE'", "< 'F'"), ("= 'GERMANY'", "> 'G'")),
    "q08": (("= 'ECONOMY ANODIZED STEEL'", "LIKE '%S%'"), ("r_name = ", "r_name <> "), ("BRAZIL", "KENYA")),
    "q11": (("n_name = ", "n_name <> "), ("0.0001", "0.002")),
    "q14": (("'1' MONTH", "'30' MONTH"),),
    "q15": (("'3' MONTH", "'30' MONTH"),),
    "q16": (("'%Customer%Complaints%'", "'%the%'"),),
    "q17": (("p_brand = 'Brand#23'", "p_brand < 'Brand#40'"), ("= 'MED BOX'", "LIKE '%B%'"), ("0.2", "0.7")),
    "q18": (("> 300", "> 150"),),
    "q19": (
        ("p_brand = ", "p_brand >= "),
        ("BETWEEN 1 AND ", "BETWEEN 1 AND 3"),
        ("l_shipinstruct = ", "l_shipinstruct <> "),
    ),
    "q20": (("'forest%'", "'f%'"), ("n_name = ", "n_name <> "), ("'1' YEAR", "'5' YEAR"), ("0.5", "40")),
    "q21": (("n_name = ", "n_name <> "),),
    "q22": (("'13', ", "'13', '11', '25', '33', '28', "),),
}
"""Replacements for constants of TPC-H, which would leave no row on as little data as here."""


def queries() -> list[Query]:
    """Return all queries; each has a name of its own."""
    listed = [query for path in sorted(PLACE.glob("queries/*.sql")) for query in _of_file(path)]
    listed.extend(Query(f"frames: {run.__name__}", run) for run in (*frames.FRAMES, *python_frames.FRAMES))
    listed.extend(Query(f"jobs: {run.__name__}", run) for run in jobs.JOBS)
    listed.extend(_of_tpch(path) for path in sorted(PLACE.glob("tpch/*.sql")))
    listed.extend(Query(f"tpch frames: {run.__name__}", run, tables="tpch") for run in tpch_frames.FRAMES)
    listed.extend(row_level.queries())
    assert len({query.name for query in listed}) == len(listed)
    return listed


def _of_file(path: Path) -> list[Query]:
    """Read the sections of a file: a line `-- name`, then statements; the last one is the query."""
    sections = re.split(r"^-- (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [
        Query(f"{path.stem}: {name}", _statements(text), is_text=True)
        for name, text in zip(sections[1::2], sections[2::2], strict=True)
    ]


def _of_tpch(path: Path) -> Query:
    """Read a query of TPC-H, with constants that its small tables have."""
    text = path.read_text(encoding="utf-8")
    for constant, wider in WIDER.get(path.stem, ()):
        assert constant in text, f"{path.name} has no {constant}"
        text = text.replace(constant, wider)
    return Query(f"tpch: {path.stem}", _statements(text), tables="tpch", is_text=True)


def _statements(text: str) -> Query.run:
    *before, last = re.split(r";\n", text.strip())

    def run(spark: SparkSession, scratch: Path) -> DataFrame:
        for statement in before:
            spark.sql(statement)
        return spark.sql(last)

    return run
