"""The options of `[spark_lineage]`: one function per option, read where it is asked.

A bad value costs one warning and falls back to the default, or to the value that tells least where the
option keeps something private: an option of lineage must never fail a job.
Defaults, types and descriptions for users stand in `get_provider_info.py`; one test compares the two.
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


def max_plan_bytes() -> int:
    """[spark_lineage] max_plan_bytes: an analyzed plan larger than this is replaced by the optimized one."""
    return _read("max_plan_bytes", _bytes, "a number of bytes above 0", default=50_000_000)


def repeat_dataset_edges() -> bool:
    """[spark_lineage] repeat_dataset_edges: repeat edges of the whole dataset on every field of it."""
    return _read("repeat_dataset_edges", _boolean, "True or False", default=False)


def sql_text() -> str:
    """[spark_lineage] sql_text: how much of SQL statements, and of messages that may repeat them, is kept."""
    words = "full, masked or none"
    return _read("sql_text", _sql_text, words, default="full", otherwise="none")


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
    wanted: str,
    *,
    default: _Value,
    otherwise: _Value | None = None,
) -> _Value:
    """Return an option's value: `default` where it has none, and `otherwise` where it has no right one."""
    otherwise = default if otherwise is None else otherwise
    try:
        text = conf.get(SECTION, option, fallback=None)
    except Exception as error:  # The one place: a `_cmd` that fails or a secrets backend that is down.
        _warn(f"[{SECTION}] {option} cannot be read ({type(error).__name__}); using {otherwise}.")
        return otherwise
    if text is None:
        return default
    # Airflow's own getters allow a comment behind the value, so these do too.
    text = text.split("#", maxsplit=1)[0].strip()
    try:
        return parse(text)
    except ValueError:
        _warn(f"[{SECTION}] {option} = {text!r} is not {wanted}; using {otherwise}. Correct the option.")
        return otherwise


@cache
def _warn(message: str) -> None:
    """Say each message once per process: options are read at every task and some at every execution."""
    log.warning("%s", message)
