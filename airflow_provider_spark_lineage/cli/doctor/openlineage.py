"""The doctor's checks of OpenLineage's provider: its plugin, and the options that decide about events."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

from airflow_provider_spark_lineage.airflow.task.run_facets import unknown_functions
from airflow_provider_spark_lineage.cli.doctor.model import PACKAGE, Finding, Installation, note, problem

TRANSPORT_EXAMPLE = """AIRFLOW__OPENLINEAGE__TRANSPORT='{"type": "http", "url": "http://localhost:5000"}'"""

_DECIDING = {
    "config_conn_id": "[openlineage] config_conn_id",
    "config_path_option": "[openlineage] config_path",
    "transport": "[openlineage] transport",
}
"""Option in the provider's order of precedence -> how to write it."""

_SPARK = "airflow.providers.apache.spark."
_CONTROLS = ("emit", "emit_task_events", "extract_operator_metadata")
"""Controls of `[openlineage] emission_policy` without which a task has no lineage."""


def readable(installation: Installation) -> Iterator[Finding]:
    """Check that the provider and its options can be read."""
    if installation.airflow.error:
        advice = f"Airflow raises {installation.airflow.error}; fix that first."
        yield problem("openlineage-unreadable", "openlineage", "cannot be read", advice)
    for name, error in installation.airflow.unreadable.items():
        if name == "transport":
            # Without the message: it may quote the transport, which may hold an API key.
            advice = (
                f"`[openlineage] transport` is not a JSON object ({error}); correct it, in `airflow.cfg` "
                f"without quotes around it, for example to {TRANSPORT_EXAMPLE}."
            )
            yield problem("transport-unreadable", "openlineage", "cannot be read", advice)
        else:
            advice = f"`[openlineage] {name}`: Airflow raises {error}; correct that option."
            yield problem("option-unreadable", name, "cannot be read", advice)


def activity(installation: Installation) -> Iterator[Finding]:
    """Check that OpenLineage emits, and name the setting that decides that."""
    options = installation.airflow.options
    if options.get("is_disabled") is False:
        deciding = (text for name, text in _DECIDING.items() if options.get(name))
        setting = next(deciding, "a setting of OpenLineage's client")
        yield Finding("openlineage", f"active, decided by {setting}")
    elif options.get("disabled") is True:
        yield _off("`[openlineage] disabled`", "set it to False")
    elif options.get("is_disabled") is True and os.environ.get("OPENLINEAGE_DISABLED"):
        yield _off("the environment variable OPENLINEAGE_DISABLED", "unset it")
    elif options.get("is_disabled") is True:
        advice = (
            "OpenLineage has no transport, so Airflow emits nothing: set `[openlineage] transport`, for "
            f"example {TRANSPORT_EXAMPLE}."
        )
        yield problem("transport-missing", "openlineage", "inactive: no transport", advice)


def _off(switch: str, cure: str) -> Finding:
    advice = f"OpenLineage is switched off by {switch}; {cure}."
    return problem("openlineage-off", "openlineage", f"inactive: {switch}", advice)


def listener(installation: Installation) -> Iterator[Finding]:
    """Check that Airflow has the provider's listener after it loaded its plugins."""
    plugins = installation.airflow.plugins
    reason = plugins.error or plugins.listener_error
    # `extractor-breaks-plugin` reports which extractor stops the plugin.
    if any(each.error and not each.is_import_error and each.error in reason for each in plugins.extractors):
        return
    if plugins.error:
        advice = (
            f"Airflow's plugins cannot be loaded, so OpenLineage's is not checked: {plugins.error}; run "
            "`airflow plugins`, and fix the plugin or extractor at which it stops."
        )
        yield problem("listener-unknown", "listener", "unknown", advice)
    elif plugins.listener_error:
        advice = (
            f"OpenLineage's plugin does not load, so nothing is emitted: {plugins.listener_error}; fix or "
            "remove the cause, for example in `[openlineage] extractors`, or run "
            "`pip install --force-reinstall apache-airflow-providers-openlineage`."
        )
        yield problem("listener-missing", "listener", "missing", advice)
    elif installation.airflow.is_active:
        yield Finding("listener", "registered")


def other_plugins(installation: Installation) -> Iterator[Finding]:
    """Report other plugins of Airflow that do not load; this package's plugin may be one of them."""
    for source, text in installation.airflow.plugins.errors.items():
        advice = (
            f"Airflow's plugin {source} does not load ({text}); fix it, or remove it from `plugins_folder`."
        )
        yield note("plugin-broken", "plugins", source, advice)


def execution(installation: Installation) -> Iterator[Finding]:
    """Check the time limit for an event, and whether a thread or a forked child emits it."""
    options = installation.airflow.options
    seconds = options.get("execution_timeout")
    if seconds is None:
        return
    # Providers without the option always fork a child.
    process = "thread" if options.get("execute_in_thread") else "forked child"
    value = f"{process}, given up after {seconds} s"
    if seconds < 1:
        advice = "`[openlineage] execution_timeout` leaves no time to send an event; set it to 10 or more."
        yield problem("execution-timeout", "execution", value, advice)
    else:
        yield Finding("execution", value)


def unknown_options(installation: Installation) -> Iterator[Finding]:
    """Look for options that this provider does not have: misspelled, or from another release."""
    known = installation.airflow.known_options
    for name in sorted(set(installation.airflow.texts) - known) if known else ():
        nearest = difflib.get_close_matches(name, known, n=1)
        cure = f"set `{nearest[0]}`" if nearest else "remove it, or upgrade the provider"
        advice = f"This provider has no option `[openlineage] {name}`; {cure}."
        yield note("option-unknown", name, "unknown option", advice)


def separators(installation: Installation) -> Iterator[Finding]:
    """Look for lists that are not separated by semicolons."""
    for name in ("extractors", "disabled_for_operators", "custom_run_facets"):
        entries = [entry.strip() for entry in installation.airflow.texts.get(name, "").split(";")]
        for wrong in [entry for entry in entries if is_several_names(entry)][:1]:
            names = [part for entry in entries for part in entry.replace(",", " ").split()]
            advice = (
                f"`[openlineage] {name}` is separated by semicolons only, so `{wrong}` is read as one "
                f"name; write `{';'.join(names)}`."
            )
            yield problem("list-separator", name, "one name", advice)


def run_facets(installation: Installation) -> Iterator[Finding]:
    """Look for functions of this package that it does not have."""
    for entry, advice in unknown_functions(installation.airflow.texts.get("custom_run_facets", "")):
        if not is_several_names(entry):
            yield problem("run-facet-unknown", "custom_run_facets", entry, advice)


def is_several_names(entry: str) -> bool:
    """Return whether an entry of a list has a wrong separator in it."""
    return len(entry.replace(",", " , ").split()) > 1


def namespace(installation: Installation) -> Iterator[Finding]:
    """Report the namespace of all jobs, and what does not set it."""
    name = installation.airflow.options.get("namespace")
    variable = os.environ.get("OPENLINEAGE_NAMESPACE", "")
    if name is not None and not name.strip():
        advice = (
            "The namespace of all jobs is empty, which backends refuse; set `[openlineage] namespace`, and "
            "unset the environment variable OPENLINEAGE_NAMESPACE."
        )
        yield problem("namespace-empty", "namespace", "empty", advice)
    elif name:
        yield Finding("namespace", name)
    if variable and name and variable != name:
        advice = (
            f"The environment variable OPENLINEAGE_NAMESPACE ({variable}) has no effect on Airflow's events, "
            "because `[openlineage] namespace` is set; remove one of them."
        )
        yield note("namespace-ignored", "namespace", f"{variable} ignored", advice)


def disabled_operators(installation: Installation) -> Iterator[Finding]:
    """Look for Spark operators that are turned off, and for names that turn nothing off."""
    names = sorted(installation.airflow.options.get("disabled_operators", ()))
    silenced = ", ".join(name for name in names if name.startswith((f"{PACKAGE}.", _SPARK)))
    if silenced:
        advice = f"`[openlineage] disabled_for_operators` turns off {silenced}; remove it from the option."
        yield problem("operators-off", "disabled_for_operators", silenced, advice)
    bare = ", ".join(name for name in names if name.isidentifier())
    if bare:
        advice = (
            f"`[openlineage] disabled_for_operators` names {bare} without the module, so it has no effect; "
            f"write modules too, for example `{_SPARK}operators.spark_submit.SparkSubmitOperator`."
        )
        yield note("operators-bare-name", "disabled_for_operators", bare, advice)


def selective_enable(installation: Installation) -> Iterator[Finding]:
    """Report that only some DAGs and tasks emit."""
    if installation.airflow.options.get("selective_enable") is True:
        advice = (
            "`[openlineage] selective_enable` is on: only DAGs and tasks that call `enable_lineage` emit."
        )
        yield note("selective-enable", "selective_enable", "True", advice)


def emission_policy(installation: Installation) -> Iterator[Finding]:
    """Look for rules that suppress events of tasks, or their lineage."""
    for rule in installation.airflow.options.get("emission_policy", ()):
        controls = rule.get("controls") or {}
        for control in [name for name in _CONTROLS if controls.get(name) is False][:1]:
            scope = ", ".join(f"{name} {value}" for name, value in (rule.get("scope") or {}).items())
            advice = (
                f"`[openlineage] emission_policy` sets `{control}` to false for {scope or 'all tasks'}, so "
                "their lineage is not sent; set it to true if that is not intended."
            )
            yield note("emission-policy", "emission_policy", control, advice)
