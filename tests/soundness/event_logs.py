"""The lineage of the queries from Spark's event log: no column loses what it depends on without a gap."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import expected
from prover import Query, proving, readable

from airflow_provider_spark_lineage.event_log import SETTINGS
from airflow_provider_spark_lineage.lineage.compose import compose
from airflow_provider_spark_lineage.pipeline import RecordedFolder

USUAL = {"spark.eventLog.enabled": "true", "spark.sql.adaptive.enabled": "true"}
"""Settings of a log that has the physical plans alone, as Spark writes them by itself."""

WAYS: Mapping[str, Mapping[str, str]] = {"usual": USUAL, "extended": {**USUAL, **SETTINGS}}
"""Name of a way to write the log -> its settings."""


@dataclass(frozen=True)
class Logged:
    """What a log says of one query."""

    query: Query
    text: str
    """Its lineage; empty where the log has no output of the query."""

    @property
    def silent(self) -> list[str]:
        """Return the columns that have sources in a session, and here neither sources nor a gap."""
        wanted, found = _columns(expected.read()[self.query.name]), _columns(self.text)
        lost = [column for column, sources in wanted.items() if sources and not found.get(column)]
        gaps = [line for line in self.text.splitlines() if line.startswith("gap ")]
        return [column for column in lost if not any(f"`{column}`" in gap for gap in gaps) and column != "*"]


def _columns(text: str) -> dict[str, str]:
    lines = (line.partition(" <-") for line in text.splitlines() if " <-" in line)
    return {column: sources.strip() for column, _, sources in lines}


def logged(queries: Iterable[Query], folder: Path, way: str) -> list[Logged]:
    """Run the queries in a session that writes a log; return what the log says of each."""
    logs = folder / f"logs of {way}"
    logs.mkdir()
    times: list[tuple[Query, float, float]] = []
    with proving(folder, conf={**WAYS[way], "spark.eventLog.dir": logs.as_uri()}) as prover:
        for query in queries:
            # A log has milliseconds: what ran before is not to be taken for a part of this.
            began = _next_millisecond()
            prover.write(query)
            times.append((query, began, time.time()))
    executions = [*RecordedFolder(logs).executions()]
    found = []
    for query, began, ended in times:
        of_query = [
            each.lineage
            for each in executions
            if began <= datetime.fromisoformat(each.record.started_at).timestamp() <= ended
        ]
        lineage = compose(of_query)
        outputs = [output for output in lineage.outputs if Path(output.dataset.id.name).name == "out"]
        found.append(Logged(query, readable(lineage, outputs[0]) if len(outputs) == 1 else ""))
    return found


def _next_millisecond() -> float:
    now = time.time()
    while int(time.time() * 1000) == int(now * 1000):
        pass
    return int(time.time() * 1000) / 1000
