"""A real Spark Connect server in a JVM of its own, of the same Spark as pyspark."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from servers.jars import jar
from servers.process import free_port, running

_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
_SERVER_3_5 = "org.apache.spark:spark-connect_2.12:3.5.7"
"""Since 4.0 pyspark brings the server itself."""

_READY = "Spark Connect server started at"


@contextlib.contextmanager
def connect(folder: Path, **conf: str) -> Iterator[str]:
    """Yield the URL of a server whose warehouse is in `folder`."""
    import pyspark

    home = Path(pyspark.__file__).parent
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "false",
        **conf,
    }
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--class", _CLASS]
    if not any(home.glob("jars/spark-connect_*.jar")):
        command += ["--jars", str(jar(_SERVER_3_5))]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    # Python workers of the server import pyspark as this process does.
    paths = [str(home.parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SPARK_")},
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    with running([*command, "spark-internal"], _READY, env=environment, cwd=folder):
        yield f"sc://127.0.0.1:{port}"


@contextlib.contextmanager
def client(url: str) -> Iterator[object]:
    """Yield a session of its own on a server; classic sessions of this process are possible afterwards."""
    from pyspark.sql.connect.session import SparkSession

    before = os.environ.get("SPARK_CONNECT_MODE_ENABLED")
    # The functions of `pyspark.sql.functions` look at it.
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    # If the garbage collector finds the session of an earlier test while a request starts a thread, PySpark's
    # client waits for itself, forever. So sessions are collected here, and not while this one is used.
    collects = gc.isenabled()
    gc.collect()
    gc.disable()
    session = SparkSession.builder.remote(url).create()
    try:
        yield session
    finally:
        session.stop()
        if collects:
            gc.enable()
        if before is None:
            del os.environ["SPARK_CONNECT_MODE_ENABLED"]
