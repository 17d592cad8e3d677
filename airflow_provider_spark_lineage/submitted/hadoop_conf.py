"""Hadoop's default file system for jobs that start on this machine, read without a JVM."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from airflow_provider_spark_lineage.submitted.properties import conf_folders

_NAMES = ("fs.defaultFS", "fs.default.name")
"""The property, and its name before Hadoop 2."""

_VARIABLES = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")


def default_file_system(binary: str, environment: Mapping[str, str]) -> str:
    """Return the default file system in the first `core-site.xml` on the class path of the command `binary`.

    Empty if the file or the property is missing, or if its value has a variable.
    """
    folders = [folder for folder in conf_folders(binary, environment) if folder.is_dir()][:1]
    folders += [Path(environment[name]) for name in _VARIABLES if environment.get(name)]
    files = (folder / "core-site.xml" for folder in folders)
    return next((_value(file) for file in files if file.is_file()), "")


def _value(file: Path) -> str:
    try:
        root = ElementTree.parse(file).getroot()  # noqa: S314  the administrator's own file
    except ElementTree.ParseError:
        return ""
    values = {
        (entry.findtext("name") or "").strip(): (entry.findtext("value") or "").strip()
        for entry in root.iter("property")
    }
    value = next((values[name] for name in _NAMES if values.get(name)), "")
    return "" if "$" in value else value
