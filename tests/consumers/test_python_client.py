"""OpenLineage's Python client has a class for each part of our events."""

from __future__ import annotations

import json

import pytest
from consumers.attrs_classes import UnreadableError, read
from consumers.every_event import every_event, golden_and_emitted, without_empty
from openlineage.client.serde import Serde
from openlineage_client import needs_newest_client

pytestmark = needs_newest_client


def test_every_event_is_made_of_the_clients_classes() -> None:
    """Read into the classes and written again, each event is the same, except for empty lists."""
    assert len(every_event()) > 400
    for name, event in every_event().items():
        assert without_empty(Serde.to_dict(read(event))) == without_empty(event), name


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("eventTime",), "yesterday"),
        (("eventType",), "DONE"),
        (("run", "runId"), "7"),
        (("job", "facets", "jobType", "kind"), "BATCH"),
        (("outputs", 0, "facets", "columnLineage", "fields", "revenue", "inputFields", 0, "columns"), []),
        (("run", "facets", "parent", "_schemaURL"), "https://openlineage.io/ParentRunFacet"),
    ],
)
def test_a_wrong_event_is_refused(path: tuple[str | int, ...], value: object) -> None:
    """The reader of this test is strict: otherwise it proves nothing."""
    event = json.loads(json.dumps(golden_and_emitted()["execution_complete"]))
    part = event
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises((UnreadableError, TypeError, ValueError)):
        read(event)
