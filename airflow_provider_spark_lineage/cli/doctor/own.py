"""The doctor's checks of `[spark_lineage]`: this package's own options."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator

from airflow_provider_spark_lineage.airflow.known_operators import DRIVERS
from airflow_provider_spark_lineage.airflow.launch.table import LAUNCHERS
from airflow_provider_spark_lineage.cli.doctor.model import PACKAGE, Finding, Installation, note, problem
from airflow_provider_spark_lineage.get_provider_info import OPTIONS

_PREFIX = "AIRFLOW__SPARK_LINEAGE__"


def values(installation: Installation) -> Iterator[Finding]:
    """Report values that cannot be used, in the words of `conf`."""
    for line in installation.airflow.own_warnings:
        yield problem("own-value", "option", line.split(" = ")[0].split(":")[0], line)


def names(installation: Installation) -> Iterator[Finding]:
    """Look for unknown options, and suggest the nearest known one."""
    for name in sorted(set(installation.airflow.own_texts) - set(OPTIONS)):
        nearest = difflib.get_close_matches(name, OPTIONS, n=1)
        cure = (
            f"did you mean `{nearest[0]}`?" if nearest else f"the options are {', '.join(sorted(OPTIONS))}."
        )
        advice = f"`[spark_lineage] {name}` is not an option, so it has no effect: {cure}"
        yield problem("own-option", name, "unknown option", advice)


def variables(installation: Installation) -> Iterator[Finding]:
    """Look for misspelled environment variables of `[spark_lineage]`, which are not read."""
    for name in sorted(os.environ):
        match = re.fullmatch(r"AIRFLOW_+SPARK_*LINEAGE_+(.+)", name, re.IGNORECASE)
        if match and not name.startswith(_PREFIX):
            advice = f"The environment variable {name} is not read; rename it to {_PREFIX}{match[1].upper()}."
            yield problem("own-variable", name, "not read", advice)


def disabled(installation: Installation) -> Iterator[Finding]:
    """Report that the package is switched off."""
    if installation.airflow.own_values.get("disabled") is True:
        advice = "This package is switched off by `[spark_lineage] disabled`; set it to False."
        yield problem("own-disabled", "disabled", "True", advice)


def auto_capture(installation: Installation) -> Iterator[Finding]:
    """Check that auto-capture is set, and that extractors are not used without it."""
    airflow = installation.airflow
    if not airflow.own_values:
        return
    named = airflow.options.get("custom_extractors", ())
    ours = [name for name in named if name.startswith(f"{PACKAGE}.")]
    is_on = airflow.own_values.get("auto_capture") is True
    value = f"{'on' if is_on else 'off'}, {'with' if ours else 'no'} extractors of ours"
    # The extractor of launched applications reads records by itself.
    if not is_on and any(not name.startswith(f"{PACKAGE}.extractors.launchers.") for name in ours):
        advice = (
            "`[openlineage] extractors` names this package's extractors, but without auto-capture they read "
            "only the source code of jobs; set `[spark_lineage] auto_capture` to True."
        )
        yield problem("planned-only", "auto_capture", value, advice)
    elif not is_on and not ours and "auto_capture" not in airflow.own_texts:
        advice = (
            "`[spark_lineage] auto_capture` is not set, so tasks of Airflow's own operators are not "
            "captured; set it to True, or to False if this package's operators and decorators are enough."
        )
        yield note("capture-unset", "auto_capture", value, advice)
    else:
        yield Finding("auto_capture", value)


def operators(installation: Installation) -> Iterator[Finding]:
    """Check that the classes of `extra_operators` exist."""
    for path, reason in installation.airflow.plugins.broken_operators.items():
        advice = (
            f"`[spark_lineage] extra_operators` names {path}, which cannot be imported ({reason}), so no "
            "task matches it; correct the dotted class."
        )
        yield problem("own-operator", "extra_operators", path, advice)


def operator_names(installation: Installation) -> Iterator[Finding]:
    """Look for classes of `extra_operators` that share their name with another operator."""
    paths = list(installation.airflow.own_values.get("extra_operators", ()))
    for name in dict.fromkeys(path.rpartition(".")[2] for path in paths):
        same = [path for path in paths if path.rpartition(".")[2] == name]
        if (name in DRIVERS or name in LAUNCHERS) and not same[0].startswith("airflow."):
            same.append("Airflow's operator")
        if len(same) > 1:
            advice = (
                f"{' and '.join(same)} in `[spark_lineage] extra_operators` have the same class name, "
                f"`{name}`, and OpenLineage has one extractor for each class name; rename the class."
            )
            yield problem("own-operator-name", "extra_operators", name, advice)


def patterns(installation: Installation) -> Iterator[Finding]:
    """Look for patterns that exclude all that is included."""
    include = installation.airflow.own_values.get("auto_capture_include", ())
    exclude = installation.airflow.own_values.get("auto_capture_exclude", ())
    if include and all(each in exclude or "*" in exclude for each in include):
        advice = (
            "`[spark_lineage] auto_capture_exclude` excludes everything that `auto_capture_include` names, "
            "so nothing is captured; remove those patterns from one of them."
        )
        yield note("own-pattern", "auto_capture_exclude", ";".join(exclude), advice)
