"""Loads Airflow's plugins in a separate process, and reports the state of the extractors.

The process is separate because plugins and extractors are the user's code: it may print, hang or end the
process, and a failed import may leave broken modules behind. Plugins are loaded before anything else is
imported, so that circular imports fail here as they do in Airflow.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.cli.doctor.model import Extractor, Plugins

TIMEOUT_SECONDS = 120
_PROGRAM = f"""
import sys
from os.path import realpath
root = sys.argv[1]
# As in Airflow's commands, without the working directory; this package's root last, unless it is there:
# Airflow loads the plugins of a folder that is there twice a second time, and then reports them.
sys.path[:] = [*filter(None, sys.path)]
if realpath(root) not in map(realpath, sys.path):
    sys.path.append(root)
from {__name__} import main
main(*sys.argv[2:])
"""
_PLUGIN = "airflow.providers.openlineage.plugins.openlineage"


def probed(*, extractors: list[str], operators: list[str], is_active: bool) -> Plugins:
    """Return the state of plugins, extractors and operators in a new process."""
    questions = json.dumps({"extractors": extractors, "operators": operators, "is_active": is_active})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.json"
        command = [sys.executable, "-c", _PROGRAM, str(Path(__file__).parents[3]), questions, str(file)]
        # No pipes: a process that a plugin leaves running would hold them open; a prompt would wait for ever.
        streams: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        try:
            code = subprocess.run(command, **streams, timeout=TIMEOUT_SECONDS, check=False).returncode  # noqa: S603
            end = f"the process that loads them ended with exit code {code}"
        except subprocess.TimeoutExpired:
            end = f"loading them takes more than {TIMEOUT_SECONDS} seconds"
        except OSError as error:
            end = type(error).__name__
        try:
            answers = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return Plugins(error=end)
    return Plugins(**{**answers, "extractors": [Extractor(**row) for row in answers["extractors"]]})


def main(questions: str, file: str) -> None:
    """Write the answers into a file, because Airflow and plugins print to the streams."""
    Path(file).write_text(json.dumps(_answers(**json.loads(questions))), encoding="utf-8")
    # Plugins may have started threads that would keep the process alive.
    os._exit(0)


def _answers(extractors: list[str], operators: list[str], *, is_active: bool) -> dict[str, Any]:
    """Return the fields of `Plugins`."""
    answers = _plugins() if is_active else {}
    # The plugin has loaded the extractors and its own imports; now the rest may be imported.
    registered = _registered() if is_active and not answers.get("listener_error") else []
    rows = [_extractor(path) for path in extractors]
    for row in rows:
        cls = row.pop("cls", None)
        row["is_registered"] = not registered or cls in registered or not row.get("names")
    return {**answers, "extractors": rows, "broken_operators": dict(_broken(operators))}


def reason(error: BaseException) -> str:
    """Return the class of an exception and the first line of its message."""
    first = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _plugins() -> dict[str, Any]:
    """Load Airflow's plugins, and return the state of OpenLineage's and the errors of the others."""
    try:
        manager = importlib.import_module("airflow.plugins_manager")
        manager.ensure_plugins_loaded()
        errors = (
            manager.get_import_errors() if hasattr(manager, "get_import_errors") else manager.import_errors
        )
    except BaseException as error:  # A plugin may raise anything, SystemExit too.
        return {"error": reason(error)}
    was_loaded = _PLUGIN in sys.modules
    texts = {str(source): (str(text).strip().splitlines() or [""])[-1] for source, text in errors.items()}
    ours = [text for source, text in texts.items() if "openlineage" in source.lower()]
    others = {source: text for source, text in texts.items() if "openlineage" not in source.lower()}
    listener_error = ""
    try:
        listeners = importlib.import_module(_PLUGIN).OpenLineageProviderPlugin.listeners
        if not was_loaded or not listeners:
            listener_error = "".join(ours[:1]) or "Airflow does not find it"
    except BaseException as error:
        listener_error = f"Airflow raises {reason(error)}"
    return {"listener_error": listener_error, "errors": others}


def _registered() -> list[type]:
    """Return the classes of the extractors of OpenLineage's plugin."""
    try:
        listener = importlib.import_module("airflow.providers.openlineage.plugins.listener")
        return list(listener.get_openlineage_listener().extractor_manager.extractors.values())
    except BaseException:  # Reported as the plugin's error.
        return []


def _extractor(path: str) -> dict[str, Any]:
    """Return the fields of an `Extractor`, and its class if it can be imported."""
    try:
        cls = _imported(path)
    except BaseException as error:
        return {"path": path, "error": reason(error), "is_import_error": isinstance(error, ImportError)}
    dotted = f"{getattr(cls, '__module__', '')}.{getattr(cls, '__qualname__', cls)}"
    try:
        names = sorted(map(str, cls.get_operator_classnames()))
    except BaseException:  # Its class is wrong, or is not one.
        names = []
    return {"path": path, "cls": cls, "dotted": dotted, "names": names}


def _imported(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if not module:
        raise ImportError(f"{path} is not a dotted path")
    imported = importlib.import_module(module)
    if not hasattr(imported, name):
        raise ImportError(f"module {module} has no attribute {name}")
    return getattr(imported, name)


def _broken(paths: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the classes that cannot be imported, with the reason."""
    for path in paths:
        try:
            if not inspect.isclass(_imported(path)):
                yield path, "is not a class"
        except BaseException as error:
            yield path, reason(error)
