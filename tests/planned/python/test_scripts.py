"""Planned reads and writes of the text of a script: `scripts.txt`."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planned_text import cases, shown

from airflow_provider_spark_lineage.spark.planned.program import Access
from airflow_provider_spark_lineage.spark.planned.python.reader import read_script

SCRIPTS = Path(__file__).with_name("scripts.txt")
OTHERS = Path(__file__).with_name("others.txt")
ENVIRONMENT = {"GIVEN": "/given"}


def steps(text: str, *arguments: str) -> list[str]:
    return shown(read_script(text, arguments, ENVIRONMENT, {})).splitlines()


@pytest.mark.parametrize(("rule", "text", "expected"), cases(SCRIPTS))
def test_script(rule: str, text: str, expected: str) -> None:
    """Each block's first line is the rule."""
    assert "\n".join(steps(text)) == expected, rule


@pytest.mark.parametrize(("rule", "text", "expected"), cases(OTHERS))
def test_other_libraries(rule: str, text: str, expected: str) -> None:
    """Reads and writes of other libraries are not Spark's, whatever their objects are called."""
    assert "\n".join(steps(text)) == expected, rule


ARGV = """
import sys
if len(sys.argv) != 3:
    print("usage")
    sys.exit(1)
spark.read.parquet(sys.argv[1]).write.parquet(sys.argv[2])
"""


def test_arguments_of_the_application() -> None:
    """`sys.argv` has the application's arguments, and a gap names a missing one."""
    assert steps(ARGV, "/in", "/out") == ["read parquet /in", "create parquet /out"]
    number = "the path of {} is the application's argument {}, which is not given"
    assert steps(ARGV) == [
        "gap 6: " + number.format("read.parquet", 1),
        "gap 6: " + number.format("write.parquet", 2),
    ]


def test_arguments_that_are_unpacked() -> None:
    """Names that `sys.argv` or a slice of it is assigned to are known."""
    text = "import sys\n{}\nspark.read.parquet(source).write.parquet(target)"
    known = text.format("_, source, target = sys.argv")
    assert steps(known, "/in", "/out") == ["read parquet /in", "create parquet /out"]
    assert all("is not given" in gap for gap in steps(known))
    for part in ("[1:]", "[1:3]", "[-2:]", "[1:][:2]"):
        sliced = text.format(f"source, target = sys.argv{part}")
        assert steps(sliced, "/in", "/out") == ["read parquet /in", "create parquet /out"]
        assert all(gap.startswith("gap") for gap in steps(sliced))
    assert steps(text.format("source, target = sys.argv[1:3]"))[1].endswith("argument 2, which is not given")
    fewer = steps(text.format("source, target = sys.argv[1:3]"), "/in")
    assert (fewer[0], len(fewer)) == ("read parquet /in", 2)
    rest = text.format("source, *rest = sys.argv[1:]; target = rest[0]; sys.argv.pop()")
    assert all(gap.startswith("gap") for gap in steps(rest, "/in", "/out"))


PARSED = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("--target", "-t", default="/default")
parser.add_argument("--date", required=True, type=str)
parser.add_argument("--dry", action="store_true")
args = parser.parse_args()
df = spark.read.parquet(args.source)
df.write.parquet(f"{args.target}/{args.date}")
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["/in", "--date", "1"], ["read parquet /in", "create parquet /default/1"]),
        (["--date=1", "--dry", "-t", "/x", "/in"], ["read parquet /in", "create parquet /x/1"]),
        (["/in", "--date"], ["`source`", "`target`"]),
        ([], ["`source`", "`target`"]),
    ],
)
def test_argparse(arguments: list[str], expected: list[str]) -> None:
    """Python's own parser reads the arguments; of those that it refuses no default is taken."""
    lines = steps(PARSED, *arguments)
    assert len(lines) == len(expected)
    assert all(part in line for part, line in zip(expected, lines, strict=True)), lines


def test_endless_scripts_end() -> None:
    """Multiplying values are followed up to a limit, and the rest is a gap."""
    items = list(range(10))
    loops = "".join(f"{'  ' * depth}for i{depth} in {items}:\n" for depth in range(8))
    inside = f"{'  ' * 8}spark.read.parquet(f'/{{i0}}{{i7}}')"
    lines = steps(f"{loops}{inside}\nspark.read.parquet('/b')")
    assert lines[0] == "read parquet /00"
    assert lines[-1].endswith("the script has too many steps to be followed further")
    calls = "".join(f"def f{n}():\n  f{n + 1}(); f{n + 1}()\n" for n in range(40))
    assert steps(f"{calls}def f40(): spark.table('db.t')\nf0()") == ["read maybe db.t"]
    grown = "".join(f"x{n + 1} = x{n} + x{n}\n" for n in range(40))
    assert steps(f"x0 = 'a'\n{grown}spark.read.parquet(x40)") == [
        "gap 42: the path of read.parquet is too long"
    ]
    views = "if x():\n  spark.range(1).createTempView('v')\nspark.table('v')\n" * 2000
    assert len(steps(views)) == 2000
    deep = "spark.read.parquet(" + "'a' + " * 5000 + "'b')"
    assert all("deep" in line or "not Python" in line for line in steps(deep))


def test_long_chains_are_read() -> None:
    """Statements with a hundred calls, or branches, are not too deep."""
    calls = ".withColumn('a', lit(1))" * 100
    assert steps(f"spark.read.parquet('/a'){calls}.write.parquet('/b')") == [
        "read parquet /a",
        "create parquet /b",
    ]
    branches = "if one(): pass\n" + "elif other(): spark.read.parquet('/a')\n" * 100
    lines = steps(f"spark.read.parquet('/b')\n{branches}spark.read.parquet('/c')")
    assert (lines[0], lines[-1]) == ("read parquet /b", "read parquet /c")


def test_a_script_of_twice_the_length_takes_twice_the_work() -> None:
    """Counted in calls of functions: a script of 3,000 lines needs some for each node of its tree."""
    work = {}
    for length in (500, 1000):
        text = long_script(length)
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event.endswith("call")

        sys.setprofile(count)
        try:
            lines = steps(text)
        finally:
            sys.setprofile(None)
        assert len(lines) == length
        work[length] = calls
    assert work[1000] < 2.2 * work[500]
    assert work[1000] < 60 * sum(1 for _ in ast.walk(ast.parse(long_script(1000))))


def long_script(length: int) -> str:
    """Return a script that reads as many files, in three times as many lines."""
    lines = (
        f"p{n} = f'/in/{{BASE}}/{n}'\n"
        f"d{n} = spark.read.parquet(p{n}).filter(col('a') > {n}).withColumn('b', lit({n}))\n"
        f"d{n}.createOrReplaceTempView('v{n}')\n"
        for n in range(length)
    )
    return "BASE = 'x'\n" + "".join(lines)


PIECES = """
spark read write . ( ) [ ] { } "a" 'b' f"{x}" parquet sql table = , : if else for in def x return lambda class
self sys.argv[1] import os argparse + % ** * await yield async with as not and or 1 None parser.add_argument
parse_args format save mode option load jdbc writeTo append break continue while True try: except: finally:
with DeltaTable.forPath forName merge execute { "a" : "/b" } .items() .get ( "a" ) .replace ( "a" , "b" )
** / Path sys.exit() SparkSession.builder getOrCreate() session.table from snowflake.snowpark pyspark
def f(spark): vars
"""
PIECE = st.sampled_from([*PIECES.split(), "\n", "\n  ", " "])


@given(st.one_of(st.text(), st.lists(PIECE, max_size=40).map(" ".join)))
def test_no_text_raises(text: str) -> None:
    """Any text gives a program, with gaps for the parts that are not understood."""
    for step in read_script(text, ["/a"], {}, {}).steps:
        assert step.line >= 0
        assert not isinstance(step, Access) or step.paths or step.table or step.format or step.options
