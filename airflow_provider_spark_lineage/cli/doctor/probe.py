"""Loads Airflow's plugins in a separate process, and reports the state of the extractors.

The process is separate because plugins and extractors are the user's code: it may print, hang or end the
process, and a failed import may leave broken modules behind. Plugins are loaded before anything else is
imported, so that circular imports fail here as they do in Airflow. The database is queried last, when all
other answers are written, because it may not answer.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.cli.doctor.found import Extractor, Plugins
from airflow_provider_spark_lineage.cli.doctor.look_database import SILENT, look_database
from airflow_provider_spark_lineage.cli.doctor.source import airflow_imports, legacy_names

TIMEOUT_SECONDS = 120
_TOO_LONG = f"loading them takes more than {TIMEOUT_SECONDS} seconds"
_DATABASE_SECONDS = 30
_TIMER = "exit code 1"
"""Exit code of the process if faulthandler ends it because the database takes too long."""

_ROOT = Path(__file__).parents[3]
_PROGRAM = f"""
import sys
root = sys.argv[1]
# As in Airflow's commands, without the working directory; this package's root last.
sys.path[:] = [*filter(None, sys.path), root]
from {__name__} import main
main(*sys.argv[2:])
"""
_PLUGIN = "airflow.providers.openlineage.plugins.openlineage"


def probed(questions: dict[str, Any], *, database_seconds: float = _DATABASE_SECONDS) -> Plugins:
    """Return the state of plugins, extractors, operators and, if asked for, the database of a new process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.jsonl"
        questions = {**questions, "database_seconds": database_seconds}
        code = _run([sys.executable, "-c", _PROGRAM, str(_ROOT), json.dumps(questions), str(file)])
        parts = _written(file)
    if not parts:
        return Plugins(error=_TOO_LONG if code is None else f"the process that loads them ended with {code}")
    answers: dict[str, Any] = {}
    if questions["database"] and len(parts) == 1:
        answers["database_error"] = SILENT if code in (None, _TIMER) else f"the process ended with {code}"
    for part in parts:
        answers |= part
    extractors = tuple(Extractor(**{**row, **_tuples(row)}) for row in answers.pop("extractors"))
    dags = answers.pop("dags", None)
    return Plugins(
        extractors=extractors,
        dags=None if dags is None else {dag: tuple(tasks) for dag, tasks in dags.items()},
        connections_with_listener=tuple(answers.pop("connections_with_listener", ())),
        **answers,
    )


def _run(command: list[str]) -> str | None:
    """Run the program, and return its exit code in words; None if it takes too long."""
    try:
        # No pipes: a process that a plugin leaves running would hold them open; a prompt would wait for ever.
        done = subprocess.run(  # noqa: S603  this module, by the Python that runs it
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        return type(error).__name__
    return f"exit code {done.returncode}"


def _written(file: Path) -> list[dict[str, Any]]:
    """Return the complete parts of the answer, however the process ended."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError:
        return []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) for name, value in row.items() if isinstance(value, list)}


# ---- In the new process --------------------------------------------------------------------------


def main(questions: str, file: str) -> None:
    """Write each part of the answer as a line of a file, because Airflow and plugins print to the streams."""
    with Path(file).open("w", encoding="utf-8") as lines:
        for part in _parts(json.loads(questions)):
            print(json.dumps(part), file=lines, flush=True)
    # Plugins may have started threads that would keep the process alive.
    os._exit(0)


def _parts(questions: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the state of plugins, extractors and operators, then the content of the database."""
    yield _loaded(questions)
    if questions["database"]:
        # A C thread, because the driver of a database may hold the GIL while it waits.
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            faulthandler.dump_traceback_later(questions["database_seconds"], exit=True, file=nowhere)
            answer = look_database()
            faulthandler.cancel_dump_traceback_later()
        yield answer


def _loaded(questions: dict[str, Any]) -> dict[str, Any]:
    answers = _plugins() if questions["active"] else {}
    # The plugin has loaded the extractors and its own imports; now the rest may be imported.
    registered = _registered() if questions["active"] and not answers.get("listener_error") else {}
    classes = registered.values()
    answers["registered"] = {name: _dotted(extractor) for name, extractor in registered.items()}
    answers["extractors"] = [_extractor(path, set(classes)) for path in questions["extractors"]]
    if not registered:
        for row in answers["extractors"]:
            row.pop("is_registered", None)
    answers["broken_operators"] = dict(_broken(questions["operators"]))
    answers["broken_transports"] = dict(_broken(questions["transports"], _transport_problem))
    return answers


def _reason(error: BaseException) -> str:
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
        return {"error": _reason(error)}
    was_loaded = _PLUGIN in sys.modules
    texts = {str(source): (str(text).strip().splitlines() or [""])[-1] for source, text in errors.items()}
    others = {source: text for source, text in texts.items() if "openlineage" not in source.lower()}
    try:
        listeners = importlib.import_module(_PLUGIN).OpenLineageProviderPlugin.listeners
    except BaseException as error:
        return {"has_listener": False, "listener_error": _reason(error), "errors": others}
    if not was_loaded:
        own = [text for source, text in texts.items() if source not in others]
        return {"has_listener": False, "listener_error": "".join(own[:1]), "errors": others}
    return {"has_listener": bool(listeners), "errors": others}


def _registered() -> dict[str, type]:
    """Return the extractors of OpenLineage's plugin: class name of an operator -> class."""
    try:
        listener = importlib.import_module("airflow.providers.openlineage.plugins.listener")
        return dict(listener.get_openlineage_listener().extractor_manager.extractors)
    except BaseException:  # Reported as the plugin's error.
        return {}


def _dotted(cls: Any) -> str:
    return f"{getattr(cls, '__module__', '')}.{getattr(cls, '__qualname__', cls)}"


def _extractor(path: str, registered: set[type]) -> dict[str, Any]:
    """Return the fields of an `Extractor`."""
    module, _, name = path.rpartition(".")
    text = _source(module)
    row: dict[str, Any] = {
        "path": path,
        "airflow_imports": airflow_imports(text),
        "legacy_names": legacy_names(text),
    }
    try:
        if not module:
            raise ImportError(f"{path} is not a dotted path")
        imported = importlib.import_module(module)
        if not hasattr(imported, name):
            raise ImportError(f"module {module} has no attribute {name}")
        cls = getattr(imported, name)
    except BaseException as error:
        return {**row, "error": _reason(error), "is_import_error": isinstance(error, ImportError)}
    names, interface = _interface(cls)
    is_registered = cls in registered or not names
    row |= {"dotted": _dotted(cls), "names": names, "interface": interface}
    return {**row, "is_registered": is_registered}


def _interface(cls: Any) -> tuple[list[str], str]:
    """Return the class names of an extractor's operators, and the problem of its interface."""
    if not inspect.isclass(cls):
        return [], "is not a class"
    read = getattr(cls, "get_operator_classnames", None)
    if read is None:
        return [], "has no class method `get_operator_classnames`"
    try:
        names = read()
    except BaseException as error:
        return [], f"raises {_reason(error)} in `get_operator_classnames`, which must be a class method"
    if isinstance(names, str) or not isinstance(names, (list, tuple, set, frozenset)):
        return [], f"returns {type(names).__name__} from `get_operator_classnames`, not a list of class names"
    strings = sorted(name for name in names if isinstance(name, str))
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        return strings, f"does not implement {', '.join(missing)}"
    dotted = [name for name in strings if "." in name]
    if dotted:
        return strings, f"names {dotted[0]}, but OpenLineage compares class names without their module"
    return strings, ""


def _source(module: str) -> str:
    """Return the text of a module without importing it; its parent packages are imported."""
    try:
        spec = importlib.util.find_spec(module)
        return Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    except BaseException:  # Importing the package may raise anything, which is reported with the extractor.
        return ""


def _no_problem(cls: Any) -> str:
    return "" if inspect.isclass(cls) else "is not a class"


def _transport_problem(cls: Any) -> str:
    from openlineage.client.transport import Transport

    return "" if inspect.isclass(cls) and issubclass(cls, Transport) else "is not a subclass of Transport"


def _broken(paths: list[str], problem: Callable[[Any], str] = _no_problem) -> Iterator[tuple[str, str]]:
    """Yield the classes that cannot be imported, with the reason."""
    for path in paths:
        module, _, name = path.rpartition(".")
        try:
            text = problem(getattr(importlib.import_module(module), name))
        except BaseException as error:
            text = _reason(error)
        if text:
            yield path, text
