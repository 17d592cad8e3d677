"""The properties of a job that are in files: `--properties-file`, else `spark-defaults.conf`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path


def default_properties(
    binary: str, properties_file: str | None, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return what the command `binary` reads from files; empty where there is no such file."""
    if properties_file:
        return _read(Path(properties_file))
    files = (folder / "spark-defaults.conf" for folder in conf_folders(binary, environment))
    return next((_read(file) for file in files if file.is_file()), {})


def conf_folders(binary: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the folders of Spark's configuration, the first one that is there counts."""
    if environment.get("SPARK_CONF_DIR"):
        yield Path(environment["SPARK_CONF_DIR"])
        return
    if environment.get("SPARK_HOME"):
        yield Path(environment["SPARK_HOME"], "conf")
    command = shutil.which(binary, path=environment.get("PATH"))
    if command:
        yield Path(command).resolve().parents[1] / "conf"
    # Where packages of distributions put it, behind a script on PATH.
    yield from (Path("/etc/spark/conf"), Path("/etc/spark3/conf"))


def _read(path: Path) -> dict[str, str]:
    """Return the pairs of a Java properties file, without its escapes, which no list of files needs."""
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    pairs = (re.match(r"\s*([^\s#!=:][^\s=:]*)\s*[\s=:]\s*(.*?)\s*$", line) for line in lines)
    return {pair[1]: pair[2] for pair in pairs if pair}
