"""Fetches programs and their libraries from Maven by the Ivy in Spark's own jars, without a Spark session."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def jar(coordinate: str) -> Path:
    """Return the one jar of a Maven coordinate, without what it needs."""
    with tempfile.TemporaryDirectory() as scratch:
        (found,) = classpath(coordinate, Path(scratch), "-notransitive")
    return found


def classpath(coordinate: str, scratch: Path, *options: str) -> list[Path]:
    """Return the jars of a Maven coordinate and of all that it needs; those fetched once are kept by Ivy."""
    import pyspark

    (ivy,) = Path(pyspark.__file__).parent.glob("jars/ivy-*.jar")
    found = scratch / "classpath"
    asked = ["-dependency", *coordinate.split(":"), "-confs", "default", "-types", "jar", "bundle", *options]
    command = [java(), "-jar", str(ivy), *asked, "-cachepath", str(found)]
    with Path(tempfile.gettempdir(), "spark-lineage-tests.ivy.lock").open("w") as lock:
        # Two that resolve at the same time overwrite each other's report in Ivy's cache.
        fcntl.flock(lock, fcntl.LOCK_EX)
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    jars = [Path(one) for one in found.read_text().strip().split(os.pathsep)] if found.exists() else []
    fetched = bool(jars) and not run.returncode
    assert fetched, f"{coordinate} could not be fetched:\n{run.stdout[-2000:]}{run.stderr}"
    return jars
