"""The doctor's look at Airflow's OpenLineage options: is anything emitted, by what, where to.

It asks the provider's own functions wherever there is one, opens no connection, and repeats of a transport
only its type and its address: the rest may hold credentials.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.cli.finding import Finding

PACKAGE = "airflow_provider_spark_lineage"
_TRANSPORT_EXAMPLE = """AIRFLOW__OPENLINEAGE__TRANSPORT='{"type": "http", "url": "http://localhost:5000"}'"""
_NEEDS = {
    "http": "url",
    "async_http": "url",
    "file": "log_file_path",
    "kafka": "topic",
    "composite": "transports",
}
"""Transport type -> the option without which the client cannot build it."""


def findings() -> Iterator[Finding]:
    """Yield what decides whether this Airflow emits lineage."""
    try:
        options = importlib.import_module("airflow.providers.openlineage.conf")
    except Exception as error:  # A broken airflow.cfg or provider may raise anything at import.
        yield Finding("openlineage", "cannot be read", "problem", f"{_reason(error)}; fix that first.")
        return
    activity = _activity(options)
    yield activity
    checks: list[Callable[[Any], Iterator[Finding]]] = [_execution, _namespace, _switches, _own_options]
    if activity.level == "ok":
        checks = [_listener, _transport, *checks]
    for check in checks:
        try:
            yield from check(options)
        except Exception as error:  # Airflow parses each option with errors of its own.
            topic = check.__name__.strip("_")
            yield Finding(topic, "cannot be read", "problem", f"{_reason(error)}; correct that option.")


def _reason(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"Airflow raises {type(error).__name__}: {first.rstrip('.')}"


def _activity(options: Any) -> Finding:
    """Return whether OpenLineage emits, and which option decides it, as the provider's `is_disabled`."""
    from airflow.providers.common.compat.sdk import conf

    try:
        inactive = options.is_disabled()
    except Exception as error:
        # The message may quote the transport, and the transport may hold an API key.
        advice = f"`[openlineage] transport` is not a JSON object ({type(error).__name__}); correct it."
        return Finding("openlineage", "cannot be read", "problem", advice)
    if not inactive:
        return Finding("openlineage", f"active, decided by {_decided_by(options)}")
    if conf.getboolean("openlineage", "disabled", fallback="False"):
        switch = "`[openlineage] disabled`"
    elif os.getenv("OPENLINEAGE_DISABLED"):
        switch = "the environment variable OPENLINEAGE_DISABLED"
    else:
        advice = (
            "OpenLineage has no transport, so Airflow emits nothing: set `[openlineage] transport`, for "
            f"example {_TRANSPORT_EXAMPLE}."
        )
        return Finding("openlineage", "inactive: no transport", "problem", advice)
    advice = f"OpenLineage is switched off by {switch}; set it to False."
    return Finding("openlineage", f"inactive: {switch}", "problem", advice)


def _connection(options: Any) -> str:
    """Return `[openlineage] config_conn_id`, which providers up to 2.13 do not have."""
    read = getattr(options, "config_conn_id", None)
    return str(read() or "") if read else ""


def _decided_by(options: Any) -> str:
    """Return the name of the setting that the provider's adapter uses, in its order of precedence."""
    if connection := _connection(options):
        return f"connection `{connection}` ([openlineage] config_conn_id)"
    if options.config_path(check_legacy_env_var=False):
        return "[openlineage] config_path"
    if options.transport():
        return "[openlineage] transport"
    if options.config_path():
        return "OPENLINEAGE_CONFIG"
    return "OPENLINEAGE_URL" if os.getenv("OPENLINEAGE_URL") else "OPENLINEAGE__TRANSPORT*"


def _listener(_options: Any) -> Iterator[Finding]:
    """Load the plugin as Airflow does: an extractor that raises at import disables the whole plugin."""
    try:
        module = importlib.import_module("airflow.providers.openlineage.plugins.openlineage")
        listeners = module.OpenLineageProviderPlugin.listeners
    except Exception as error:
        advice = (
            f"OpenLineage's plugin does not load, so nothing is emitted: {_reason(error)}; fix or remove it."
        )
        yield Finding("listener", "missing", "problem", advice)
        return
    if not listeners:
        advice = "OpenLineage's plugin registers no listener; reinstall apache-airflow-providers-openlineage."
        yield Finding("listener", "missing", "problem", advice)
    else:
        yield Finding("listener", "registered")


# ---- Transport -----------------------------------------------------------------------------------


def _transport(options: Any) -> Iterator[Finding]:
    if connection := _connection(options):
        yield Finding("transport", f"from connection `{connection}`, not opened here")
        return
    path = options.config_path()
    config: Any
    if path and not (options.transport() and not options.config_path(check_legacy_env_var=False)):
        try:
            config = _transport_of_file(Path(path))
        except Exception as error:
            advice = (
                f"The OpenLineage configuration {path} cannot be read ({type(error).__name__}); correct it."
            )
            yield Finding("transport", "unknown", "problem", advice)
            return
    else:
        config = options.transport() or _transport_of_environment()
    yield describe_transport(config)


def _transport_of_file(path: Path) -> Any:
    import yaml

    return (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).get("transport", {})


def _transport_of_environment() -> dict[str, Any]:
    """Read `OPENLINEAGE__TRANSPORT__URL` and its like as the client does: a level per double underscore."""
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
            level = level.setdefault(parent, {})
        if last:
            level[last] = value
        elif isinstance(value, dict):
            config.update(value)
    if not config and os.getenv("OPENLINEAGE_URL"):
        return {"type": "http", "url": os.environ["OPENLINEAGE_URL"]}
    return config


def describe_transport(config: Any) -> Finding:
    """Return where events go, by type and address only."""
    kind = config.get("type") if isinstance(config, dict) else None
    if not isinstance(kind, str):
        advice = f"The OpenLineage transport names no `type`; give it one, for example {_TRANSPORT_EXAMPLE}."
        return Finding("transport", "no type", "problem", advice)
    needed = _NEEDS.get(kind)
    if needed and not config.get(needed):
        advice = f"The OpenLineage transport `{kind}` needs `{needed}`; add it."
        return Finding("transport", kind, "problem", advice)
    if kind == "noop":
        advice = "The OpenLineage transport `noop` throws every event away; choose another type."
        return Finding("transport", kind, "problem", advice)
    if kind == "console":
        advice = "Events only go to the task's log; choose another transport to keep them."
        return Finding("transport", kind, "note", advice)
    if kind == "composite":
        members = config["transports"]
        members = list(members.values()) if isinstance(members, dict) else members
        return Finding("transport", "composite of " + ", ".join(_address(member) for member in members))
    return Finding("transport", _address(config))


def _address(config: Any) -> str:
    if not isinstance(config, dict):
        return "unknown"
    kind = str(config.get("type", "unknown"))
    target = str(config.get(_NEEDS.get(kind, ""), ""))
    if kind == "composite" or not target:
        return kind
    return f"{kind} to {without_credentials(target)}"


def without_credentials(address: str) -> str:
    """Remove user, password, query and fragment from an address: each may be a secret."""
    if "://" not in address:
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


# ---- How events are made -------------------------------------------------------------------------


def _execution(options: Any) -> Iterator[Finding]:
    seconds = options.execution_timeout()
    # Providers before the option only know the forked child.
    in_thread = getattr(options, "execute_in_thread", lambda: False)()
    value = f"{'thread' if in_thread else 'forked child'}, given up after {seconds} s"
    if seconds < 1:
        advice = "`[openlineage] execution_timeout` leaves no time to send an event; set it to 10 or more."
        yield Finding("execution", value, "problem", advice)
    else:
        yield Finding("execution", value)


def _namespace(options: Any) -> Iterator[Finding]:
    namespace = options.namespace()
    if namespace == "default":
        advice = (
            "All jobs land in the namespace `default`; set `[openlineage] namespace` to tell Airflows apart."
        )
        yield Finding("namespace", namespace, "note", advice)
    else:
        yield Finding("namespace", namespace)


def _switches(options: Any) -> Iterator[Finding]:
    """Look for the options that silence single operators or DAGs."""
    silenced = sorted(name for name in options.disabled_operators() if _is_spark_task(name))
    if silenced:
        advice = f"`[openlineage] disabled_for_operators` silences {', '.join(silenced)}; take it out."
        yield Finding("disabled_for_operators", ", ".join(silenced), "problem", advice)
    if options.selective_enable():
        advice = (
            "`[openlineage] selective_enable` is on: only DAGs and tasks that call `enable_lineage` emit."
        )
        yield Finding("selective_enable", "True", "note", advice)


def _is_spark_task(operator: str) -> bool:
    return operator.startswith((f"{PACKAGE}.", "airflow.providers.apache.spark."))


# ---- Our own options -----------------------------------------------------------------------------


class _Keep(logging.Handler):
    """Collects the warnings about bad values, so that they become part of the report."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _own_options(options: Any) -> Iterator[Finding]:
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.get_provider_info import get_provider_info

    keep = _Keep()
    conf.log.addHandler(keep)
    for name in get_provider_info()["config"]["spark_lineage"]["options"]:
        getattr(conf, name)()
    conf.log.removeHandler(keep)
    for line in keep.lines:
        yield Finding("option", line.split(" = ")[0], "problem", line)
    if conf.disabled():
        advice = "This package is switched off by `[spark_lineage] disabled`; set it to False."
        yield Finding("disabled", "True", "problem", advice)
    yield from _own_extractors(sorted(options.custom_extractors()), auto_capture=conf.auto_capture())


def _own_extractors(named: list[str], *, auto_capture: bool) -> Iterator[Finding]:
    """Check that extractors are not alone: auto-capture needs none."""
    ours = [name for name in named if name.startswith(f"{PACKAGE}.")]
    for name in ours:
        module, _, attribute = name.rpartition(".")
        try:
            getattr(importlib.import_module(module), attribute)
        except Exception as error:
            advice = f"`[openlineage] extractors` names {name}, which cannot be imported: {_reason(error)}."
            yield Finding("extractor", name, "problem", advice)
    value = f"{'on' if auto_capture else 'off'}, {'with' if ours else 'no'} extractors of ours"
    if ours and not auto_capture:
        advice = (
            "`[openlineage] extractors` names ours, but without auto-capture they know only the texts of "
            "jobs; set `[spark_lineage] auto_capture` to True."
        )
        yield Finding("auto_capture", value, "problem", advice)
    else:
        yield Finding("auto_capture", value)
