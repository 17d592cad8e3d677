"""The options of `[spark_lineage]`: one function per option, read at each call.

A bad value logs one warning and falls back to the default, or to the most private value where the option
protects something: an option of lineage must never fail a job.
Defaults, types and descriptions for users are in `get_provider_info.py`; one test compares the two.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from airflow.providers.common.compat.sdk import conf

SECTION = "spark_lineage"
_TRUE = ("t", "true", "1")
_FALSE = ("f", "false", "0")

log = logging.getLogger(__name__)

_Value = TypeVar("_Value", bool, int, float, str)


def agent() -> str:
    """[spark_lineage] agent: URI of the agent's zip, for drivers that cannot get a file of the worker."""
    return _read("agent", str, "a path or URI", default="")


def auto_capture() -> bool:
    """[spark_lineage] auto_capture: capture tasks of Airflow's own PySpark operators, for the extractors."""
    return _read("auto_capture", _boolean, "True or False", default=False)


def disabled() -> bool:
    """[spark_lineage] disabled: capture nothing and add nothing to any event."""
    return _read("disabled", _boolean, "True or False", default=False)


def drain_timeout_seconds() -> float:
    """[spark_lineage] drain_timeout_seconds: longest wait, before a session stops, for what has ended."""
    return _read("drain_timeout_seconds", _seconds, "a number of seconds, 0 or more", default=30.0)


def emit_timeout_seconds() -> float:
    """[spark_lineage] emit_timeout_seconds: longest wait for the backend to take the events of executions."""
    return _read("emit_timeout_seconds", _seconds, "a number of seconds, 0 or more", default=10.0)


def execution_events() -> bool:
    """[spark_lineage] execution_events: emit START and COMPLETE or FAIL per execution, as child runs."""
    return _read("execution_events", _boolean, "True or False", default=True)


def keep_records() -> bool:
    """[spark_lineage] keep_records: leave the records of submitted applications where they are."""
    return _read("keep_records", _boolean, "True or False", default=False)


def max_plan_bytes() -> int:
    """[spark_lineage] max_plan_bytes: an analyzed plan larger than this is replaced by the optimized one."""
    return _read("max_plan_bytes", _bytes, "a number of bytes above 0", default=50_000_000)


def records() -> str:
    """[spark_lineage] records: folder or URI where the drivers of submitted applications write records."""
    return _read("records", str, "a path or URI", default="")


def repeat_dataset_edges() -> bool:
    """[spark_lineage] repeat_dataset_edges: repeat edges of the whole dataset on every field of it."""
    return _read("repeat_dataset_edges", _boolean, "True or False", default=False)


def sql_text() -> str:
    """[spark_lineage] sql_text: how much of SQL statements, and of messages that may repeat them, is kept."""
    words = "full, masked or none"
    return _read("sql_text", _sql_text, words, default="full", fallback="none")


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
    default: _Value,
    fallback: _Value | None = None,
) -> _Value:
    """Return an option's value: `default` where it is not set, and `fallback` where it is not valid."""
    fallback = default if fallback is None else fallback
    try:
        text = conf.get(SECTION, option, fallback=None)
    except Exception as error:  # A `_cmd` that fails, or a secrets backend that is down.
        _warn(f"[{SECTION}] {option} cannot be read ({type(error).__name__}); using {fallback}.")
        return fallback
    if text is None:
        return default
    # Airflow's own getters allow a comment behind the value, so these do too.
    text = text.split("#", maxsplit=1)[0].strip()
    try:
        return parse(text)
    except ValueError:
        _warn(f"[{SECTION}] {option} = {text!r} is not {expected}; using {fallback}. Correct the option.")
        return fallback


@cache
def _warn(message: str) -> None:
    """Log each message once per process: options are read at every task, some at every execution."""
    log.warning("%s", message)
