"""The doctor's checks of `[openlineage] extractors`: their import, their interface, their operators."""

from __future__ import annotations

from collections.abc import Iterator

from airflow_provider_spark_lineage.cli.doctor.finding import Finding, mistake
from airflow_provider_spark_lineage.cli.doctor.found import Extractor, Found
from airflow_provider_spark_lineage.known_operators import DRIVERS, PYTHON
from airflow_provider_spark_lineage.launch.table import LAUNCHERS

PACKAGE = "airflow_provider_spark_lineage"
_BUILT_IN = ("PythonOperator", "_PythonDecoratedOperator", "BashOperator")
"""Operators for which the provider has extractors of its own."""

_SETTING = "`[openlineage] extractors`"
_CIRCULAR = ("partially initialized", "circular import")
"""Parts of Python's messages about a circular import."""

_ADVICE = {
    "extractor-import": (
        "`[openlineage] extractors` names {path}, which cannot be imported ({reason}) and is ignored; "
        "correct the path, and keep the module in an installed package or in Airflow's `plugins_folder`: "
        "the folder of DAGs is not searched."
    ),
    "extractor-breaks-plugin": (
        "`[openlineage] extractors` names {path}, whose import raises {reason}: any exception but "
        "ImportError there disables OpenLineage's whole plugin, so that no task emits; correct the module, "
        "or take it out of that option."
    ),
    "extractor-circular": (
        "`[openlineage] extractors` names {path}, whose import is circular ({reason}), because Airflow is "
        "still loading when it imports extractors; import {imports} inside the extractor's methods."
    ),
    "extractor-airflow-import": (
        "The module of {path} imports {imports} at its top, which is circular in a process where Airflow is "
        "still loading; import it inside the methods, or under `if TYPE_CHECKING`."
    ),
    "extractor-interface": (
        "`[openlineage] extractors` names {path}, which {interface}; write a subclass of "
        "`airflow.providers.openlineage.extractors.base.BaseExtractor` with a class method "
        "`get_operator_classnames` that returns a list."
    ),
    "legacy-task-metadata": (
        "{path} uses {legacy} of the package openlineage-airflow; import `BaseExtractor` and "
        "`OperatorLineage` from `airflow.providers.openlineage.extractors.base`, and return "
        "OperatorLineage, which has no `name`, where TaskMetadata was."
    ),
}
"""Mistake of one extractor -> template of its advice."""


def _wrong(name: str, extractor: Extractor, reason: str = "") -> Finding:
    """Return the finding for a mistake of one extractor; the default reason is its exception."""
    advice = _ADVICE[name].format(
        path=extractor.path,
        reason=reason or extractor.error,
        imports=", ".join(extractor.airflow_imports) or "the modules of Airflow that it needs",
        interface=extractor.interface,
        legacy=" and ".join(extractor.legacy_names),
    )
    return mistake(name, "extractor", extractor.path, advice)


def imports(found: Found) -> Iterator[Finding]:
    """Check that each extractor can be imported, in Airflow's order too."""
    for extractor in found.plugins.extractors:
        if extractor.legacy_names:
            yield _wrong("legacy-task-metadata", extractor)
            if any(name in extractor.error for name in extractor.legacy_names):
                continue  # It cannot be imported for that reason.
        if not extractor.error:
            if not extractor.is_registered and not _is_shadowed(extractor, found):
                reason = "it was not registered when Airflow loaded its plugins"
                yield _wrong("extractor-circular", extractor, reason)
        elif any(words in extractor.error for words in _CIRCULAR):
            yield _wrong("extractor-circular", extractor)
        elif "," in extractor.path or len(extractor.path.split()) > 1:
            continue  # Several names: `list-separator` reports it.
        elif extractor.is_import_error:
            yield _wrong("extractor-import", extractor)
        else:
            yield _wrong("extractor-breaks-plugin", extractor)


def airflow_imports(found: Found) -> Iterator[Finding]:
    """Look for modules of Airflow that an extractor's file imports at its top."""
    for extractor in found.plugins.extractors:
        if extractor.airflow_imports and not extractor.error and extractor.is_registered:
            yield _wrong("extractor-airflow-import", extractor)


def interface(found: Found) -> Iterator[Finding]:
    """Check that each extractor has the interface that the provider calls."""
    for extractor in found.plugins.extractors:
        if extractor.interface:
            yield _wrong("extractor-interface", extractor)


def clashes(found: Found) -> Iterator[Finding]:
    """Look for operators with several extractors: the provider keeps one for each class name."""
    several: dict[tuple[str, ...], list[str]] = {}
    classes = {extractor.path: extractor.dotted or extractor.path for extractor in found.plugins.extractors}
    for name, extractors in _by_operator(found).items():
        paths = tuple(extractor.path for extractor in extractors)
        if len(paths) > 1:
            several.setdefault(paths, []).append(name)
        elif name in _BUILT_IN and not _is_ours(paths[0]):
            advice = (
                f"{paths[0]} replaces the provider's own extractor for `{name}`, so the source code facet "
                f"is lost; remove `{name}` from its `get_operator_classnames` if that is not intended."
            )
            yield mistake("extractor-over-built-in", "extractor", name, advice)
    for paths, names in several.items():
        if len({classes[path] for path in paths}) == 1:
            advice = (
                f"{' and '.join(paths)} are the same class, and OpenLineage warns about that in each "
                f"process; keep one of them in {_SETTING}."
            )
            yield mistake("extractor-repeated", "extractor", paths[0], advice)
            continue
        # The provider reads the option into a set, whose order differs between processes.
        advice = (
            f"{' and '.join(paths)} both claim {', '.join(f'`{name}`' for name in names)}: OpenLineage "
            "keeps one extractor for each class name, the last one registered, and the order may "
            f"change with each process (now {_winner(found, names[0])}); keep one of them in {_SETTING}."
        )
        yield mistake("extractor-twice", "extractor", ", ".join(names), advice)


def before_capture(found: Found) -> Iterator[Finding]:
    """Look for the user's extractors whose operators auto-capture therefore does not capture."""
    airflow = found.readable
    if airflow is None or airflow.own_values.get("auto_capture") is not True:
        return
    named = {dotted.rpartition(".")[2] for dotted in airflow.own_values.get("extra_operators", {})}
    for name, extractors in _by_operator(found).items():
        others = [extractor.path for extractor in extractors if not _is_ours(extractor.path)]
        launches = name in LAUNCHERS
        if others and name not in named and (launches or DRIVERS.get(name) not in (None, "", PYTHON)):
            both = (
                "" if launches else ", or name the operator in `[spark_lineage] extra_operators` to have both"
            )
            advice = (
                f"Auto-capture does not capture `{name}`, because {others[0]} is its extractor; remove that "
                f"from {_SETTING}{both}."
            )
            yield mistake("extractor-before-capture", "extractor", name, advice)


def _by_operator(found: Found) -> dict[str, list[Extractor]]:
    by_operator: dict[str, list[Extractor]] = {}
    for extractor in found.plugins.extractors:
        for name in extractor.names:
            by_operator.setdefault(name, []).append(extractor)
    return by_operator


def _winner(found: Found, name: str) -> str:
    return found.plugins.registered.get(name) or "unknown"


def _is_shadowed(extractor: Extractor, found: Found) -> bool:
    """Return whether other extractors claim all operators of this one, so that it may be unregistered."""
    by_operator = _by_operator(found)
    return all(len(by_operator[name]) > 1 for name in extractor.names)


def _is_ours(path: str) -> bool:
    return path.startswith(f"{PACKAGE}.")
