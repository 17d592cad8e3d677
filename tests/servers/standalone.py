"""A standalone Spark cluster on this machine: a master and two workers, from the pip package of Spark."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from servers.process import free_port, running


@dataclass(frozen=True)
class Cluster:
    """Addresses of a cluster."""

    host: str
    port: int
    rest_port: int

    @property
    def master(self) -> str:
        return f"spark://{self.host}:{self.port}"


@contextlib.contextmanager
def standalone_cluster(workers: int = 2) -> Iterator[Cluster]:
    """Yield a cluster whose workers have a core and half a gigabyte each."""
    import pyspark

    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    cluster = Cluster("127.0.0.1", free_port(), free_port())
    with (
        tempfile.TemporaryDirectory(prefix="spark-", ignore_cleanup_errors=True) as scratch,
        contextlib.ExitStack() as stack,
    ):
        environment = {
            **os.environ,
            "SPARK_HOME": str(spark_class.parents[1]),
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_LOCAL_IP": cluster.host,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=true"
            f" -Dspark.master.rest.port={cluster.rest_port}",
            "SPARK_WORKER_DIR": scratch,
        }

        def start(name: str, *arguments: str) -> None:
            options = ["--host", cluster.host, "--webui-port", "0", *arguments]
            command = [str(spark_class), f"org.apache.spark.deploy.{name}", *options]
            ready = "elected leader|Successfully registered with master"
            stack.enter_context(running(command, ready, env=environment))

        start("master.Master", "--port", str(cluster.port))
        for _ in range(workers):
            start("worker.Worker", "--cores", "1", "--memory", "1g", cluster.master)
        yield cluster
