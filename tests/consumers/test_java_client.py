"""OpenLineage's Java client reads our events, in the JVM."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from consumers.every_event import every_event, without_empty
from consumers.java_client import java_client
from dateutil.parser import isoparse

pytestmark = pytest.mark.spark

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*(Z|\+00:00)")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with java_client() as utils:
        yield utils


def test_every_event_is_read_and_written_again(client: Any) -> None:
    """No part of an event is lost in the client's classes."""
    for name, event in every_event().items():
        again = json.loads(client.toJson(client.runEventFromJson(json.dumps(event))))
        assert without_empty(with_times(again)) == without_empty(with_times(event)), name


def test_objects_have_the_names_of_the_event(client: Any) -> None:
    """A consumer asks the objects, not their JSON."""
    event = every_event()["execution_complete"]
    read = client.runEventFromJson(json.dumps(event))
    assert read.getEventType().toString() == "COMPLETE"
    assert read.getRun().getFacets().getParent().getJob().getName() == "shop.revenue"
    (output,) = read.getOutputs()
    assert output.getName() == "/shop/revenue"
    assert output.getOutputFacets().getOutputStatistics().getRowCount() == 1
    columns = output.getFacets().getColumnLineage().getFields().getAdditionalProperties()
    (source,) = columns["revenue"].getInputFields()
    assert (source.getName(), source.getField()) == ("/shop/orders", "amount")


def with_times(value: Any) -> Any:
    """Return JSON with times as objects: the client changes the notation of those that it knows."""
    if isinstance(value, dict):
        return {key: with_times(each) for key, each in value.items()}
    if isinstance(value, list):
        return [with_times(each) for each in value]
    return isoparse(value) if isinstance(value, str) and TIME.fullmatch(value) else value
