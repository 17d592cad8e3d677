"""The doctor's checks of `[openlineage] extractors`: are they imported, and for which operators."""

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
"""What Python says of a module that is imported while it is being imported."""

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
"""Mistake of one extractor -> what is said of it."""


def _wrong(name: str, extractor: Extractor, reason: str = "") -> Finding:
    """Return the finding of a mistake of one extractor; the reason is the exception unless it is given."""
    advice = _ADVICE[name].format(
        path=extractor.path,
        reason=reason or extractor.error,
        imports=", ".join(extractor.airflow_imports) or "what it needs of Airflow",
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
            continue  # Several names: `list-separator` says it.
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
    """Check that each extractor is a class that the provider can ask."""
    for extractor in found.plugins.extractors:
        if extractor.interface:
            yield _wrong("extractor-interface", extractor)


def clashes(found: Found) -> Iterator[Finding]:
    """Look for operators that several extractors answer for: the provider keeps one for a class name."""
    several: dict[tuple[str, ...], list[str]] = {}
    classes = {extractor.path: extractor.dotted or extractor.path for extractor in found.plugins.extractors}
    for name, extractors in _by_operator(found).items():
        paths = tuple(extractor.path for extractor in extractors)
        if len(paths) > 1:
            several.setdefault(paths, []).append(name)
        elif name in _BUILT_IN and not _is_ours(paths[0]):
            advice = (
                f"{paths[0]} answers for `{name}` in place of the provider's own extractor, whose source "
                f"code facet is lost; take `{name}` out of its `get_operator_classnames` if that is not "
                "meant."
            )
            yield mistake("extractor-over-built-in", "extractor", name, advice)
    for paths, names in several.items():
        if len({classes[path] for path in paths}) == 1:
            advice = (
                f"{' and '.join(paths)} are names of one class, and OpenLineage warns of that in each "
                f"process; leave one of them in {_SETTING}."
            )
            yield mistake("extractor-repeated", "extractor", paths[0], advice)
            continue
        # The provider reads the option into a set, whose order differs between processes.
        advice = (
            f"{' and '.join(paths)} both answer for {', '.join(f'`{name}`' for name in names)}: OpenLineage "
            "has one extractor for a class name, and the last one registered wins, in an order that may "
            f"change with each process (now {_winner(found, names[0])}); leave one of them in {_SETTING}."
        )
        yield mistake("extractor-twice", "extractor", ", ".join(names), advice)


def before_capture(found: Found) -> Iterator[Finding]:
    """Look for the user's extractors that auto-capture leaves operators to."""
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
                f"Auto-capture leaves `{name}` alone, because {others[0]} answers for it; take that out of "
                f"{_SETTING}{both}."
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
    """Return whether others answer for all of an extractor's operators, so that it need not be registered."""
    by_operator = _by_operator(found)
    return all(len(by_operator[name]) > 1 for name in extractor.names)


def _is_ours(path: str) -> bool:
    return path.startswith(f"{PACKAGE}.")
