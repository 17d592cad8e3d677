"""Options under which the many JVMs of tests, each short-lived, start in half the time.

    python tests/servers/quick_java.py      archive Spark's classes, once for an environment

Java loads thousands of classes when Spark starts; it loads them faster from an archive. An archive that was
made by another Java or for another Spark is ignored.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

# The second compiler, and collecting garbage on all cores, take longer than these JVMs live. Java's own
# messages would stand among the output that tests read.
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xlog:disable -Xlog:all=off"
_NAME = "spark-classes.jsa"
_ARCHIVE = Path(sys.prefix) / _NAME

_PROGRAM = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.sql("SELECT id, string(id) AS name FROM range(10)").write.parquet(sys.argv[1])
spark.read.parquet(sys.argv[1]).createTempView("orders")
spark.sql("SELECT o.name, sum(id) FROM orders JOIN orders o USING (id) GROUP BY o.name ORDER BY 2").collect()
spark.stop()
"""


def quick_java(environment: Path = Path(sys.prefix)) -> str:
    """Return the options as `JAVA_TOOL_OPTIONS` takes them; `environment` may be another path to this one."""
    return f'{_QUICK} "-XX:SharedArchiveFile={environment / _NAME}"' if _ARCHIVE.exists() else _QUICK


def archive_classes() -> None:
    """Archive the classes that a small program uses, unless that was done."""
    if _ARCHIVE.exists():
        return
    options = f'{_QUICK} "-XX:ArchiveClassesAtExit={_ARCHIVE}"'
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, f"{folder}/orders"],
            env={**os.environ, "JAVA_TOOL_OPTIONS": options, "SPARK_LOCAL_IP": "127.0.0.1"},
            capture_output=True,  # Ends when the JVM does, which writes the archive after the program.
            check=True,
        )


if __name__ == "__main__":
    archive_classes()
