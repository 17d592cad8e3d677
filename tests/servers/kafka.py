"""A real Kafka broker in KRaft mode, its own controller, from the jars that the project publishes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from servers.jars import jars, java
from servers.process import free_port, running

_JARS = ("org.apache.kafka:kafka_2.13:3.9.1", "org.slf4j:slf4j-reload4j:1.7.36")
"""The broker, and the program that prints its log."""

_CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"

_SETTINGS = """
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller}
log.dirs={folder}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""
_LOG = """
log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%p %m%n
"""


def fetch() -> list[Path]:
    """Return the jars of a broker."""
    return jars(_JARS)


@contextlib.contextmanager
def kafka() -> Iterator[str]:
    """Yield the bootstrap servers of an empty broker, which makes topics as they are written to."""
    with tempfile.TemporaryDirectory(prefix="kafka-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        port = free_port()
        settings, logging = folder / "server.properties", folder / "log4j.properties"
        settings.write_text(_SETTINGS.format(broker=port, controller=free_port(), folder=folder))
        logging.write_text(_LOG)
        options = ["-Xmx256m", f"-Dlog4j.configuration=file:{logging}"]
        run = [java(), *options, "-cp", os.pathsep.join(map(str, fetch()))]
        storage = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(settings)]
        done = subprocess.run([*run, *storage], capture_output=True, text=True, check=False)
        assert not done.returncode, done.stdout + done.stderr
        with running([*run, "kafka.Kafka", str(settings)], "Kafka Server started"):
            yield f"127.0.0.1:{port}"
