"""The doctor's checks of `[openlineage] extractors`: their import and their operators."""

from __future__ import annotations

from collections.abc import Iterator

from airflow_provider_spark_lineage.airflow.known_operators import DRIVERS, PYTHON
from airflow_provider_spark_lineage.airflow.launch.table import LAUNCHERS
from airflow_provider_spark_lineage.cli.doctor.model import Extractor, Finding, Installation, note, problem
from airflow_provider_spark_lineage.cli.doctor.openlineage import is_several_names

_SETTING = "`[openlineage] extractors`"


def imports(installation: Installation) -> Iterator[Finding]:
    """Check that each extractor can be imported, in Airflow's order too."""
    by_operator = _by_operator(installation)
    for extractor in installation.airflow.plugins.extractors:
        path, error = extractor.path, extractor.error
        is_circular = "partially initialized" in error or "circular import" in error
        # If other extractors claim all of its operators, it may be unregistered.
        is_shadowed = all(len(by_operator[name]) > 1 for name in extractor.names)
        if is_circular or not (error or extractor.is_registered or is_shadowed):
            reason = error or "it was not registered when Airflow loaded its plugins"
            advice = (
                f"{_SETTING} names {path}, whose import is circular ({reason}), because Airflow is still "
                "loading when it imports extractors; import Airflow inside the extractor's methods."
            )
            yield problem("extractor-circular", "extractor", path, advice)
        elif error and not extractor.is_import_error:
            advice = (
                f"{_SETTING} names {path}, whose import raises {error}: any exception but ImportError there "
                "disables OpenLineage's whole plugin, so that no task emits; correct the module, or take it "
                "out of that option."
            )
            yield problem("extractor-breaks-plugin", "extractor", path, advice)
        elif error and not is_several_names(path):  # `list-separator` reports several names.
            advice = (
                f"{_SETTING} names {path}, which cannot be imported ({error}) and is ignored; correct the "
                "path, and keep the module in an installed package or in Airflow's `plugins_folder`: the "
                "folder of DAGs is not searched."
            )
            yield problem("extractor-import", "extractor", path, advice)


def clashes(installation: Installation) -> Iterator[Finding]:
    """Look for operators with several extractors: the provider keeps one for each class name."""
    several: dict[str, list[str]] = {}
    for name, extractors in _by_operator(installation).items():
        if len({each.dotted or each.path for each in extractors}) > 1:
            several.setdefault(" and ".join(extractor.path for extractor in extractors), []).append(name)
    for paths, names in several.items():
        # The provider reads the option into a set, whose order differs between processes.
        advice = (
            f"{paths} both claim {', '.join(f'`{name}`' for name in names)}: OpenLineage keeps one extractor "
            "for each class name, the last one registered, and the order may change with each process; keep "
            f"one of them in {_SETTING}."
        )
        yield problem("extractor-twice", "extractor", ", ".join(names), advice)


def before_capture(installation: Installation) -> Iterator[Finding]:
    """Look for the user's extractors whose operators auto-capture therefore does not capture."""
    options = installation.airflow.own_values
    if options.get("auto_capture") is not True:
        return
    named = {dotted.rpartition(".")[2] for dotted in options.get("extra_operators", ())}
    for name, extractors in _by_operator(installation).items():
        others = [extractor.path for extractor in extractors if not extractor.is_ours]
        is_captured = name in LAUNCHERS or DRIVERS.get(name) not in (None, "", PYTHON)
        if others and is_captured and name not in named:
            both = ", or name the operator in `[spark_lineage] extra_operators` to have both"
            advice = (
                f"Auto-capture does not capture `{name}`, because {others[0]} is its extractor; remove that "
                f"from {_SETTING}{'' if name in LAUNCHERS else both}."
            )
            yield note("extractor-before-capture", "extractor", name, advice)


def _by_operator(installation: Installation) -> dict[str, list[Extractor]]:
    by_operator: dict[str, list[Extractor]] = {}
    for extractor in installation.airflow.plugins.extractors:
        for name in extractor.names:
            by_operator.setdefault(name, []).append(extractor)
    return by_operator
