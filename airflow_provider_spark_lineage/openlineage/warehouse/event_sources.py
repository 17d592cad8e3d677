"""Sources of events: files and topics of Kafka. A line or message is read once."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables, as_read
from airflow_provider_spark_lineage.openlineage.warehouse.storage import Folder, copy_below, event_files

Frame = Any
"""A DataFrame of pyspark."""

KAFKA = "kafka://"

_SHORT = 3
"""Longest option that cannot be a secret: `1`, `SSL`."""


class EventSource(ABC):
    """A place of events."""

    files = 0
    """Files that are new, or that have changed, since the last load."""

    @abstractmethod
    def lines(self, spark: Any, snapshot: StoredTables, folder: str) -> Frame | None:
        """Return `file`, `start` and `line` of all lines that no load has read; None if there are none.

        Add them to those that the snapshot has as read. `folder` is the folder of the load.
        """


def source_of(source: Path | str, options: Mapping[str, str]) -> EventSource:
    """Return a file or folder of events, or a topic: `kafka://host:port/topic`."""
    if str(source).startswith(KAFKA):
        return _Topic(str(source), options)
    if options:
        raise BadInputError(f"{source} is not kafka://host:port/topic, so it has no options of Kafka.")
    return _Files(source)


class _Files(EventSource):
    """Files of lines.

    The warehouse has its own list of them, because Spark's streams read each path once: they would miss what
    OpenLineage's file transport appends to a file that was read.
    """

    def __init__(self, path: Path | str) -> None:
        self._files = event_files(path)

    def lines(self, spark: Any, snapshot: StoredTables, folder: str) -> Frame | None:
        known = snapshot.sources
        changed = {file: state for file, state in self._files.items() if known.get(file) != state}
        self.files = len(changed)
        if not changed:
            return None
        for file, (size, _) in changed.items():
            if "\n" in file:
                raise BadInputError(f"{file!r}: the name of a file of events has no line break.")
            if size and _is_left_out(Path(file).name):
                raise BadInputError(f"{file}: Spark leaves out files with such a name: give it another one.")
        snapshot.sources.update(changed)
        return spark.read.text([as_read(file) for file in changed], lineSep="\n").selectExpr(
            "_metadata.file_path AS file",
            "_metadata.file_block_start AS start",
            "CAST(value AS BINARY) AS line",
        )


class _Topic(EventSource):
    """A topic of Kafka, read by a stream up to its newest message.

    Each load works on a copy of the stream's checkpoint, in its own folder. `current.json` names the
    checkpoint that belongs to the tables, so that both change at once. A batch with offsets would do, but it
    needs those of every partition, and so fails once the topic has more.
    """

    def __init__(self, address: str, options: Mapping[str, str]) -> None:
        self._servers, _, self._topic = address.removeprefix(KAFKA).partition("/")
        if not self._servers or not self._topic or "/" in self._topic:
            raise BadInputError(f"{address}: write kafka://host:port/topic.")
        self._address, self._options = address, dict(options)

    def lines(self, spark: Any, snapshot: StoredTables, folder: str) -> Frame | None:
        root = snapshot.path
        offsets, records = f"{folder}/offsets", root / folder / "staged_records"
        before = snapshot.checkpoints.get(self._address)
        if before:
            copy_below(root / before, root / offsets)
        try:
            self._copy(spark, root / offsets, records)
        except Exception as error:
            # No connector, no broker, no right to read ...: the errors are of many classes.
            raise BadInputError(self._sentence(error)) from None
        if before and not records.exists():
            return None
        # The first load keeps its place also if there are no messages yet.
        snapshot.checkpoints[self._address] = offsets
        if not records.exists():
            return spark.createDataFrame([], _RECORDS)
        return spark.read.schema(_RECORDS).parquet(as_read(records))

    def _copy(self, spark: Any, offsets: Folder, records: Folder) -> None:
        options = {
            "startingOffsets": "earliest",
            "failOnDataLoss": "false",
            **self._options,
            "kafka.bootstrap.servers": self._servers,
            "subscribe": self._topic,
        }
        rows = (
            spark.readStream.format("kafka")
            .options(**options)
            .load()
            .where("value IS NOT NULL")
            .selectExpr(
                "concat(topic, '[', partition, ']@', offset) AS file",
                "CAST(0 AS BIGINT) AS start",
                "value AS line",
            )
        )

        def write(batch: Frame, _: int) -> None:
            batch.write.mode("append").parquet(str(records))

        # A stream's own files would need a list of all batches, and those of other loads are gone.
        stream = rows.writeStream.foreachBatch(write).option("checkpointLocation", str(offsets))
        stream.trigger(availableNow=True).start().awaitTermination()

    def _sentence(self, error: Exception) -> str:
        cause = str(error).strip().partition("\n")[0]
        values = self._options.values()
        secrets = {*values, *(part for value in values for part in re.findall(r'"([^"]+)"', value))}
        for value in sorted(secrets, key=len, reverse=True):
            cause = cause.replace(value, "***") if len(value) > _SHORT else cause
        return (
            f"Spark cannot read {self._address} ({cause}): it needs `spark.jars.packages` with"
            " org.apache.spark:spark-sql-kafka-0-10_2.13:<version of Spark>, a broker that answers, and the"
            " right to read."
        )


def _is_left_out(name: str) -> bool:
    """Return whether Spark takes a file for one that is not data, and reads nothing of it."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


_RECORDS = "file STRING, start BIGINT, line BINARY"
