"""Properties of a job in files of this machine, read without a JVM.

They are in `--properties-file`, else in `spark-defaults.conf`; Hadoop's are in `core-site.xml`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

_FILE_SYSTEM = ("fs.defaultFS", "fs.default.name")
"""Hadoop's property, and its name before Hadoop 2."""


def default_properties(
    binary: str, properties_file: str | None, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the properties that the command `binary` reads from files; empty without such a file."""
    if properties_file:
        return _read(Path(properties_file))
    files = (folder / "spark-defaults.conf" for folder in _conf_folders(binary, environment))
    return next((_read(file) for file in files if file.is_file()), {})


def _conf_folders(binary: str, environment: Mapping[str, str]) -> Iterator[Path]:
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


def default_file_system(binary: str, environment: Mapping[str, str]) -> str:
    """Return the default file system in the first `core-site.xml` on the class path of the command `binary`.

    Empty if the file or the property is missing, or if its value has a variable.
    """
    folders = [folder for folder in _conf_folders(binary, environment) if folder.is_dir()][:1]
    variables = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
    folders += [Path(environment[name]) for name in variables if environment.get(name)]
    files = (folder / "core-site.xml" for folder in folders)
    return next((_file_system(file) for file in files if file.is_file()), "")


def _file_system(file: Path) -> str:
    try:
        root = ElementTree.parse(file).getroot()  # noqa: S314  the administrator's own file
    except ElementTree.ParseError:
        return ""
    values = {
        (entry.findtext("name") or "").strip(): (entry.findtext("value") or "").strip()
        for entry in root.iter("property")
    }
    value = next((values[name] for name in _FILE_SYSTEM if values.get(name)), "")
    return "" if "$" in value else value
