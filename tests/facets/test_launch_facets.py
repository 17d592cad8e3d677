from __future__ import annotations

import pytest
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.airflow.launch.application import (
    JAR,
    NOTEBOOK,
    PYTHON,
    SQL,
    Launch,
    LaunchedApplication,
    R,
)
from airflow_provider_spark_lineage.airflow.launch.facets import MAX_APPLICATIONS, launch_facets
from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.facets.launches import LAUNCH

RUN = "018cc778-5000-7a46-aca6-85a986a44f75"


def event(facets: dict[str, object]) -> dict[str, object]:
    return {
        "eventType": "START",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "https://producer.example",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": RUN, "facets": {name: Serde.to_dict(facet) for name, facet in facets.items()}},
        "job": {"namespace": "n", "name": "j", "facets": {}},
        "inputs": [],
        "outputs": [],
    }


def test_all_kinds_of_applications_are_valid():
    kinds = tuple(
        LaunchedApplication(kind, main="m", main_class="c", name="n")
        for kind in (PYTHON, JAR, SQL, R, NOTEBOOK)
    )
    launch = Launch(kinds, service="Livy", run_id="7", page="http://livy/batches/{}")
    assert problems_of(event(launch_facets(launch, with_arguments=True))) == []
    assert problems_of(event(launch_facets(Launch(kinds), with_arguments=True))) == []


def test_an_unknown_kind_is_found():
    """The check above can fail."""
    assert problems_of(event(launch_facets(Launch((LaunchedApplication("cobol"),)), with_arguments=True)))


def test_a_launch_that_could_not_be_read_has_no_facet():
    """A gap has the reason."""
    assert launch_facets(Launch(problems=("why",)), with_arguments=True) == {}


def test_an_event_does_not_grow_with_the_number_of_applications():
    launch = Launch(tuple(LaunchedApplication(PYTHON) for _ in range(MAX_APPLICATIONS + 1)))
    assert len(launch_facets(launch, with_arguments=True)[LAUNCH].applications) == MAX_APPLICATIONS


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (("--password", "hunter2"), "--password ***"),
        (("--password", "hunter 2", "x y"), "--password *** 'x y'"),
        (("--password=hunter2", "x"), "--password=*** x"),
        (
            ("--db", "jdbc:postgresql://db/s?user=a&password=hunter2"),
            "--db jdbc:postgresql://db/s?user=a&password=***",
        ),
        (("-k", "AKIA" + "IOSFODNN7EXAMPLE"), "-k ***"),
        (("--api-key", "hunter2", "--dry-run", "a b"), "--api-key *** --dry-run 'a b'"),
        ((None, "it's"), "*** 'it'\"'\"'s'"),
    ],
)
def test_secrets_among_arguments_are_masked(arguments, written):
    launch = Launch((LaunchedApplication(PYTHON, arguments=arguments),))
    [entry] = launch_facets(launch, with_arguments=True)[LAUNCH].applications
    assert entry.arguments == written


def test_secrets_in_a_files_address_are_masked():
    [entry] = launch_facets(
        Launch((LaunchedApplication(PYTHON, "s3a://AK:hunter2@b/a.py"),)), with_arguments=True
    )[LAUNCH].applications
    assert entry.main == "s3a://***@b/a.py"
