"""A real Spark Thrift server in a JVM of its own, of the same Spark as pyspark."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from servers.process import free_port, running

_CLASS = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
_READY = "ThriftBinaryCLIService on port|Starting ThriftBinaryCLIService"


@contextlib.contextmanager
def thrift(folder: Path) -> Iterator[int]:
    """Yield the port of a server without authentication, whose warehouse and metastore are in `folder`."""
    import pyspark

    home = Path(pyspark.__file__).parent
    port = free_port()
    metastore = f"jdbc:derby:;databaseName={folder}/metastore;create=true"
    settings = {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        "spark.hadoop.hive.server2.authentication": "NOSASL",
    }
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--class", _CLASS]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SPARK_")},
        "SPARK_HOME": str(home),
    }
    with running([*command, "spark-internal"], _READY, env=environment, cwd=folder):
        yield port
