"""The doctor's check of settings from old guides, with their current names."""

from __future__ import annotations

from collections.abc import Iterator

from airflow_provider_spark_lineage.cli.doctor.finding import Finding, mistake
from airflow_provider_spark_lineage.cli.doctor.found import Found

_URL = '`url` in `[openlineage] transport = {"type": "http", "url": "..."}`'
_KEY = '`auth` in `[openlineage] transport`: `"auth": {"type": "api_key", "apiKey": "..."}`'

VARIABLES = {
    "OPENLINEAGE_EXTRACTORS": "`[openlineage] extractors`",
    "OPENLINEAGE_DISABLED": "`[openlineage] disabled`",
    "OPENLINEAGE_NAMESPACE": "`[openlineage] namespace`",
    "OPENLINEAGE_CONFIG": "`[openlineage] config_path`",
    "OPENLINEAGE_AIRFLOW_DISABLE_SOURCE_CODE": "`[openlineage] disable_source_code`",
    "OPENLINEAGE_URL": _URL,
    "OPENLINEAGE_ENDPOINT": '`endpoint` in `[openlineage] transport = {"type": "http", "url": "..."}`',
    "OPENLINEAGE_API_KEY": _KEY,
    "MARQUEZ_URL": _URL,
    "MARQUEZ_NAMESPACE": "`[openlineage] namespace`",
    "MARQUEZ_API_KEY": _KEY,
}
"""Environment variable -> current setting. The provider still reads the OPENLINEAGE_ variables."""

_OPTION = {
    "OPENLINEAGE_EXTRACTORS": "extractors",
    "OPENLINEAGE_NAMESPACE": "namespace",
    "OPENLINEAGE_CONFIG": "config_path",
    "OPENLINEAGE_URL": "transport",
    "OPENLINEAGE_API_KEY": "transport",
    "OPENLINEAGE_ENDPOINT": "transport",
}
"""Environment variable -> the option that takes precedence over it."""

_PREFIX = "OPENLINEAGE_EXTRACTOR_"
_BACKENDS = ("openlineage.", "marquez")


def variables(found: Found) -> Iterator[Finding]:
    """Look for environment variables that became options of Airflow."""
    airflow = found.readable
    texts = airflow.texts if airflow else {}
    for name, today in VARIABLES.items():
        if not found.environment.get(name):
            continue
        if name == "OPENLINEAGE_DISABLED" and airflow and airflow.options.get("is_disabled") is True:
            continue  # `openlineage-off` reports it.
        option = _OPTION.get(name, "")
        is_ignored = bool(texts.get(option)) or name.startswith("MARQUEZ")
        what = "is ignored" if is_ignored else "is an old form"
        because = f", because `[openlineage] {option}` is set" if texts.get(option) else ""
        advice = f"The environment variable {name} {what}{because}; set {today} instead."
        yield mistake("legacy-variable", name, "set", advice)


def extractor_variables(found: Found) -> Iterator[Finding]:
    """Look for `OPENLINEAGE_EXTRACTOR_<Operator>`, which the provider does not read."""
    paths = {
        name: found.environment[name]
        for name in sorted(found.environment)
        if name.startswith(_PREFIX) and found.environment[name]
    }
    airflow = found.readable
    now = airflow.options.get("custom_extractors") if airflow else None
    others = sorted(now) if isinstance(now, set) else []
    for name, path in paths.items():
        entries = ";".join(dict.fromkeys([*others, *paths.values()]))
        advice = (
            f"The environment variable {name} is not read any more, so {path} is not used; set "
            f"`[openlineage] extractors = {entries}`, and return `{name.removeprefix(_PREFIX)}` from its "
            "`get_operator_classnames`."
        )
        yield mistake("legacy-extractor-variable", name, path, advice)


def backend(found: Found) -> Iterator[Finding]:
    """Look for the lineage backend of Airflow 2, which Airflow 3 does not have."""
    airflow = found.readable
    if airflow is not None and airflow.lineage_backend.startswith(_BACKENDS):
        advice = (
            f"`[lineage] backend` = {airflow.lineage_backend} has no effect in Airflow 3; remove it: "
            "apache-airflow-providers-openlineage needs `[openlineage] transport` alone."
        )
        yield mistake("legacy-backend", "backend", airflow.lineage_backend, advice)
