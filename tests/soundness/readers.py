"""The lineage of the queries by other readers: no column loses its sources without a gap.

Spark's event log with its usual settings and with ours, and Spark Connect.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import expected
from prover import Query, on_connect, proving, readable

from airflow_provider_spark_lineage.spark.event_log import SETTINGS
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

USUAL = {"spark.eventLog.enabled": "true", "spark.sql.adaptive.enabled": "true"}
"""Settings of a log that has the physical plans alone, as Spark writes them by itself."""

LOGS: Mapping[str, Mapping[str, str]] = {"usual log": USUAL, "extended log": {**USUAL, **SETTINGS}}
"""Name of a way to write the log -> its settings."""

CONSTANT = {
    ("usual log", "nested: struct to columns and json", "n"): "the optimizer knows that a struct is not null",
}
"""(reader, query, column) -> why the plan that the reader has gives it no source."""


@dataclass(frozen=True)
class Reading:
    """The lineage of one query by one reader."""

    query: Query
    reader: str
    text: str
    """Its lineage; empty where the query's output is not named alone."""

    @property
    def is_equal(self) -> bool:
        """Return whether it is the lineage that a session has."""
        return self.text == expected.read()[self.query.name]

    @property
    def silent(self) -> list[str]:
        """Return the columns that have sources in a session, and here neither sources nor a gap."""
        wanted = _with_sources(expected.read()[self.query.name], _DIRECT)
        actual = _with_sources(self.text)
        gaps = [line for line in self.text.splitlines() if line.startswith("gap ")]
        return [
            column
            for column in wanted - actual
            if not any(f"`{column}`" in gap or "rows came" in gap or "`" not in gap for gap in gaps)
            and (self.reader, self.query.name, column) not in CONSTANT
        ]


def readings(queries: Iterable[Query], folder: Path) -> Iterator[list[Reading]]:
    """Run the queries for each reader; yield its lineage of them."""
    plain = [query for query in queries if not query.on_lakes]
    for reader, conf in LOGS.items():
        yield _logged(plain, folder, reader, conf)
    # Frames of a classic session do not exist on Connect: `tests/live` has jobs for both.
    with on_connect(folder) as prover:
        texts = [query for query in plain if query.is_text]
        yield [Reading(query, "Spark Connect", prover.capture(query).text) for query in texts]


_DIRECT = ("identity", "transformation", "aggregation")


def _with_sources(text: str, kinds: Iterable[str] = ("",)) -> set[str]:
    """Return the columns of a lineage that depend on something, in one of these ways."""
    lines = (line.partition(" <- ") for line in text.splitlines())
    return {column for column, _, sources in lines if sources and any(kind in sources for kind in kinds)}


def _logged(queries: list[Query], folder: Path, reader: str, conf: Mapping[str, str]) -> list[Reading]:
    logs = folder / reader
    logs.mkdir()
    times: list[tuple[Query, float, float]] = []
    with proving(folder, conf={**conf, "spark.eventLog.dir": logs.as_uri()}) as prover:
        for query in queries:
            # A log has milliseconds: an earlier query must not be taken for a part of this one.
            began = _next_millisecond()
            prover.write(query)
            times.append((query, began, time.time()))
    executions = [*RecordedFolder(logs).executions()]
    listed = []
    for query, began, ended in times:
        of_query = [
            each.lineage
            for each in executions
            if began <= datetime.fromisoformat(each.record.started_at).timestamp() <= ended
        ]
        lineage = compose(of_query)
        outputs = [output for output in lineage.outputs if Path(output.dataset.id.name).name == "out"]
        listed.append(Reading(query, reader, readable(lineage, outputs[0]) if len(outputs) == 1 else ""))
    return listed


def _next_millisecond() -> float:
    now = time.time()
    while int(time.time() * 1000) == int(now * 1000):
        pass
    return int(time.time() * 1000) / 1000
