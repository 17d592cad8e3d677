"""Program that a shim runs before a Spark command: it prints the words with the agent added, for `eval`.

Before that, it writes the call without secrets, for the task. It prints nothing if the words stay as given.
If anything fails here, the shim runs the command with its own words.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import PYTHON, kind_of
from airflow_provider_spark_lineage.airflow.launch.secret_names import words_without_secrets
from airflow_provider_spark_lineage.airflow.launch.shell.options import Options, Word
from airflow_provider_spark_lineage.airflow.submitted.properties import default_properties
from airflow_provider_spark_lineage.spark import REMOVED

SETTINGS, CALLS = "settings.json", "calls"
"""File and folder below the shim's folder: the settings of the task, and the calls of the commands."""

NO_PYTHON, UNREACHABLE, WITHOUT_FILES = "no_python", "unreachable", "without_files"
UNREADABLE, WRAPPED = "unreadable", "wrapped"
"""Reasons why a command stays as it is."""

_START_BYTES = 100_000
"""How much of a program is read; a script is shorter."""

_PY_FILES = "spark.submit.pyFiles"
_VARIABLES = {"spark.master": "MASTER", "spark.submit.deployMode": "DEPLOY_MODE"}
_CHOOSES = re.compile(rb"SPARK_(?:HOME|CONF_DIR)=|deploy-?mode|py-?files|properties-file", re.IGNORECASE)
_VALUE = re.compile(
    r"(?<![\w.-])((?!(?:--conf=)?spark\.(?:lineage|submit|master|app)\b)(?:--conf=)?[\w.-]+=).*", re.DOTALL
)
_PLAIN = frozenset(
    {"--conf", "-c", "--master", "--deploy-mode", "--class", "--properties-file", "--py-files"}
)
"""Options with values that are public, or are masked by their names."""


def main(folder: str, program: str, process: str, *words: str) -> None:
    """Print words for bash: those of one command, as its `$@`, and the agent in between.

    `program` is the path of the real command, and `process` the id of the process that it will have.
    """
    settings = json.loads(Path(folder, SETTINGS).read_bytes())
    options = Options(Word(word, word) for word in words)
    ours: dict[str, str] = settings["properties"]
    place = next(iter(ours))
    if options.starts_nothing or options.conf.get(place) == ours[place]:
        return
    properties: dict[str, str] = {}
    try:
        properties = _properties(options, program)
        reason = WRAPPED if _is_wrapped(program) else _obstacle(options, properties, settings)
    except OSError:
        reason = UNREADABLE
    is_armed = not (reason or options.conf.get(place))
    call = {
        "program": program,
        "process": int(process),
        "directory": str(Path.cwd()),
        "words": _shown(words, options, settings),
        "reason": reason,
        "is_armed": is_armed,
        "is_on_cluster": properties.get("spark.submit.deployMode") == "cluster",
    }
    # The task reads the calls when its command has ended. If the folder is gone by then, this fails, and the
    # command gets no files that the task would not know of.
    call_file = Path(folder, CALLS, f"{time.time_ns()}-{process}.json")
    unfinished = call_file.with_suffix(".part")
    unfinished.write_text(json.dumps(call))
    unfinished.replace(call_file)
    if is_armed:
        files = options.last("--py-files") or properties.get(_PY_FILES)
        added = ["--py-files", f"{files},{settings['agent']}" if files else settings["agent"]]
        added += [part for pair in ours.items() for part in ("--conf", "=".join(pair))]
        # Of two `--py-files`, Spark takes the last.
        at = len(words) - len(options.rest)
        # bash needs long to read many words.
        text = f'"${{@:1:{at}}}" {shlex.join(added)} "${{@:{at + 1}}}"'
        sys.stdout.buffer.write(os.fsencode(text))


def _properties(options: Options, program: str) -> dict[str, str]:
    """Return the properties of a command, also from the files that it reads."""
    file = options.last("--properties-file")
    if file and not Path(file).is_file():
        # A pipe can be read once only.
        raise OSError("not a regular file")
    files = [None, file] if file and "--load-spark-defaults" in options.switches else [file or None]
    of_files: dict[str, str] = {}
    for each in files:
        of_files.update(default_properties(program, each, os.environ))
    # Spark's own order.
    of_shell = {name: os.environ.get(variable, "") for name, variable in _VARIABLES.items()}
    return {**of_shell, **of_files, **options.conf}


def _is_wrapped(program: str) -> bool:
    """Return whether a command is not Spark's own, and may do more than pass its words on to it."""
    file = Path(program).resolve()
    if file.with_name("spark-class").exists():
        return False
    with file.open("rb") as script:
        text = script.read(_START_BYTES)
    return b"$@" not in text or _CHOOSES.search(text) is not None


def _obstacle(options: Options, properties: dict[str, str], settings: dict[str, Any]) -> str:
    """Return the reason why the agent cannot be added to a command; empty if it can."""
    main_file = options.rest[0].text if options.rest else ""
    if kind_of(main_file, options.last("--class")) != PYTHON:
        return NO_PYTHON
    if properties.get("spark.submit.deployMode") != "cluster":
        return ""
    if not settings["is_shared"]:
        return UNREACHABLE
    is_on_kubernetes = properties.get("spark.master", "").startswith("k8s")
    return WITHOUT_FILES if is_on_kubernetes and not settings["is_agent_remote"] else ""


def _shown(words: Sequence[str], options: Options, settings: dict[str, Any]) -> list[str]:
    """Return the words without secrets.

    The script may pass a secret that is not in this environment: then, all arguments and values are masked.
    """
    clean = words_without_secrets(words, os.environ)
    main_file = options.rest[0].text if options.rest else ""
    # The arguments of an application that the text does not name come from elsewhere.
    mains = settings["mains"]
    is_in_text = not main_file or mains is None or os.path.basename(main_file) in mains
    is_known = all(os.environ.get(name) for name in settings["secret_names"])
    if is_in_text and is_known and not settings["has_secrets"]:
        return clean
    at = len(words) - len(options.rest)
    hidden = {word.text for option, word in options.values if option not in _PLAIN}
    values = [
        REMOVED if word in hidden else _VALUE.sub(rf"\1{REMOVED}", shown)
        for word, shown in zip(words[:at], clean, strict=False)
    ]
    return [*values, *clean[at : at + 1], *[REMOVED for _ in clean[at + 1 :]]]
