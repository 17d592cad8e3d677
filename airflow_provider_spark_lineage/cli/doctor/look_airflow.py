"""Reads the options of Airflow and of OpenLineage's provider with the provider's own functions.

Nothing is emitted: a connection to the host of a transport is opened and closed. An option whose reading
raises becomes `Unreadable`.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.cli.doctor.found import Airflow, Plugins, Unreadable
from airflow_provider_spark_lineage.cli.doctor.look_transport import unreachable
from airflow_provider_spark_lineage.cli.doctor.probe import probed
from airflow_provider_spark_lineage.cli.doctor.transport import transport_classes

_FUNCTIONS = (
    "is_disabled",
    "config_conn_id",
    "config_path",
    "transport",
    "custom_extractors",
    "disabled_operators",
    "selective_enable",
    "namespace",
    "execution_timeout",
    "execute_in_thread",
    "emission_policy",
    "spark_inject_parent_job_info",
    "spark_inject_transport_info",
)
"""Functions of the provider's `conf` that take no argument; earlier releases do not have all of them."""

_MAY_QUOTE_SECRETS = ("is_disabled", "transport")
"""Functions whose exceptions may repeat the transport."""


def look_airflow(*, database: bool, progress: Callable[[str], object]) -> Airflow:
    """Return the options of Airflow and of the provider, and the state of a process that loads plugins."""
    progress("the options of Airflow")
    try:
        options = importlib.import_module("airflow.providers.openlineage.conf")
    except BaseException as error:  # A broken airflow.cfg or provider may raise anything, SystemExit too.
        return Airflow(error=_unreadable(error))
    values = {name: _called(getattr(options, name), name) for name in _FUNCTIONS if hasattr(options, name)}
    # Without the legacy variable OPENLINEAGE_CONFIG: the provider prefers the option, then the transport.
    values["config_path_option"] = _called(lambda: options.config_path(check_legacy_env_var=False), "")
    values["disabled_option"] = _called(_disabled_option, "")
    own_values, warnings = _own_values()
    airflow = Airflow(
        options=values,
        texts=_texts("openlineage"),
        own_texts=_texts("spark_lineage"),
        known_options=_known_options(),
        own_values=own_values,
        own_warnings=warnings,
        lineage_backend=_text("lineage", "backend"),
        transport=_transport(values),
        transport_types=_transport_types(),
    )
    if values.get("is_disabled") is False and not values.get("config_conn_id"):
        progress("where events go")
        airflow = replace(airflow, unreachable=unreachable(airflow.transport))
    progress("the plugins of Airflow, and its metadata database" if database else "the plugins of Airflow")
    return replace(airflow, plugins=_plugins(airflow, database=database))


def _plugins(airflow: Airflow, *, database: bool) -> Plugins:
    extractors = airflow.options.get("custom_extractors")
    operators = airflow.own_values.get("extra_operators")
    questions = {
        "extractors": sorted(extractors) if isinstance(extractors, set) else [],
        "operators": sorted(operators) if isinstance(operators, dict) else [],
        "transports": [name for name in transport_classes(airflow.transport) if "." in name],
        "database": database,
        "active": airflow.options.get("is_disabled") is False,
    }
    return probed(questions)


def _called(function: Callable[[], Any], name: str) -> Any:
    try:
        return function()
    except BaseException as error:  # Each option may raise its own class of error.
        return _unreadable(error, quotes=name in _MAY_QUOTE_SECRETS)


def _unreadable(error: BaseException, *, quotes: bool = False) -> Unreadable:
    first = (str(error).strip().splitlines() or [""])[0]
    return Unreadable(type(error).__name__, "" if quotes else first.rstrip("."))


# ---- Texts of options ----------------------------------------------------------------------------


def _text(section: str, option: str) -> str:
    from airflow.providers.common.compat.sdk import conf

    try:
        return str(conf.get(section, option, fallback="") or "")
    except BaseException:  # Another check reports an option that cannot be read.
        return ""


def _texts(section: str) -> dict[str, str]:
    """Return the options of a section that a file or the environment sets, known or not."""
    from airflow.providers.common.compat.sdk import conf

    try:
        names = {str(name).lower() for name in (conf.getsection(section) or {})}
    except BaseException:  # A section with a broken entry still has the others in the environment.
        names = set()
    prefix = f"AIRFLOW__{section.upper()}__"
    for name in os.environ:
        if name.startswith(prefix):
            option = name.removeprefix(prefix)
            names.add(option.removesuffix("_CMD").removesuffix("_SECRET").lower())
    return {name: text for name in sorted(names) if (text := _text(section, name))}


def _disabled_option() -> bool:
    from airflow.providers.common.compat.sdk import conf

    return bool(conf.getboolean("openlineage", "disabled", fallback="False"))


def _known_options() -> frozenset[str]:
    try:
        module = importlib.import_module("airflow.providers.openlineage.get_provider_info")
        return frozenset(module.get_provider_info()["config"]["openlineage"]["options"])
    except Exception:  # A provider whose import raises is a separate finding.
        return frozenset()


class _Keep(logging.Handler):
    """Collects the warnings about bad values, so that they become part of the report."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _own_values() -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return this package's options, and the warnings of `conf` about values that it cannot use."""
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.get_provider_info import get_provider_info

    # Each message is logged once in a process.
    conf._warn.cache_clear()
    keep = _Keep()
    conf.log.addHandler(keep)
    try:
        names = get_provider_info()["config"]["spark_lineage"]["options"]
        values = {name: getattr(conf, name)() for name in names}
    finally:
        conf.log.removeHandler(keep)
    return values, tuple(keep.lines)


# ---- Transport -----------------------------------------------------------------------------------


def _transport(values: dict[str, Any]) -> Any:
    """Return the configuration of the transport that the provider's adapter would use, or None."""
    option, path = values["config_path_option"], values["config_path"]
    transport = values["transport"]
    if isinstance(transport, Unreadable):
        return transport
    if path and not isinstance(path, Unreadable) and (option or not transport):
        try:
            return _transport_of_file(Path(path))
        except Exception as error:
            return _unreadable(error, quotes=True)
    return transport or _transport_of_environment() or None


def _transport_of_file(path: Path) -> Any:
    import yaml

    config = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return config.get("transport", {})


def _transport_of_environment() -> dict[str, Any]:
    """Read `OPENLINEAGE__TRANSPORT__...` as the client does: each double underscore starts a level."""
    config: dict[str, Any] = {}
    for name in sorted(os.environ):
        if not name.startswith("OPENLINEAGE__TRANSPORT"):
            continue
        try:
            value = json.loads(os.environ[name])
        except ValueError:
            value = os.environ[name]
        level: Any = config
        *parents, last = name.lower().split("__")[2:] or [""]
        for parent in parents:
            level = level.setdefault(parent, {}) if isinstance(level, dict) else {}
        if last and isinstance(level, dict):
            level[last] = value
        elif isinstance(value, dict):
            config.update(value)
    if not config and os.getenv("OPENLINEAGE_URL"):
        return {"type": "http", "url": os.environ["OPENLINEAGE_URL"]}
    return config


def _transport_types() -> tuple[str, ...]:
    try:
        factory = importlib.import_module("openlineage.client.transport").get_default_factory()
        return tuple(factory.transports)
    except Exception:  # A client whose import raises is a finding of the provider's plugin.
        return ()
