"""Programs that fail, each in another way, and the text that PySpark and Java print of their errors.

    python failing.py FOLDER OUT      write the errors of all programs to OUT, as JSON

Run as it is by `spark-submit` and by `spark-lineage run`: needs pyspark alone.
"""

from __future__ import annotations

import json
import re
import sys
import traceback
from pathlib import Path

PROGRAMS = {
    "unknown table": lambda spark, path: spark.sql("select * from nowhere"),
    "unknown column of a statement": lambda spark, path: spark.sql("select b from numbers"),
    "unknown column of a frame": lambda spark, path: spark.range(3).select("b"),
    "path that is not there": lambda spark, path: spark.read.parquet(path),
    "insert into an unknown table": lambda spark, path: spark.range(3).write.insertInto("nowhere"),
    "save of a table that exists": lambda spark, path: spark.range(3).write.saveAsTable("numbers"),
    "drop of an unknown table": lambda spark, path: spark.sql("drop table nowhere"),
    "insert of too many columns": lambda spark, path: spark.sql("insert into numbers select 1, 2"),
    "wrong syntax": lambda spark, path: spark.sql("selec 1"),
    "error of the optimizer": lambda spark, path: spark.sql("select 1 / 0").collect(),
    "error of a task": lambda spark, path: spark.range(3).selectExpr("1 / (id - 1)").collect(),
}


def prepare(spark):
    """Make the tables and files that the programs use."""
    # As of Spark 4.0.
    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.sql("drop table if exists numbers")
    spark.sql("create table numbers (a int) using parquet")


def errors(spark, path):
    """Return the error of each program; `path` is not there."""
    caught = {}
    for name, program in PROGRAMS.items():
        try:
            program(spark, path)
        except Exception as error:
            caught[name] = error
    return caught


def printed(spark, error):
    """Return the lines that Java prints of an error now, without parts that differ from call to call."""
    origin = getattr(error, "_origin", None) or error.java_exception
    return plain(spark._jvm.org.apache.spark.util.Utils.exceptionString(origin))


def formatted(error):
    """Return the lines that Python prints of an error, without its own frames."""
    return plain("".join(traceback.format_exception_only(type(error), error)))


def frames(error):
    """Return the Python functions in an error's traceback."""
    return [
        f"{Path(frame.filename).name} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
    ]


_REFLECTION = re.compile(r"at (java\.base/)?(jdk\.internal|java\.lang)\.(reflect|invoke)\.|\.\.\. \d+ more$")
"""Java calls a method in another way once it was called often, by classes that it makes then, which are of no
module; `... 22 more` counts these frames."""

_VARYING = re.compile(r"#\d+L?|Lambda[^ ]*|stage \d+\.\d+|TID \d+|\([\w.-]+ executor driver\)|\bo\d+\.")
_METHOD = re.compile(r"(\s+at [\w.$]+)\(")


def plain(text):
    """Return the lines of a text without parts that differ from call to call."""
    lines = []
    before = ""
    for line in text.splitlines():
        method = _METHOD.match(line)
        # Py4j calls a method itself, or the one that the compiler adds for the type of a parent's result.
        if not _REFLECTION.search(line) and not (method and method[1] == before):
            lines.append(_VARYING.sub("#", line))
        before = method[1] if method else ""
    return lines


def main(folder, out):
    """Write the errors of all programs."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("failing").getOrCreate()
    spark.conf.set("spark.sql.pyspark.jvmStacktrace.enabled", "true")
    prepare(spark)
    texts = errors(spark, f"{folder}/nowhere")
    # Since Spark 4.0 an error may get other frames later: the executions must have been recorded.
    spark.sql("select 1").collect()
    spark._jsc.sc().listenerBus().waitUntilEmpty(60000)
    result = {
        name: {"java": printed(spark, error), "python": formatted(error), "frames": frames(error)}
        for name, error in texts.items()
    }
    Path(out).write_text(json.dumps(result))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
