"""Collects the input of the doctor's checks: installed packages, then Airflow's options and plugins.

It changes nothing, sends nothing, and never raises: an option whose reading raises becomes a finding.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any

import yaml

from airflow_provider_spark_lineage.cli.doctor.look_transport import unbuildable, unreachable
from airflow_provider_spark_lineage.cli.doctor.model import Airflow, Finding, Installation, problem
from airflow_provider_spark_lineage.cli.doctor.packages import NEEDED
from airflow_provider_spark_lineage.cli.doctor.probe import probed, reason
from airflow_provider_spark_lineage.cli.doctor.transport import mistakes_of
from airflow_provider_spark_lineage.get_provider_info import OPTIONS


def look(progress: Callable[[str], object]) -> Installation:
    """Look at this machine, and at Airflow if it is installed with OpenLineage's provider.

    `progress` is called with the name of each step.
    """
    progress("packages")
    installation = look_at_packages()
    if not {"apache-airflow", "apache-airflow-providers-openlineage"} <= set(installation.distributions):
        return installation
    return replace(installation, airflow=_look_at_airflow(progress))


def look_at_packages() -> Installation:
    """Look at the installed packages; of two versions of one, Python imports the first."""
    versions: dict[str, str] = {}
    for distribution in metadata.distributions():
        try:
            name, version = distribution.metadata["Name"], distribution.version
        except Exception:  # noqa: S112  a folder that pip removed only in part is not a package
            continue
        if name and version:
            versions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    return Installation(
        distributions=versions,
        requirements={name: metadata.requires(name) or () for name in NEEDED if name in versions},
        pyspark_folder=_pyspark_folder(),
        has_viewer=bool(metadata.entry_points(group="airflow.plugins", name="spark_lineage_viewer")),
    )


def _pyspark_folder() -> Path | None:
    """Return the folder of PySpark without importing it."""
    try:
        spec = importlib.util.find_spec("pyspark")
    except (ValueError, ImportError):
        return None
    return Path(spec.origin).parent if spec and spec.origin else None


_FUNCTIONS = """
is_disabled config_conn_id transport custom_extractors disabled_operators selective_enable namespace
execution_timeout execute_in_thread emission_policy
""".split()
"""Functions of the provider's `conf` that take no argument; earlier releases do not have all of them."""


def _look_at_airflow(progress: Callable[[str], object]) -> Airflow:
    """Return the options of Airflow and of the provider, and the state of a process that loads plugins."""
    progress("the options of Airflow")
    try:
        functions = importlib.import_module("airflow.providers.openlineage.conf")
    except BaseException as error:  # A broken airflow.cfg or provider may raise anything, SystemExit too.
        return Airflow(error=reason(error))
    options, unreadable = _options(functions)
    texts, own_texts = _texts("openlineage"), _texts("spark_lineage")
    own_values, own_warnings = _own_values()
    transport: Any = None
    findings: list[Finding] = []
    is_active = options.get("is_disabled") is False
    if is_active and not options.get("config_conn_id"):
        progress("where events go")
        try:
            transport = _transport(options)
            findings = [*mistakes_of(transport), *unbuildable(transport), *unreachable(transport)]
        except Exception as error:
            file = options.get("config_path_option") or "of OpenLineage's client"
            advice = f"The configuration {file} cannot be read ({type(error).__name__}); correct it."
            findings = [problem("transport-unreadable", "transport", "unknown", advice)]
    progress("the plugins of Airflow")
    plugins = probed(
        extractors=sorted(options.get("custom_extractors", ())),
        operators=sorted(own_values.get("extra_operators", ())),
        is_active=is_active,
    )
    return Airflow(
        options=options,
        unreadable=unreadable,
        texts=texts,
        known_options=_known_options(),
        own_texts=own_texts,
        own_values=own_values,
        own_warnings=own_warnings,
        store_error=_store_error(own_values["store"]),
        auth_manager=_auth_manager(),
        transport=transport,
        transport_findings=findings,
        plugins=plugins,
    )


def _options(functions: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of the provider's options, and the exceptions of options that cannot be read."""
    from airflow.providers.common.compat.sdk import conf

    calls = {name: getattr(functions, name) for name in _FUNCTIONS if hasattr(functions, name)}
    # Without the variable OPENLINEAGE_CONFIG: the provider prefers the option, then the transport.
    calls["config_path_option"] = lambda: functions.config_path(check_legacy_env_var=False)
    calls["disabled"] = lambda: conf.getboolean("openlineage", "disabled", fallback="False")
    options, unreadable = {}, {}
    for name, call in calls.items():
        try:
            options[name] = call()
        except BaseException as error:  # Each option may raise its own class of error.
            # The message of `transport` quotes it, and it may hold an API key.
            unreadable[name] = type(error).__name__ if name == "transport" else reason(error)
    # It reads the others, which are reported by their own names.
    unreadable.pop("is_disabled", None)
    return options, unreadable


def _texts(section: str) -> dict[str, str]:
    """Return the options of a section that a file or the environment sets, known or not."""
    from airflow.providers.common.compat.sdk import conf

    prefix = f"AIRFLOW__{section.upper()}__"
    names = {name.removeprefix(prefix).lower() for name in os.environ if name.startswith(prefix)}
    names = {name.removesuffix("_cmd").removesuffix("_secret") for name in names}
    # A section with a broken entry still has those in the environment.
    with contextlib.suppress(BaseException):
        names |= {str(name).lower() for name in conf.getsection(section) or {}}
    texts = {}
    for name in sorted(names):
        # An option that cannot be read is in `unreadable`.
        with contextlib.suppress(BaseException):
            texts[name] = str(conf.get(section, name, fallback="") or "")
    return {name: text for name, text in texts.items() if text}


def _known_options() -> frozenset[str]:
    try:
        module = importlib.import_module("airflow.providers.openlineage.get_provider_info")
        return frozenset(module.get_provider_info()["config"]["openlineage"]["options"])
    except Exception:  # A provider whose import raises is a separate finding.
        return frozenset()


def _own_values() -> tuple[dict[str, Any], list[str]]:
    """Return this package's options, and the warnings of `conf` about values that it cannot use."""
    from airflow_provider_spark_lineage.airflow import conf

    # Each message is logged once in a process.
    conf._warn.cache_clear()
    handler = BufferingHandler(capacity=1000)
    conf.log.addHandler(handler)
    try:
        values = {name: getattr(conf, name)() for name in OPTIONS}
        return values, [record.getMessage() for record in handler.buffer]
    finally:
        conf.log.removeHandler(handler)


def _store_error(place: str) -> str:
    """Return why the file system of a URI cannot be used; nothing is read or written there."""
    if place in ("xcom", "none"):
        return ""
    try:
        from airflow.providers.common.compat.sdk import ObjectStoragePath

        ObjectStoragePath(place).fs  # noqa: B018  looks for the provider and the connection
    except BaseException as error:  # Code of any provider.
        return reason(error)
    return ""


def _auth_manager() -> str:
    from airflow.providers.common.compat.sdk import conf

    try:
        return str(conf.get("core", "auth_manager", fallback="") or "")
    except Exception:  # A `_cmd` that fails is Airflow's to report.
        return ""


def _transport(options: dict[str, Any]) -> Any:
    """Return the configuration of the transport that the provider's adapter would use."""
    if path := options.get("config_path_option"):
        return yaml.safe_load(Path(path).read_text(encoding="utf-8")).get("transport")
    if options.get("transport"):
        return options["transport"]
    from openlineage.client import OpenLineageClient
    from openlineage.client.transport.noop import NoopConfig, NoopTransport

    # The client reads its own file and variables; with a transport of ours it creates no other.
    config = OpenLineageClient(transport=NoopTransport(NoopConfig())).config.transport
    url = os.environ.get("OPENLINEAGE_URL")
    return {"type": "http", "url": url} if url and not (config or {}).get("type") else config
