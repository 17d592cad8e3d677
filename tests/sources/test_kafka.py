"""Kafka topics are named by their first broker, as OpenLineage's naming spec says."""

from __future__ import annotations

import pytest
from openlineage.client.naming.dataset import Kafka

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind
from airflow_provider_spark_lineage.spark.sources import identify
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId

SERVERS = "kafka.bootstrap.servers"


def topic(host: str, port: str, name: str) -> DatasetId:
    naming = Kafka(host, port, name)
    return DatasetId(naming.get_namespace(), naming.get_name())


@pytest.mark.parametrize(
    ("servers", "host", "port"),
    [
        ("broker:9093", "broker", "9093"),
        ("Broker", "broker", "9092"),
        ("one:1, two:2", "one", "1"),
        ("SASL_SSL://one:1,two:2", "one", "1"),
        ("[::1]:9092", "[::1]", "9092"),
    ],
)
def test_the_first_broker_is_the_namespace(servers: str, host: str, port: str) -> None:
    """Brokers of one cluster are one place, whatever their protocol."""
    (identity,) = identify({"options": {SERVERS: servers, "subscribe": "orders"}})
    assert identity.id == topic(host, port, "orders")
    assert identity.note is None


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"subscribe": "a, b,a"}, ["a", "b"]),
        ({"assign": '{"b":[0,1],"a":[2]}'}, ["a", "b"]),
    ],
)
def test_each_topic_is_a_dataset(options: dict[str, str], names: list[str]) -> None:
    """Each topic is one dataset, in every form of the option."""
    assert [identity.id.name for identity in identify({"options": {SERVERS: "h", **options}})] == names


def test_a_pattern_says_that_its_topics_are_not_known() -> None:
    """Spark does not report the topics that a pattern matched."""
    (identity,) = identify({"options": {SERVERS: "h", "subscribepattern": "orders.*"}})
    assert identity.id.name == "orders.*"
    assert identity.note is not None
    assert identity.note.kind is GapKind.SEVERAL_DATASETS


def test_a_write_goes_to_its_topic() -> None:
    """The option decides; without it each row names its topic, and which ones is not known."""
    (identity,) = identify({"options": {SERVERS: "h", "topic": "out"}, "writes": "x"})
    assert (identity.id.name, identity.note) == ("out", None)
    (identity,) = identify({"options": {SERVERS: "h"}, "writes": "x"})
    assert identity.id.name == "*"
    assert identity.note.kind is GapKind.SEVERAL_DATASETS


def test_assignments_that_cannot_be_read_name_nothing() -> None:
    """A broken option is not a topic."""
    assert identify({"options": {SERVERS: "h", "assign": "{"}}) == ()
