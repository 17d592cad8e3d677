"""Options of `[spark_lineage]`: one function per option, read at each call.

An invalid value logs one warning and is replaced by the default, or by the most private value if the option
protects data: an option of lineage must never fail a job.
Defaults, types and descriptions are in one table, `get_provider_info.OPTIONS`.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from airflow.providers.common.compat.sdk import conf

from airflow_provider_spark_lineage.get_provider_info import OPTIONS
from airflow_provider_spark_lineage.known_operators import KINDS

SECTION = "spark_lineage"
_TRUE = ("t", "true", "1")
_FALSE = ("f", "false", "0")

log = logging.getLogger(__name__)

_Value = TypeVar("_Value", bool, int, float, str, tuple[str, ...])


def agent() -> str:
    """[spark_lineage] agent: URI of the agent's zip, for drivers that cannot get a file of the worker."""
    return _read("agent", str, "a path or URI")


def asset_events() -> bool:
    """[spark_lineage] asset_events: have Airflow record an asset event for each dataset written."""
    return _read("asset_events", _boolean, "True or False")


def auto_capture() -> bool:
    """[spark_lineage] auto_capture: capture tasks of Airflow's own operators, in DAGs that are not edited."""
    return _read("auto_capture", _boolean, "True or False")


def auto_capture_commands() -> bool:
    """[spark_lineage] auto_capture_commands: add the agent to shell commands that call `spark-submit`."""
    return _read("auto_capture_commands", _boolean, "True or False")


def auto_capture_exclude() -> tuple[str, ...]:
    """[spark_lineage] auto_capture_exclude: patterns of DAGs and tasks not to capture."""
    return _read("auto_capture_exclude", _patterns, _PATTERNS, fallback=("*",))


def auto_capture_include() -> tuple[str, ...]:
    """[spark_lineage] auto_capture_include: patterns of DAGs and tasks to capture."""
    return _read("auto_capture_include", _patterns, _PATTERNS, fallback=())


def disabled() -> bool:
    """[spark_lineage] disabled: capture nothing, and add nothing to any event."""
    return _read("disabled", _boolean, "True or False")


def drain_timeout_seconds() -> float:
    """[spark_lineage] drain_timeout_seconds: longest wait for ended executions before a session stops."""
    return _read("drain_timeout_seconds", _seconds, "a number of seconds, 0 or more")


def emit_timeout_seconds() -> float:
    """[spark_lineage] emit_timeout_seconds: longest wait until the backend has accepted execution events."""
    return _read("emit_timeout_seconds", _seconds, "a number of seconds, 0 or more")


def execution_events() -> bool:
    """[spark_lineage] execution_events: emit START and COMPLETE or FAIL per execution, as child runs."""
    return _read("execution_events", _boolean, "True or False")


def extra_operators() -> dict[str, str]:
    """[spark_lineage] extra_operators: more operators that run Spark; dotted class -> one of `KINDS`."""
    text = _read("extra_operators", str, "a list")
    kinds = {}
    for entry in filter(None, (entry.strip() for entry in text.split(";"))):
        name, _, kind = (part.strip() for part in entry.partition("="))
        if _DOTTED.fullmatch(name) and kind in KINDS:
            kinds[name] = kind
        else:
            _warn(
                f"[{SECTION}] extra_operators: {entry!r} is left out. Write package.module.Class = KIND, "
                f"where KIND is one of {', '.join(KINDS)}, with semicolons between entries."
            )
    return kinds


def keep_records() -> bool:
    """[spark_lineage] keep_records: do not remove the records of submitted applications."""
    return _read("keep_records", _boolean, "True or False")


def max_plan_bytes() -> int:
    """[spark_lineage] max_plan_bytes: an analyzed plan larger than this is replaced by the optimized one."""
    return _read("max_plan_bytes", _bytes, "a number of bytes above 0")


def records() -> str:
    """[spark_lineage] records: folder or URI where the drivers of submitted applications write records."""
    return _read("records", str, "a path or URI")


def repeat_dataset_edges() -> bool:
    """[spark_lineage] repeat_dataset_edges: repeat dataset-level edges (filters, joins) on every field."""
    return _read("repeat_dataset_edges", _boolean, "True or False")


def sql_text() -> str:
    """[spark_lineage] sql_text: how much to record of SQL statements, and of messages that may quote them."""
    words = "full, masked or none"
    return _read("sql_text", _sql_text, words, fallback="none")


_PATTERNS = "a list of dag_id or dag_id.task_id with * for any text, separated by semicolons"
_PATTERN = re.compile(r"[\w.*?\[\]!-]+")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


def _patterns(text: str) -> tuple[str, ...]:
    patterns = tuple(filter(None, (pattern.strip() for pattern in text.split(";"))))
    if not all(_PATTERN.fullmatch(pattern) for pattern in patterns):
        raise ValueError(text)
    return patterns


def _boolean(text: str) -> bool:
    word = text.lower()
    if word not in (*_TRUE, *_FALSE):
        raise ValueError(text)
    return word in _TRUE


def _seconds(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(text)
    return value


def _bytes(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise ValueError(text)
    return value


def _sql_text(text: str) -> str:
    word = text.lower()
    if word not in ("full", "masked", "none"):
        raise ValueError(text)
    return word


def _read(
    option: str,
    parse: Callable[[str], _Value],
    expected: str,
    *,
    fallback: _Value | None = None,
) -> _Value:
    """Return an option's value: its default if it is not set, and `fallback` if it is not valid."""
    default = parse(OPTIONS[option]["default"])
    fallback = default if fallback is None else fallback
    try:
        text = conf.get(SECTION, option, fallback=None)
    except Exception as error:  # A `_cmd` that fails, or a secrets backend that is down.
        _warn(f"[{SECTION}] {option} cannot be read ({type(error).__name__}); using {_shown(fallback)}.")
        return fallback
    if text is None:
        return default
    # A comment may follow the value, as in Airflow's own getters.
    text = text.split("#", maxsplit=1)[0].strip()
    try:
        return parse(text)
    except ValueError:
        instead = _shown(fallback)
        _warn(f"[{SECTION}] {option} = {text!r} is not {expected}; using {instead}. Correct the option.")
        return fallback


def _shown(value: object) -> str:
    """Return a value in the form of the configuration file."""
    return (";".join(value) or "nothing") if isinstance(value, tuple) else str(value)


@cache
def _warn(message: str) -> None:
    """Log each message once per process: options are read at every task, some at every execution."""
    log.warning("%s", message)
