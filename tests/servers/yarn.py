"""A YARN cluster with HDFS on this machine: Hadoop's own for tests, of the version that Spark brings."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from servers.jars import jar, jars, java
from servers.process import running
from servers.quick_java import quick_java

_MINICLUSTER = "org.apache.hadoop:hadoop-client-minicluster:{}"
_LIBRARIES = (
    *("org.mockito:mockito-core:4.11.0", "junit:junit:4.13.2"),
    *("org.bouncycastle:bcpkix-jdk18on:1.78.1", "org.glassfish.jaxb:jaxb-runtime:2.3.9"),
)
"""Test classes that Hadoop's own tests refer to, and the libraries of the ResourceManager."""

_SINCE_3_5 = ("org.junit.jupiter:junit-jupiter-api:5.13.4",)
"""Test classes that later releases of Hadoop refer to as well."""


@dataclass(frozen=True)
class Yarn:
    """Addresses of a cluster."""

    conf: Path
    """Folder with the files of Hadoop's configuration: `HADOOP_CONF_DIR`."""

    logs: Path
    """Folder below which each container has its output."""

    files: str
    """URI of HDFS."""

    properties: Mapping[str, str]
    """Spark's defaults on this cluster: applications are small and soon over."""

    def configure(self, folder: Path, properties: Mapping[str, str] | None = None) -> dict[str, str]:
        """Write Spark's configuration, with more properties, and return the variables that name it."""
        folder.mkdir()
        lines = [f"{name} {value}\n" for name, value in {**self.properties, **(properties or {})}.items()]
        (folder / "spark-defaults.conf").write_text("".join(lines))
        # Spark gives it to the containers, which must not find the job's own packages there.
        (folder / "spark-env.sh").write_text("unset PYTHONPATH\n")
        return {"HADOOP_CONF_DIR": str(self.conf), "SPARK_CONF_DIR": str(folder)}

    def printed(self) -> str:
        """Return the output of the drivers and executors."""
        return "".join(path.read_text(errors="replace") for path in sorted(self.logs.glob("**/std*")))


def fetch() -> list[Path]:
    """Return the jars of a cluster, without Spark's own."""
    import pyspark

    (client,) = Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar")
    version = client.stem.rpartition("-")[2]
    is_later = tuple(map(int, version.split(".")[:2])) >= (3, 5)
    return [jar(_MINICLUSTER.format(version)), *jars((*_LIBRARIES, *(_SINCE_3_5 if is_later else ())))]


@contextlib.contextmanager
def yarn_cluster() -> Iterator[Yarn]:
    """Yield a cluster with one node, whose default file system is HDFS."""
    import pyspark

    of_spark = Path(pyspark.__file__).parent / "jars"
    with tempfile.TemporaryDirectory(prefix="yarn-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        conf = folder / "conf"
        conf.mkdir()
        options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        options += ["--add-opens", "java.base/java.lang=ALL-UNNAMED"]
        path = os.pathsep.join([*map(str, fetch()), str(of_spark / "*")])
        program = str(Path(__file__).with_name("Yarn.java"))
        command = [java(), *options, "-cp", path, program, str(conf)]
        with running(command, "YARN is ready", cwd=folder):
            yield Yarn(conf, folder / "target", (folder / "files").read_text(), _properties(folder))


def _properties(folder: Path) -> dict[str, str]:
    import pyspark

    # A checkout's path may have a space; Spark takes these for a URI and for a word of a shell.
    environment = folder / "environment"
    environment.symlink_to(sys.prefix)
    of_spark = environment / Path(pyspark.__file__).relative_to(sys.prefix).with_name("jars")
    # Java uses its archive of classes where the same jars come first, before a container's own folder.
    first = ":".join([*map(str, of_spark.glob("slf4j-api-*.jar")), f"{of_spark}/*"])
    archived, java_home = quick_java(environment), Path(shutil.which(java())).resolve().parents[1]
    return {
        "spark.pyspark.python": str(environment / "bin" / "python"),
        # Otherwise Spark sends all its jars to the cluster.
        "spark.yarn.jars": f"local:{of_spark}/*",
        "spark.driver.extraClassPath": first,
        "spark.driver.extraJavaOptions": archived,
        "spark.driver.memory": "512m",
        "spark.executor.extraClassPath": first,
        "spark.executor.extraJavaOptions": archived,
        "spark.executor.instances": "1",
        "spark.executor.memory": "512m",
        "spark.executorEnv.JAVA_HOME": str(java_home),
        "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
        # The driver goes on while the executor starts.
        "spark.scheduler.minRegisteredResourcesRatio": "0",
        "spark.ui.enabled": "false",
        "spark.yarn.appMasterEnv.JAVA_HOME": str(java_home),
        "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1",
        "spark.yarn.report.interval": "200ms",
        "spark.yarn.scheduler.heartbeat.interval-ms": "200",
    }
