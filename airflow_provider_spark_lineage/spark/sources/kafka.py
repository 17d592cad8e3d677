"""Kafka topics, in batches and in streams: a topic is a dataset, its first broker the namespace."""

from __future__ import annotations

import json
import re
from typing import Mapping, Optional, Tuple

from airflow_provider_spark_lineage.spark.gaps import of_datasets
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.sources.accessors import BY_MODE, BY_OUTPUT_MODE
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Facts, Identity
from airflow_provider_spark_lineage.spark.sources.probe import read, write
from airflow_provider_spark_lineage.spark.sources.source import Source

_SERVERS = "kafka.bootstrap.servers"
_READ = ("subscribe", "assign", "subscribepattern")

_TABLE = "KafkaSourceProvider$KafkaTable"


class KafkaFacts(Facts, total=False):
    """Facts of topics that are read or written, mostly in `options`."""

    writes: str
    """Class of the command that writes; absent for reads."""


_OPTIONS = {"options": "$options(options)"}
_WRITES = {"writes": "getClass.getSimpleName"}

PROBES = (
    # The relation's options are a private field.
    *read("LogicalRelation", {"options": "$options(relation.sourceOptions!)"}, relation="KafkaRelation"),
    *read(("DataSourceV2Relation", "StreamingDataSourceV2Relation"), _OPTIONS, of="table", relation=_TABLE),
    *read(
        "StreamingDataSourceV2ScanRelation",
        {"options": "$options(relation.options)"},
        of="relation.table",
        relation=_TABLE,
    ),
    *write(
        "SaveIntoDataSourceCommand",
        {**_OPTIONS, **BY_MODE, **_WRITES},
        of="dataSource",
        relation="KafkaSourceProvider",
    ),
    *(
        probe
        # Since Spark 4.3 the sink's table is a relation.
        for table in ("table", "table.table")
        for probe in write(
            "WriteToMicroBatchDataSource",
            {"options": "$options(writeOptions)", **BY_OUTPUT_MODE, **_WRITES},
            of=table,
            relation=_TABLE,
        )
    ),
)


class Kafka(Source[KafkaFacts]):
    """Topics."""

    probes = PROBES
    options = frozenset((_SERVERS, *_READ, "topic"))

    def identify(self) -> Tuple[Identity, ...]:
        """Return the topics that are read, or the topic that is written.

        A pattern is a dataset by itself, because Spark does not report which topics it matched; so is `*`,
        for rows that name their topic in a column.
        """
        options = self.facts.get("options") or {}
        servers = str(options.get(_SERVERS) or "")
        if not servers:
            return ()
        # The first broker, without its protocol.
        broker = re.sub(r"^\s*\w+://", "", servers.split(",", maxsplit=1)[0].strip()).lower()
        namespace = f"kafka://{broker}" if re.search(r":\d+$", broker) else f"kafka://{broker}:9092"
        note: Optional[Reason] = None
        pattern = str(options.get("subscribepattern") or "")
        if self.facts.get("writes"):
            topics: Tuple[str, ...] = (str(options.get("topic") or "*"),)
            if not options.get("topic"):
                note = of_datasets.TOPICS_IN_ROWS()
        elif pattern:
            topics, note = (pattern,), of_datasets.TOPICS_OF_PATTERN(pattern=pattern)
        else:
            topics = _topics(options)
        return tuple(Identity(DatasetId(namespace, topic), note=note) for topic in topics)


def _topics(options: Mapping[str, str]) -> Tuple[str, ...]:
    if options.get("assign"):
        try:
            return tuple(sorted(map(str, json.loads(options["assign"]))))
        except (ValueError, TypeError):
            return ()
    names = (name.strip() for name in str(options.get("subscribe") or "").split(","))
    return tuple(dict.fromkeys(name for name in names if name))
