"""OpenLineage's Java client, which consumers on the JVM read events with, in a JVM of its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from servers.jars import jars, java

COORDINATE = "io.openlineage:openlineage-java:1.54.0"


def fetch() -> list[Path]:
    """Return the client's jars."""
    return jars([COORDINATE])


@contextlib.contextmanager
def java_client() -> Iterator[Any]:
    """Yield the class `OpenLineageClientUtils` until the end of the block."""
    import pyspark
    from py4j.java_gateway import JavaGateway

    (py4j,) = (Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar")
    gateway = JavaGateway.launch_gateway(
        jarpath=str(py4j),
        classpath=os.pathsep.join(map(str, fetch())),
        java_path=java(),
        die_on_exit=True,
    )
    try:
        yield gateway.jvm.io.openlineage.client.OpenLineageClientUtils
    finally:
        gateway.shutdown()
        gateway.java_process.stdin.close()
        gateway.java_process.wait()
