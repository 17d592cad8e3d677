"""Options of `[spark_lineage]`: one function per option, read at each call.

An invalid value logs one warning and is replaced by the default, or by the most private value if the option
protects data: an option of lineage must never fail a job.
`get_provider_info.OPTIONS` is the table of their defaults, types and descriptions.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable
from functools import cache, partial
from typing import TypeVar

from airflow.providers.common.compat.sdk import conf

from airflow_provider_spark_lineage.airflow.known_operators import KINDS
from airflow_provider_spark_lineage.get_provider_info import OPTIONS

SECTION = "spark_lineage"
FULL = "full"
"""Value of `sql_text`: statements are shown, and with them their literals."""

_TRUE = ("t", "true", "1")
_FALSE = ("f", "false", "0")
_PATTERN = re.compile(r"[\w.*?\[\]!-]+")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")

log = logging.getLogger(__name__)

_Value = TypeVar("_Value", bool, int, float, str, tuple[str, ...])


def _patterns(text: str) -> tuple[str, ...]:
    patterns = tuple(filter(None, (pattern.strip() for pattern in text.split(";"))))
    if not all(_PATTERN.fullmatch(pattern) for pattern in patterns):
        raise ValueError(text)
    return patterns


def _names(pattern: str) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        names = tuple(filter(None, (name.strip() for name in text.split(";"))))
        if not all(re.fullmatch(pattern, name) for name in names):
            raise ValueError(text)
        return names

    return parse


def _word(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in words:
            raise ValueError(text)
        return text.lower()

    return parse


def _boolean(text: str) -> bool:
    return _word(*_TRUE, *_FALSE)(text) in _TRUE


def _execution_events(text: str) -> str:
    word = _word("all", "writes", "failed", "none", *_TRUE, *_FALSE)(text)
    return "all" if word in _TRUE else "none" if word in _FALSE else word


def _store(text: str) -> str:
    if re.fullmatch(r"[A-Za-z][\w+.-]*://\S+", text):
        return text
    return _word("xcom", "none")(text)


def _seconds(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(text)
    return value


def _interval(text: str) -> float:
    value = _seconds(text)
    if value and not 1 <= value <= 86_400:
        raise ValueError(text)
    return value


def _bytes(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise ValueError(text)
    return value


def _read(
    option: str, parse: Callable[[str], _Value], expected: str, fallback: _Value | None = None
) -> _Value:
    """Return an option's value: its default if it is not set, and `fallback` if it is not valid."""
    default = parse(OPTIONS[option].default)
    fallback = default if fallback is None else fallback
    # In the form of the configuration file.
    instead = (";".join(fallback) or "nothing") if isinstance(fallback, tuple) else str(fallback)
    try:
        text = conf.get(SECTION, option, fallback=None)
    except Exception as error:  # A `_cmd` that fails, or a secrets backend that is down.
        _warn(f"[{SECTION}] {option} cannot be read ({type(error).__name__}); using {instead}.")
        return fallback
    if text is None:
        return default
    # A comment may follow the value, as in Airflow's own getters.
    text = text.split("#", maxsplit=1)[0].strip()
    try:
        return parse(text)
    except ValueError:
        _warn(f"[{SECTION}] {option} = {text!r} is not {expected}; using {instead}. Correct the option.")
        return fallback


@cache
def _warn(message: str) -> None:
    """Log each message once per process: options are read at every task, some at every execution."""
    log.warning("%s", message)


def _reader(
    option: str, parse: Callable[[str], _Value], expected: str, fallback: _Value | None = None
) -> Callable[[], _Value]:
    return partial(_read, option, parse, expected, fallback)


def _switch(option: str) -> Callable[[], bool]:
    return _reader(option, _boolean, "True or False")


_PATTERNS = "a list of dag_id or dag_id.task_id with * for any text, separated by semicolons"
_SECONDS = "a number of seconds, 0 or more"
_LIST = "a list of names, separated by semicolons"

agent = _reader("agent", str, "a path or URI")
assertion_names = _reader("assertion_names", _word("check", "class"), "check or class")
asset_events = _switch("asset_events")
auto_capture = _switch("auto_capture")
auto_capture_commands = _switch("auto_capture_commands")
auto_capture_exclude = _reader("auto_capture_exclude", _patterns, _PATTERNS, ("*",))
auto_capture_include = _reader("auto_capture_include", _patterns, _PATTERNS, ())
disabled = _switch("disabled")
drain_timeout_seconds = _reader("drain_timeout_seconds", _seconds, _SECONDS)
emit_timeout_seconds = _reader("emit_timeout_seconds", _seconds, _SECONDS)
execution_events = _reader("execution_events", _execution_events, "all, writes, failed or none")
keep_records = _switch("keep_records")
max_event_bytes = _reader("max_event_bytes", _bytes, "a number of bytes above 0")
max_plan_bytes = _reader("max_plan_bytes", _bytes, "a number of bytes above 0")
progress_interval_seconds = _reader(
    "progress_interval_seconds", _interval, "0, or a number of seconds from 1 to 86400"
)
records = _reader("records", str, "a path or URI")
repeat_dataset_edges = _switch("repeat_dataset_edges")
spark_environment = _reader("spark_environment", _names(r"\w+"), _LIST, ())
spark_properties = _reader("spark_properties", _names(r"[\w.*-]+"), _LIST, ())
sql_text = _reader("sql_text", _word(FULL, "masked", "none"), "full, masked or none", "none")
start_outputs = _switch("start_outputs")
store = _reader("store", _store, "xcom, none or a URI", "none")
task_datasets = _switch("task_datasets")


def extra_operators() -> dict[str, str]:
    """Return more operators that run Spark: dotted class -> one of `KINDS`."""
    text = _read("extra_operators", str, "a list")
    kinds = {}
    for entry in filter(None, (entry.strip() for entry in text.split(";"))):
        name, _, kind = (text.strip() for text in entry.partition("="))
        if _DOTTED.fullmatch(name) and kind in KINDS:
            kinds[name] = kind
        else:
            _warn(
                f"[{SECTION}] extra_operators: {entry!r} is left out. Write package.module.Class = KIND, "
                f"where KIND is one of {', '.join(KINDS)}, with semicolons between entries."
            )
    return kinds
