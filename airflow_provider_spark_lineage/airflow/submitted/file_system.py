"""Access to the Hadoop file systems of a job, by Hadoop's shell in the job's own `spark-submit`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from airflow_provider_spark_lineage.airflow.submitted.jobs import Job
from airflow_provider_spark_lineage.spark import without_secrets

_HADOOP = "spark.hadoop."
_LIBRARIES = ("spark.jars", "spark.driver.extraClassPath")
"""Prefixes of properties that add the libraries of a file system."""

_LIFELINE, _SHELL = (
    str(Path(__file__).with_name(f"{name}.py")) for name in ("until_parent_ends", "hadoop_shell")
)

_REASONS = (
    # The shell's own message; after "Fatal internal error", the reason is in a stack trace.
    r"-?(?:get|mkdir): (?!Fatal internal error)(.+)",
    r"Error: (.+)",
    r"Caused by: (.+)",
    r'Exception in thread "[^"]*" (.+)',
    r"((?:\w+\.)+\w*(?:Exception|Error)\b.*)",
)
"""Patterns of lines with the reason of a failure, the best first; of each, the last match counts."""

_LONGEST = 300


def run_shell(job: Job, *arguments: str, timeout_seconds: float) -> str:
    """Run a command of Hadoop's shell; return the reason if it failed, else an empty text.

    It has the settings, packages, environment and user of the job, and ends with this process.
    """
    properties = job.properties
    settings = {name: value for name, value in properties.items() if name.startswith(_LIBRARIES)}
    settings |= {"spark.pyspark.driver.python": sys.executable, "spark.submit.pyFiles": ""}
    command = [sys.executable, _LIFELINE, *job.spark_submit, "--master", "local", "--deploy-mode", "client"]
    command += job.options
    command += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    # In a file that only this user can read: a process's arguments are visible to all users.
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as site:
        site.write(_site(properties))
        site.flush()
        command += [_SHELL, "-conf", site.name, *arguments]
        return _run(command, job.environment, timeout_seconds)


def _run(command: list[str], environment: Mapping[str, str], timeout_seconds: float) -> str:
    theirs, ours = os.pipe()
    # Closing the lifeline kills the command if it still runs.
    with os.fdopen(ours, "wb") as lifeline:
        with os.fdopen(theirs, "rb"):
            process = subprocess.Popen(  # noqa: S603  the command of the job itself
                command,
                env=environment,
                stdin=theirs,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        with process, lifeline:
            try:
                printed, _ = process.communicate(timeout=timeout_seconds)
            except subprocess.TimeoutExpired:
                return f"no answer in {timeout_seconds:g} seconds"
    return reason_of(without_secrets(printed)) if process.returncode else ""


def reason_of(printed: str) -> str:
    """Return the line with the reason of a failure, out of warnings, progress and stack traces."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    matches = (re.match(reason, line) for reason in _REASONS for line in reversed(lines))
    best = next((match[1] for match in matches if match), lines[-1] if lines else "it failed without output")
    return best[:_LONGEST]


def _site(properties: Mapping[str, str]) -> str:
    """Return the job's Hadoop properties as a Hadoop configuration file."""
    configuration = ElementTree.Element("configuration")
    for name, value in properties.items():
        if name.startswith(_HADOOP):
            entry = ElementTree.SubElement(configuration, "property")
            ElementTree.SubElement(entry, "name").text = name.removeprefix(_HADOOP)
            ElementTree.SubElement(entry, "value").text = value
    return ElementTree.tostring(configuration, encoding="unicode")
