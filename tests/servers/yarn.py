"""A YARN cluster with HDFS on this machine: Hadoop's own for tests, of the version that Spark brings."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from servers.jars import classpath, java
from servers.process import running

_MINICLUSTER = "org.apache.hadoop:hadoop-client-minicluster:{}"
_LIBRARIES = (
    *("org.mockito:mockito-core:4.11.0", "junit:junit:4.13.2"),
    *("org.bouncycastle:bcpkix-jdk18on:1.78.1", "org.glassfish.jaxb:jaxb-runtime:2.3.9"),
)
"""What classes of Hadoop's own tests refer to, and what the ResourceManager needs."""


@dataclass(frozen=True)
class Yarn:
    """Where a cluster is reached."""

    conf: Path
    """Folder with the files of Hadoop's configuration: `HADOOP_CONF_DIR`."""

    logs: Path
    """Folder below which each container has its output."""

    def said(self) -> str:
        """Return what the drivers and executors printed."""
        return "".join(path.read_text(errors="replace") for path in sorted(self.logs.glob("**/std*")))


@contextlib.contextmanager
def yarn_cluster() -> Iterator[Yarn]:
    """Yield a cluster with one node, whose default file system is HDFS."""
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    (client,) = jars.glob("hadoop-client-api-*.jar")
    version = client.stem.rpartition("-")[2]
    with tempfile.TemporaryDirectory(prefix="yarn-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        conf = folder / "conf"
        conf.mkdir()
        found = classpath(_MINICLUSTER.format(version), folder, "-notransitive")
        for library in _LIBRARIES:
            found += classpath(library, folder)
        options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        options += ["--add-opens", "java.base/java.lang=ALL-UNNAMED"]
        path = os.pathsep.join([*map(str, found), str(jars / "*")])
        program = str(Path(__file__).with_name("Yarn.java"))
        command = [java(), *options, "-cp", path, program, str(conf)]
        with running(command, "YARN is ready", cwd=folder):
            yield Yarn(conf, folder / "target")
