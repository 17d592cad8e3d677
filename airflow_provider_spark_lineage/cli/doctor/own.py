"""The doctor's checks of `[spark_lineage]`: this package's own options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from airflow_provider_spark_lineage.cli.doctor.extractors import PACKAGE
from airflow_provider_spark_lineage.cli.doctor.finding import Finding, mistake
from airflow_provider_spark_lineage.cli.doctor.found import Found
from airflow_provider_spark_lineage.get_provider_info import get_provider_info
from airflow_provider_spark_lineage.known_operators import DRIVERS
from airflow_provider_spark_lineage.launch.table import LAUNCHERS

OPTIONS = frozenset(get_provider_info()["config"]["spark_lineage"]["options"])
_PREFIX = "AIRFLOW__SPARK_LINEAGE__"


def values(found: Found) -> Iterator[Finding]:
    """Report values that cannot be used, in the words of `conf`."""
    for line in found.readable.own_warnings if found.readable else ():
        yield mistake("own-value", "option", line.split(" = ")[0].split(":")[0], line)


def names(found: Found) -> Iterator[Finding]:
    """Look for unknown options, and suggest the nearest known one."""
    for name in sorted(set(found.readable.own_texts if found.readable else ()) - OPTIONS):
        nearest = difflib.get_close_matches(name, OPTIONS, n=1)
        cure = (
            f"did you mean `{nearest[0]}`?" if nearest else f"the options are {', '.join(sorted(OPTIONS))}."
        )
        advice = f"`[spark_lineage] {name}` is not an option, so it has no effect: {cure}"
        yield mistake("own-option", name, "unknown option", advice)


def variables(found: Found) -> Iterator[Finding]:
    """Look for misspelled environment variables of `[spark_lineage]`, which are not read."""
    for name in sorted(found.environment):
        if name.startswith(_PREFIX) or not name.upper().startswith("AIRFLOW"):
            continue
        match = re.fullmatch(r"AIRFLOW_+SPARK_*LINEAGE_+(.+)", name, re.IGNORECASE)
        if match:
            advice = f"The environment variable {name} is not read; rename it to {_PREFIX}{match[1].upper()}."
            yield mistake("own-variable", name, "not read", advice)


def disabled(found: Found) -> Iterator[Finding]:
    """Report that the package is switched off."""
    if found.readable and found.readable.own_values.get("disabled") is True:
        advice = "This package is switched off by `[spark_lineage] disabled`; set it to False."
        yield mistake("own-disabled", "disabled", "True", advice)


def auto_capture(found: Found) -> Iterator[Finding]:
    """Check that auto-capture is set, and that extractors are not used without it."""
    airflow = found.readable
    if airflow is None:
        return
    named = airflow.options.get("custom_extractors")
    ours = [name for name in named if name.startswith(f"{PACKAGE}.")] if isinstance(named, set) else []
    is_on = airflow.own_values.get("auto_capture") is True
    value = f"{'on' if is_on else 'off'}, {'with' if ours else 'no'} extractors of ours"
    # The extractor of launched applications reads records by itself.
    if not is_on and any(not name.startswith(f"{PACKAGE}.extractors.launchers.") for name in ours):
        advice = (
            "`[openlineage] extractors` names this package's extractors, but without auto-capture they read "
            "only the source code of jobs; set `[spark_lineage] auto_capture` to True."
        )
        yield mistake("planned-only", "auto_capture", value, advice)
    elif not is_on and not ours and "auto_capture" not in airflow.own_texts:
        advice = (
            "`[spark_lineage] auto_capture` is not set, so tasks of Airflow's own operators are not "
            "captured; set it to True, or to False if this package's operators and decorators are enough."
        )
        yield mistake("capture-unset", "auto_capture", value, advice)
    else:
        yield Finding("auto_capture", value)


def operators(found: Found) -> Iterator[Finding]:
    """Check that the classes of `extra_operators` exist."""
    for path, reason in found.plugins.broken_operators.items():
        advice = (
            f"`[spark_lineage] extra_operators` names {path}, which cannot be imported ({reason}), so no "
            "task matches it; correct the dotted class."
        )
        yield mistake("own-operator", "extra_operators", path, advice)


def operator_names(found: Found) -> Iterator[Finding]:
    """Look for classes of `extra_operators` that share their name with another operator."""
    airflow = found.readable
    extra = airflow.own_values.get("extra_operators", {}) if airflow else {}
    by_name: dict[str, list[str]] = {}
    for path in extra:
        by_name.setdefault(path.rpartition(".")[2], []).append(path)
    for name, paths in by_name.items():
        if len(paths) > 1:
            others = " and ".join(paths)
        elif name in DRIVERS or name in LAUNCHERS:
            others = f"{paths[0]} and Airflow's operator"
            if paths[0].startswith("airflow."):
                continue
        else:
            continue
        advice = (
            f"{others} in `[spark_lineage] extra_operators` have the same class name, `{name}`, and "
            "OpenLineage has one extractor for each class name; rename the class."
        )
        yield mistake("own-operator-name", "extra_operators", name, advice)


def patterns(found: Found) -> Iterator[Finding]:
    """Look for patterns that match no DAG and no task."""
    airflow, dags = found.readable, found.plugins.dags
    if airflow is None:
        return
    known = [*(dags or {}), *(f"{dag}.{task}" for dag, tasks in (dags or {}).items() for task in tasks)]
    for option in ("auto_capture_include", "auto_capture_exclude"):
        for pattern in airflow.own_values.get(option, ()) if dags is not None else ():
            if pattern != "*" and not any(fnmatchcase(name, pattern) for name in known):
                nearest = difflib.get_close_matches(pattern.replace("*", ""), known, n=1)
                hint = f", for example to `{nearest[0]}`" if nearest else ""
                advice = (
                    f"`[spark_lineage] {option}`: `{pattern}` matches no DAG and no task; correct it{hint}."
                )
                yield mistake("own-pattern", option, pattern, advice)
    include = airflow.own_values.get("auto_capture_include", ("*",))
    exclude = airflow.own_values.get("auto_capture_exclude", ())
    hidden = [each for each in include if any(other in (each, "*") for other in exclude)]
    if include and len(hidden) == len(include):
        advice = (
            "`[spark_lineage] auto_capture_exclude` excludes everything that `auto_capture_include` names, "
            "so nothing is captured; remove those patterns from one of them."
        )
        yield mistake("own-pattern", "auto_capture_exclude", ";".join(exclude), advice)
