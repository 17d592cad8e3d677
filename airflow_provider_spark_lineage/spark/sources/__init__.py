"""The data sources, one class each: probes of a live plan, and the naming of datasets from their facts.

To add one, write a subclass of `Source` in `sources/<name>.py`, or of `Connector` in `sources/warehouses.py`,
and add it to `SOURCES`.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Tuple, Type, cast

from airflow_provider_spark_lineage.spark.sources.dataset import Facts, Identity
from airflow_provider_spark_lineage.spark.sources.delta import Delta
from airflow_provider_spark_lineage.spark.sources.files import Files
from airflow_provider_spark_lineage.spark.sources.iceberg import Iceberg
from airflow_provider_spark_lineage.spark.sources.jdbc import Jdbc
from airflow_provider_spark_lineage.spark.sources.kafka import Kafka
from airflow_provider_spark_lineage.spark.sources.probe import Probe
from airflow_provider_spark_lineage.spark.sources.program import Program
from airflow_provider_spark_lineage.spark.sources.python import Python
from airflow_provider_spark_lineage.spark.sources.rdd import Rdd
from airflow_provider_spark_lineage.spark.sources.source import Source
from airflow_provider_spark_lineage.spark.sources.tables import Tables
from airflow_provider_spark_lineage.spark.sources.unknown import Unknown
from airflow_provider_spark_lineage.spark.sources.warehouses import (
    BigQuery,
    Cassandra,
    Cosmos,
    Elasticsearch,
    Mongo,
    Snowflake,
)

SOURCES: Tuple[Type[Source[Any]], ...] = (
    Program,
    Delta,
    Iceberg,
    Jdbc,
    Tables,
    Files,
    Rdd,
    Kafka,
    Snowflake,
    BigQuery,
    Cosmos,
    Mongo,
    Cassandra,
    Elasticsearch,
    Python,
    Unknown,
)
"""In order of precedence: the first source that knows the facts of a relation answers for it."""


def source_of(facts: Facts) -> Source[Any]:
    """Return the source of a relation, with the relation's facts; the last one knows all facts."""
    return next(source for source in (kind(facts) for kind in SOURCES) if source.knows())


def _probes_by_node(*, before: bool) -> Dict[str, Tuple[Probe, ...]]:
    by_node: Dict[str, Tuple[Probe, ...]] = {}
    for source in SOURCES:
        for probe in source.probes:
            if probe.before is before:
                by_node[probe.node] = (*by_node.get(probe.node, ()), probe)
    return by_node


PROBES: Dict[str, Tuple[Probe, ...]] = _probes_by_node(before=False)
"""Simple class name of a plan node -> its probes, in order of precedence."""

BEFORE: Dict[str, Tuple[Probe, ...]] = _probes_by_node(before=True)
"""Simple class name of a command -> its probes that run before the command does."""

OPTIONS: FrozenSet[str] = frozenset().union(*(source.options for source in SOURCES))
"""Names of options, in lower case, that capture may write down."""

PARTS: FrozenSet[str] = frozenset().union(*(source.parts for source in SOURCES))
"""Names of executions that are parts of a command, which is reported after them."""


_COPIED = "copied_"
"""Prefix of the facts about the source of a copy (RESTORE, CLONE)."""


def copied_from(facts: Facts) -> Facts:
    """Return the facts of the dataset whose rows a write copies."""
    copied = {key[len(_COPIED) :]: value for key, value in facts.items() if key.startswith(_COPIED)}
    return cast(Facts, copied)


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Return the datasets behind the facts of one relation; empty if it has none."""
    return source_of(facts).identities
