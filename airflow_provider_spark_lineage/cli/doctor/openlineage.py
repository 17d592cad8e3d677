"""The doctor's checks of OpenLineage's provider: its plugin, and the options that decide about events."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

from airflow_provider_spark_lineage.cli.doctor.finding import Finding, mistake
from airflow_provider_spark_lineage.cli.doctor.found import Airflow, Found, Unreadable
from airflow_provider_spark_lineage.cli.doctor.transport import TRANSPORT_EXAMPLE

PACKAGE = "airflow_provider_spark_lineage"

_CONTROLS = ("emit", "emit_task_events", "extract_operator_metadata")
"""Controls of `[openlineage] emission_policy` without which a task has no lineage."""

_SPARK = "airflow.providers.apache.spark"
_STANDARD = "airflow.providers.standard"
_MODULES: Mapping[str, str] = {
    "PySparkOperator": f"{_SPARK}.operators.spark_pyspark",
    "SparkJDBCOperator": f"{_SPARK}.operators.spark_jdbc",
    "SparkPipelinesOperator": f"{_SPARK}.operators.spark_pipelines",
    "SparkSqlOperator": f"{_SPARK}.operators.spark_sql",
    "SparkSubmitOperator": f"{_SPARK}.operators.spark_submit",
    "_PySparkDecoratedOperator": f"{_SPARK}.decorators.pyspark",
    "BashOperator": f"{_STANDARD}.operators.bash",
    "PythonOperator": f"{_STANDARD}.operators.python",
    "_PythonDecoratedOperator": f"{_STANDARD}.decorators.python",
}
"""Class name of an operator that users may write without its module -> the module."""


def readable(found: Found) -> Iterator[Finding]:
    """Check that the provider can be imported."""
    error = found.airflow.error if found.airflow else None
    if error is not None:
        yield mistake(
            "openlineage-unreadable", "openlineage", "cannot be read", f"{_raises(error)}; fix that first."
        )


def activity(found: Found) -> Iterator[Finding]:
    """Check whether OpenLineage emits, and which setting decides that, as the provider's `is_disabled`."""
    airflow = found.readable
    if airflow is None:
        return
    inactive = airflow.options.get("is_disabled")
    switch = airflow.options.get("disabled_option")
    if isinstance(inactive, Unreadable) and isinstance(switch, Unreadable):
        if not _is_quoted(airflow.texts.get("disabled", "")):  # `quoted` reports it.
            advice = f"`[openlineage] disabled`: {_raises(switch)}; correct that option."
            yield mistake("option-unreadable", "openlineage", "cannot be read", advice)
    elif isinstance(inactive, Unreadable):
        # The message may quote the transport, and the transport may hold an API key.
        advice = (
            f"`[openlineage] transport` is not a JSON object ({inactive.error}); correct it, for example to "
            f"{TRANSPORT_EXAMPLE}."
        )
        if _is_quoted(airflow.texts.get("transport", "")):
            advice = (
                "`[openlineage] transport` is not a JSON object, because the quotes around it are part of "
                "its value; remove the quotes."
            )
        yield mistake("transport-unreadable", "openlineage", "cannot be read", advice)
    elif not inactive:
        yield Finding("openlineage", f"active, decided by {_decided_by(airflow, found.environment)}")
    elif switch is True:
        yield _off("`[openlineage] disabled`", "set it to False")
    elif found.environment.get("OPENLINEAGE_DISABLED"):
        yield _off("the environment variable OPENLINEAGE_DISABLED", "unset it")
    else:
        advice = (
            "OpenLineage has no transport, so Airflow emits nothing: set `[openlineage] transport`, for "
            f"example {TRANSPORT_EXAMPLE}."
        )
        yield mistake("transport-missing", "openlineage", "inactive: no transport", advice)


def _off(switch: str, cure: str) -> Finding:
    advice = f"OpenLineage is switched off by {switch}; {cure}."
    return mistake("openlineage-off", "openlineage", f"inactive: {switch}", advice)


def _decided_by(airflow: Airflow, environment: Mapping[str, str]) -> str:
    """Return the setting that the provider's adapter uses, in its order of precedence."""
    if connection := airflow.options.get("config_conn_id"):
        return f"connection `{connection}` ([openlineage] config_conn_id)"
    if airflow.options.get("config_path_option"):
        return "[openlineage] config_path"
    if airflow.options.get("transport"):
        return "[openlineage] transport"
    if airflow.options.get("config_path"):
        return "OPENLINEAGE_CONFIG"
    return "OPENLINEAGE_URL" if environment.get("OPENLINEAGE_URL") else "OPENLINEAGE__TRANSPORT*"


def listener(found: Found) -> Iterator[Finding]:
    """Check that Airflow has the provider's listener after it loaded its plugins."""
    if not found.is_active:
        return
    plugins = found.plugins
    reason = plugins.error or plugins.listener_error
    # `extractor-breaks-plugin` reports which extractor stops the plugin.
    if any(each.error and not each.is_import_error and each.error in reason for each in plugins.extractors):
        return
    if plugins.error:
        advice = (
            f"Airflow's plugins cannot be loaded, so OpenLineage's is not checked: {plugins.error}; run "
            "`airflow plugins`, and fix the plugin or extractor at which it stops."
        )
        yield mistake("listener-unknown", "listener", "unknown", advice)
    elif plugins.listener_error:
        advice = (
            "OpenLineage's plugin does not load, so nothing is emitted: Airflow raises "
            f"{plugins.listener_error}; fix or remove the cause, for example in `[openlineage] extractors`."
        )
        yield mistake("listener-missing", "listener", "missing", advice)
    elif not plugins.has_listener:
        advice = (
            "Airflow does not load OpenLineage's plugin; reinstall it with "
            "`pip install --force-reinstall apache-airflow-providers-openlineage`."
        )
        yield mistake("listener-missing", "listener", "missing", advice)
    else:
        yield Finding("listener", "registered")


def other_plugins(found: Found) -> Iterator[Finding]:
    """Report other plugins of Airflow that do not load; this package's plugin may be one of them."""
    for source, text in found.plugins.errors.items():
        advice = (
            f"Airflow's plugin {source} does not load ({text}); fix it, or remove it from `plugins_folder`."
        )
        yield mistake("plugin-broken", "plugins", source, advice)


# ---- How events are made -------------------------------------------------------------------------


def execution(found: Found) -> Iterator[Finding]:
    """Check the time limit for an event, and whether a thread or a forked child emits it."""
    airflow = found.readable
    seconds = airflow.options.get("execution_timeout") if airflow else None
    if airflow is None or isinstance(seconds, Unreadable) or seconds is None:
        return
    # Providers without the option always fork a child.
    in_thread = airflow.options.get("execute_in_thread") is True
    value = f"{'thread' if in_thread else 'forked child'}, given up after {seconds} s"
    if seconds < 1:
        advice = "`[openlineage] execution_timeout` leaves no time to send an event; set it to 10 or more."
        yield mistake("execution-timeout", "execution", value, advice)
    else:
        yield Finding("execution", value)


def unreadable(found: Found) -> Iterator[Finding]:
    """Report options that Airflow cannot parse."""
    airflow = found.readable
    if airflow is None:
        return
    for name, value in airflow.options.items():
        is_reported = name in ("is_disabled", "transport", "disabled_option")
        # If the cause is the quotes around the value, `quoted` reports it.
        if isinstance(value, Unreadable) and not (is_reported or _is_quoted(airflow.texts.get(name, ""))):
            topic = {"execution_timeout": "execution"}.get(name, name)
            advice = f"`[openlineage] {name}`: {_raises(value)}; correct that option."
            yield mistake("option-unreadable", topic, "cannot be read", advice)


def quoted(found: Found) -> Iterator[Finding]:
    """Look for values in quotes, which Airflow's configuration treats as part of the value."""
    airflow = found.readable
    if airflow is None:
        return
    for name, text in airflow.texts.items():
        # A transport in quotes cannot be read: `activity` reports it.
        is_reported = name == "transport" and isinstance(airflow.options.get("is_disabled"), Unreadable)
        if _is_quoted(text) and not is_reported:
            advice = f"`[openlineage] {name}` is in quotes, which are part of its value; remove the quotes."
            yield mistake("option-quoted", name, "in quotes", advice)


def unknown_options(found: Found) -> Iterator[Finding]:
    """Look for options that this provider does not have: misspelled, or from another release."""
    airflow = found.readable
    if airflow is None or not airflow.known_options:
        return
    for name in sorted(set(airflow.texts) - airflow.known_options):
        nearest = difflib.get_close_matches(name, airflow.known_options, n=1)
        cure = f"set `{nearest[0]}`" if nearest else "remove it, or upgrade the provider"
        advice = f"This provider has no option `[openlineage] {name}`; {cure}."
        yield mistake("option-unknown", name, "unknown option", advice)


def separators(found: Found) -> Iterator[Finding]:
    """Look for lists that are not separated by semicolons."""
    airflow = found.readable
    for name in ("extractors", "disabled_for_operators", "custom_run_facets"):
        text = (airflow.texts if airflow else {}).get(name, "")
        if name == "extractors" and not text:
            text = found.environment.get("OPENLINEAGE_EXTRACTORS", "")
        entries = [entry.strip().strip("'\"") for entry in text.split(";")]
        wrong = next((entry for entry in entries if "," in entry or len(entry.split()) > 1), None)
        if wrong is not None:
            names = [part for entry in entries for part in entry.replace(",", " ").split()]
            advice = (
                f"`[openlineage] {name}` is separated by semicolons only, so `{wrong}` is read as one "
                f"name; write `{';'.join(names)}`."
            )
            yield mistake("list-separator", name, "one name", advice)


def namespace(found: Found) -> Iterator[Finding]:
    """Report the namespace of all jobs."""
    airflow = found.readable
    name = airflow.options.get("namespace") if airflow else None
    if not isinstance(name, str):
        return
    if name == "default":
        advice = (
            "All jobs are in the namespace `default`; set `[openlineage] namespace` if several Airflow "
            "deployments share a backend."
        )
        yield mistake("namespace-default", "namespace", name, advice)
    else:
        yield Finding("namespace", name)


def switches(found: Found) -> Iterator[Finding]:
    """Look for options that turn off single operators or DAGs."""
    airflow = found.readable
    options = airflow.options if airflow else {}
    named = options.get("disabled_operators")
    silenced = sorted(name for name in named if _is_spark_task(name)) if isinstance(named, set) else []
    if silenced:
        names = ", ".join(silenced)
        advice = f"`[openlineage] disabled_for_operators` turns off {names}; remove it from the option."
        yield mistake("operators-off", "disabled_for_operators", names, advice)
    # An entry with a comma or a space is several names: `list-separator` reports it.
    bare = sorted(name for name in named if name.isidentifier()) if isinstance(named, set) else []
    if bare:
        right = ";".join(f"{_MODULES.get(name, '<module>')}.{name}" for name in bare)
        advice = (
            f"`[openlineage] disabled_for_operators` names {', '.join(bare)} without the module, so it has "
            f"no effect; write `{right}`."
        )
        yield mistake("operators-bare-name", "disabled_for_operators", ", ".join(bare), advice)
    if options.get("selective_enable") is True:
        advice = (
            "`[openlineage] selective_enable` is on: only DAGs and tasks that call `enable_lineage` emit."
        )
        yield mistake("selective-enable", "selective_enable", "True", advice)


def emission_policy(found: Found) -> Iterator[Finding]:
    """Look for rules that suppress events of tasks, or their lineage."""
    airflow = found.readable
    rules = airflow.options.get("emission_policy") if airflow else None
    for rule in rules if isinstance(rules, list) else []:
        controls = rule.get("controls") if isinstance(rule, dict) else None
        off = [name for name in _CONTROLS if isinstance(controls, dict) and controls.get(name) is False]
        if off:
            scope = ", ".join(f"{name} {value}" for name, value in (rule.get("scope") or {}).items())
            advice = (
                f"`[openlineage] emission_policy` sets `{off[0]}` to false for {scope or 'all tasks'}, so "
                "their lineage is not sent; set it to true if that is not intended."
            )
            yield mistake("emission-policy", "emission_policy", off[0], advice)


def _is_spark_task(operator: str) -> bool:
    return operator.startswith((f"{PACKAGE}.", "airflow.providers.apache.spark."))


def _is_quoted(text: str) -> bool:
    return re.fullmatch(r"\s*(['\"]).*\1\s*", text, re.DOTALL) is not None


def _raises(error: Unreadable) -> str:
    return f"Airflow raises {error.error}" + (f": {error.reason}" if error.reason else "")
