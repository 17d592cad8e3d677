"""Use that a program makes of the rows of an action, by its text; without Spark."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from airflow_provider_spark_lineage import checks
from airflow_provider_spark_lineage.spark.capture import results
from airflow_provider_spark_lineage.spark.capture.results import caller, line_of_use
from airflow_provider_spark_lineage.spark.records.call_sites import UNKNOWN, CallSite, call_site

USED = {
    "a text of a condition": """
        last = df.agg(F.max("a")).collect()[0][0]
        src.where(f"a = {last}").write.parquet("o")
        """,
    "a comparison of columns": "out = src.where(F.col('a') > df.collect()[0]['a'])",
    "a literal": "F.lit(df.collect()[0][0])",
    "a value of a call": "int(src.where('a = %d' % df.collect()[0].a).count())",
    "a loop": """
        for day, _ in df.collect():
            spark.sql("select * from t where day = '{}'".format(day)).write.save("o")
        """,
    "a list": """
        names = [row.name for row in df.collect()]
        src.where(F.col("name").isin(names))
        """,
    "several variables": """
        first, last = df.collect()[0]
        low = min(first, 0)
        src.where("a > " + str(low))
        """,
    "a function's result": """
        def last():
            return df.collect()[0][0]
        print(last())
        src.where(f"a = {last()}")
        """,
    "a function that others call": """
        def last(df):
            return df.collect()[0][0]
        """,
    "a variable of the file in a function": """
        last = df.collect()[0][0]
        def query():
            return src.where(f"a = {last}")
        """,
    "a global variable": """
        def read():
            global last
            last = df.collect()[0][0]
        """,
    "a field": "self.last = df.collect()",
    "an item": "values['last'] = df.collect()",
    "a generator": """
        def days():
            for row in df.collect():
                yield row.day
        """,
    "a function that is not known": "helpers.load(rows=df.collect())",
    "rows for a new frame": "spark.createDataFrame(df.collect())",
    "a filter that is written": """
        last = df.collect()[0][0]
        src.filter(f"a = {last}").write.parquet("o")
        """,
    "a condition of a join": "src.join(other, on=F.col('a') == df.collect()[0][0]).write.parquet('o')",
    "a function for each row": "list(map(load, df.collect()))",
    "a lambda for each row": "df.collect().apply(lambda row: spark.sql(f'insert into t values ({row})'))",
    "a long way": "last = df.collect()\n" + "last = last\n" * 600,
    "a key": "src.where(conditions[df.collect()[0][0]])",
}

SHOWN = {
    "nothing": "df.collect()",
    "a print": "print(df.collect())",
    "a log of a part": """
        rows = df.collect()
        log.info("%d rows, first %s", len(rows), rows[0].asDict())
        """,
    "a loop that prints": """
        for row in df.collect():
            print(f"{row.name}: {row['amount']:.2f}")
        """,
    "a test": """
        rows = df.collect()
        if not rows or rows[0][0] > 3:
            raise ValueError("no rows")
        assert rows[0].total == 7, "wrong total"
        """,
    "a test of a call": "if len(df.collect()) == 0: src.write.parquet('o')",
    "an error": """
        (row,) = df.collect()
        raise ValueError
        """,
    "a function whose result is printed": """
        def report():
            rows = df.collect()
            return ", ".join(str(row) for row in rows)
        print(report())
        """,
    "a unit test": "self.assertEqual(sorted(df.collect()), [(1, 'a')])",
}


def line_in(folder: Path, text: str) -> str:
    """Return the line of use of a program's `collect`."""
    path = folder / "load.py"
    path.write_text(textwrap.dedent(text).strip() + "\n", encoding="utf-8")
    number = next(i for i, line in enumerate(path.read_text().splitlines(), 1) if ".collect()" in line)
    return line_of_use(CallSite("collect", str(path), number))


@pytest.mark.parametrize("case", USED)
def test_a_value_that_may_get_into_a_query_is_used(tmp_path, case):
    """The line is named by the file without its folders."""
    assert line_in(tmp_path, USED[case]).startswith("load.py:")


@pytest.mark.parametrize("case", SHOWN)
def test_a_value_that_is_only_shown_or_tested_is_not_used(tmp_path, case):
    """Printing, logging, asserting and deciding put no value into a later query."""
    assert line_in(tmp_path, SHOWN[case]) == ""


def test_another_call_in_the_line_is_not_the_action(tmp_path):
    """pyspark itself takes a first row to find the types of an RDD; the program receives nothing."""
    path = tmp_path / "load.py"
    path.write_text("frame = rdd.toDF()\n", encoding="utf-8")
    assert line_of_use(CallSite("first", str(path), 1)) == ""


@pytest.mark.parametrize("text", ["", "rows = df.collect(", "last = df.collect()\n" * 3_001])
def test_a_program_that_cannot_be_read_may_use_the_value(tmp_path, text):
    """A file that is gone, in another language or too long: silence would be a claim."""
    path = tmp_path / "load.py"
    path.write_text(text, encoding="utf-8")
    assert line_of_use(CallSite("collect", str(path), 1)) == "load.py:1"


@pytest.mark.parametrize(
    "text",
    [
        "nightly load",
        "collectToPython at NativeMethodAccessorImpl.java:0",
        "call at /opt/spark/python/lib/py4j-0.10.9-src.zip/py4j/clientserver.py:617",
    ],
)
def test_a_line_that_is_not_the_programs_is_unknown(text):
    """The program described its jobs, or Spark does not know the line."""
    assert line_of_use(call_site(text)) == UNKNOWN


def test_rows_for_our_own_checks_are_not_the_programs():
    """The checks of this package collect rows, too, for their results."""
    for file in (results.__file__, checks.__file__):
        assert line_of_use(CallSite("collect", file, 1)) == ""


def test_the_caller_is_the_first_line_outside_of_pyspark():
    """Spark Connect and RDDs have no call site: the frames of the thread tell the line."""
    site = caller()
    assert site is not None
    assert (site.file, site.number) == (__file__, sys._getframe().f_lineno - 2)
