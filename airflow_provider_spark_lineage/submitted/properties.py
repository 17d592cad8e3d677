"""Properties of a job in files: `--properties-file`, else `spark-defaults.conf`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path


def default_properties(
    binary: str, properties_file: str | None, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the properties that the command `binary` reads from files; empty without such a file."""
    if properties_file:
        return _read(Path(properties_file))
    files = (folder / "spark-defaults.conf" for folder in conf_folders(binary, environment))
    return next((_read(file) for file in files if file.is_file()), {})


def conf_folders(binary: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield possible folders of Spark's configuration; Spark uses the first that exists."""
    if environment.get("SPARK_CONF_DIR"):
        yield Path(environment["SPARK_CONF_DIR"])
        return
    if environment.get("SPARK_HOME"):
        yield Path(environment["SPARK_HOME"], "conf")
    command = shutil.which(binary, path=environment.get("PATH"))
    if command:
        home = Path(command).resolve().parents[1]
        yield home / "conf"
        # The command of an installed pyspark is a copy beside Python; its home is the package.
        yield from home.glob("lib/python*/site-packages/pyspark/conf")
    # Packages of distributions use these; their command on PATH is a script elsewhere.
    yield from (Path("/etc/spark/conf"), Path("/etc/spark3/conf"))


def _read(path: Path) -> dict[str, str]:
    """Return the pairs of a Java properties file; escapes are not decoded, as lists of files need none."""
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    pairs = (re.match(r"\s*([^\s#!=:][^\s=:]*)\s*[\s=:]\s*(.*?)\s*$", line) for line in lines)
    return {pair[1]: pair[2] for pair in pairs if pair}
