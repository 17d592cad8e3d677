"""Values of an event, whoever's facet they are in: what leaves this package is valid JSON."""

from __future__ import annotations

import datetime
import enum
import json
import uuid
from decimal import Decimal

import attr
import numpy
import pytest
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    RunFacet,
    data_quality_assertions_dataset,
    data_quality_metrics_input_dataset,
)
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.openlineage.json_values import json_value
from airflow_provider_spark_lineage.openlineage.transports import variable
from airflow_provider_spark_lineage.spark.facets.events import plain

NAN, INFINITY = float("nan"), float("inf")


class Color(enum.Enum):
    RED = "red"


VALUES = {
    "nan": (NAN, "NaN"),
    "infinity": (INFINITY, "Infinity"),
    "negative infinity": (-INFINITY, "-Infinity"),
    "float": (1.5, 1.5),
    "integer": (10**30, 10**30),
    "boolean": (True, True),
    "text": ("NaN", "NaN"),
    "decimal": (Decimal("1.20"), "1.20"),
    "decimal nan": (Decimal("NaN"), "NaN"),
    "signaling nan": (Decimal("sNaN"), "NaN"),
    "decimal infinity": (Decimal("-Infinity"), "-Infinity"),
    "numpy float": (numpy.float64("nan"), "NaN"),
    "short numpy float": (numpy.float32("inf"), "Infinity"),
    "finite numpy float": (numpy.float32(0.5), 0.5),
    "numpy integer": (numpy.int32(3), 3),
    "numpy boolean": (numpy.bool_(True), True),
    "date": (datetime.date(2026, 1, 31), "2026-01-31"),
    "timestamp": (datetime.datetime(2026, 1, 31, 10), "2026-01-31T10:00:00"),
    "uuid": (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "enum": (Color.RED, "red"),
    "bytes": (b"secret", "<<non-serializable: bytes>>"),
    "set": ({1}, "<<non-serializable: set>>"),
    "array": (numpy.array([NAN]), "<<non-serializable: ndarray>>"),
    "interval": (datetime.timedelta(1), "<<non-serializable: timedelta>>"),
    "list": ([1, [NAN, {"a": INFINITY}]], [1, ["NaN", {"a": "Infinity"}]]),
    "tuple": ((1, NAN), [1, "NaN"]),
    "keys": ({NAN: 1, (1, 2): 2, 3: 3, "a": 4}, {"nan": 1, "(1, 2)": 2, "3": 3, "a": 4}),
}


@attr.define
class Foreign(RunFacet):
    """A facet of a user."""

    values: dict[str, object] = attr.field(factory=dict)
    of_no_type = attr.field(default=None)


def event(value):
    facets = {"foreign": Foreign({"value": value}, value), "plain": {"value": value}}
    return RunEvent(
        eventTime="2026-01-01T00:00:00Z",
        run=Run(str(uuid.UUID(int=2)), facets),
        job=Job("namespace", "job"),
        eventType=RunState.COMPLETE,
    )


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def parsed(text):
    return json.loads(text, parse_constant=refuse)


def found(document):
    facets = document["run"]["facets"]
    return [facets["foreign"]["values"]["value"], facets["foreign"]["of_no_type"], facets["plain"]["value"]]


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
def test_every_value_has_a_form_in_json(value, expected):
    """Numbers that JSON does not have are texts; for other values, the client has a text."""
    assert found(parsed(Serde.to_json(json_value(event(value))))) == [expected] * 3
    assert found(parsed(json.dumps(plain(event(value))))) == [expected] * 3


class Sent:
    """A client of OpenLineage, or an adapter of the provider, that serializes as transports do."""

    def __init__(self):
        self.texts = []

    def emit(self, emitted):
        self.texts.append(Serde.to_json(emitted))
        return emitted


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
def test_every_event_that_is_sent_is_valid(value, expected, monkeypatch):
    """By the task's process, by the provider's listener, and into Airflow's Variables."""
    client, adapter, stored = Sent(), Sent(), {}
    provider._Client(client).emit(event(value))
    provider._replace_emit(adapter)
    provider._replace_emit(adapter)
    adapter.emit(event(value))
    monkeypatch.setattr(variable, "_store", stored.__setitem__)
    variable.VariableTransport().emit(event(value))
    texts = [*client.texts, *adapter.texts, *stored.values()]
    assert [found(parsed(text)) for text in texts] == [[expected] * 3] * 3


def test_fields_for_numbers_are_left_out():
    """A text there would break the facet's schema."""
    metrics = data_quality_metrics_input_dataset
    column = metrics.ColumnMetrics(
        nullCount=1, min=NAN, max=2.0, sum=Decimal(3), quantiles={"0.5": NAN, "1": 2.0}
    )
    facet = metrics.DataQualityMetricsInputDatasetFacet({"a": column}, 2, producer="ours")
    document = plain(facet)
    assert document["columnMetrics"] == {
        "a": {"nullCount": 1, "max": 2.0, "sum": 3.0, "quantiles": {"1": 2.0}}
    }
    assert document["_producer"] == "ours"
    assert column.min is not None, "the object itself is not changed"


def test_a_valid_event_stays_the_same_object():
    """Nothing is copied for the many events that have no such value."""
    valid = event({"a": [1.5, "x", {"b": None}]})
    assert json_value(valid) is valid
    assertion = data_quality_assertions_dataset.Assertion("min", True, params={"at": 0.5})
    assert json_value(assertion) is assertion


def test_an_event_that_cannot_be_read_is_sent_as_it_is():
    """Lineage harms nothing: the transport decides."""
    endless = []
    endless.append(endless)
    sent = []
    client = type("Client", (), {"emit": lambda self, emitted: sent.append(emitted)})()
    given = event(endless)
    provider._Client(client).emit(given)
    assert sent[0] is given
