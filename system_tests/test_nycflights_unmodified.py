"""The example pipeline written with Airflow's own operators: lineage by configuration only."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from airflow_provider_spark_lineage.testing import DagRun
from system_tests.conftest import RunExample
from system_tests.examples import DAGS, EXPECTED, variables_of
from system_tests.test_nycflights import DROPPED

SETTINGS = {
    "AIRFLOW__OPENLINEAGE__CUSTOM_RUN_FACETS": (
        "airflow_provider_spark_lineage.run_facets.spark_application;"
        "airflow_provider_spark_lineage.run_facets.spark_executions"
    ),
    "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
}

SQL_TASK = "nycflights.gold_delays_by_weather"
TABLE = f"{SQL_TASK}.delays_by_weather"

DIFFERENCES: Mapping[str, str] = {
    # DROP TABLE IF EXISTS is an execution of its own; the log has the table's name in the catalog.
    rf"^{re.escape(TABLE)}\.event": f"{TABLE}.2.event",
    r"\Z": "".join(
        f"{TABLE}.event.{kind}:\n"
        "  inputs: []\n"
        "  outputs: [{namespace: 'file:${DATA}/warehouse', name: gold.delays_by_weather}]\n"
        for kind in ("start", "complete")
    ),
    # Spark's event log does not have the effect of a DROP TABLE.
    rf"(?<=^{re.escape(SQL_TASK)}\.event\.complete:\n  run: {{facets: {{)sparkLineage_gaps: !absent": (
        f"sparkLineage_gaps: {{gaps: [{{kind: {DROPPED[0]}}}]}}"
    ),
    # The execution from the log may have that gap, too.
    r"(?<=processing_engine: \{name: Spark\}), sparkLineage_gaps: !absent": "",
    # It has the types of columns that a query casts or compares, and no others.
    r"type: (string|long|integer|double|boolean|date|timestamp)\b": r"type: !regex '(\1)?'",
}
"""Parts of the `SparkSqlOperator`'s events that differ. The step in Python has no DROP and needs no log."""


def test_unmodified_operators_report_the_same_as_ours(
    run_example: RunExample, assert_lineage: Callable[..., object], tmp_path: Path
) -> None:
    """All events are those that `nycflights` has, whichever of Airflow's operators runs a step."""
    assert "airflow_provider_spark_lineage" not in (DAGS / "nycflights_unmodified.py").read_text()
    expected = tmp_path / "nycflights_unmodified.yaml"
    events = re.split(r"^(?=nycflights\.)", (EXPECTED / "nycflights.yaml").read_text(), flags=re.MULTILINE)
    others = "".join(event for event in events if not event.startswith(SQL_TASK))
    of_sql = "".join(event for event in events if event.startswith(SQL_TASK))
    for pattern, instead in DIFFERENCES.items():
        of_sql, count = re.subn(pattern, instead, of_sql, flags=re.MULTILINE)
        assert count, f"no event has {pattern}"
    expected.write_text((others + of_sql).replace("nycflights", "nycflights_unmodified"))

    home = tmp_path / "data of its own"
    settings = {**SETTINGS, "NYCFLIGHTS_HOME": str(home)}
    run = run_example("nycflights_unmodified", settings=settings, in_workers=True)
    assert_lineage(expected, run, variables=variables_of(home), scope="all")
    assert applications(run) == {task: 1 for task in run.tasks if task != "deliver"}


def applications(run: DagRun) -> dict[str, int]:
    """Return how many Spark applications the run facets of each task name, where they have executions."""
    return {
        event.document["run"]["facets"]["airflow"]["task"]["task_id"]: len(facet["applications"])
        for event in run.read().items
        if event.type == "complete"
        and (facet := event.document["run"]["facets"].get("sparkLineage_application"))
        and event.document["run"]["facets"]["sparkLineage_executions"]["count"]
    }
