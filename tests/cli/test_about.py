"""The lines of `explain` about applications: from the facets of any event, and never an error."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.cli.about import about

FACETS = {
    "spark_applicationDetails": {"applicationId": "application_1", "master": "yarn"},
    "sparkLineage_application": {
        "applications": [
            {
                "applicationId": "application_1",
                "name": "load",
                "sparkVersion": "4.1.4",
                "links": ["http://history:18080/history/application_1", "http://driver:4040"],
            }
        ]
    },
    "sparkLineage_resources": {
        "applications": [
            {
                "applicationId": "application_1",
                "tasks": 1204,
                "runMs": 95_400,
                "cores": 16,
                "inputBytes": 3_500_000_000,
                "outputBytes": 2048,
                "shuffleWrittenBytes": 0,
                "diskSpilledBytes": 1024,
            }
        ]
    },
    "sparkLineage_streams": {
        "queries": [
            {
                "name": "copy",
                "outcome": "failure",
                "errorClass": "E",
                "batches": 1,
                "rows": 1200,
                "processedRowsPerSecond": 60.5,
                "sources": [{"lag": {"maxBehind": 4.0}}],
            },
            {"id": "658aeef2", "outcome": "running", "batches": 0, "rows": 0},
        ]
    },
    "sparkLineage_bottlenecks": {
        "bottlenecks": [{"kind": "spill", "message": "Stage 7 wrote 1.0 KiB to local disks."}]
    },
}

PAGE = """
app     load   application_1   Spark 4.1.4 on yarn   http://history:18080/history/application_1
used    1,204 tasks, 95 s on 16 cores   read 3.3 GiB, wrote 2.0 KiB   shuffled 0 B   spilled 1.0 KiB
stream  copy   failure E   1 batch, 1,200 rows   60 rows/s in the last batch   maxBehind 4
stream  658aeef2   running   0 batches, 0 rows
slow    spill   Stage 7 wrote 1.0 KiB to local disks.
"""


def test_a_reader_sees_where_it_ran_what_it_used_and_what_was_slow():
    """The questions of a night shift, without reading JSON."""
    assert about(FACETS) == PAGE


@pytest.mark.parametrize(
    "facets",
    [
        {},
        {"sparkLineage_application": [], "sparkLineage_resources": {"applications": 3}},
        {"sparkLineage_bottlenecks": {"bottlenecks": [3, None]}},
        {"sparkLineage_resources": {"applications": [{"tasks": "many"}]}},
        {"sparkLineage_streams": {"queries": [{"batches": "many", "rows": 1}, 3]}},
    ],
)
def test_foreign_values_are_left_out(facets):
    """Events come from outside: what is not a facet of ours has no line."""
    assert about(facets) == ""


@pytest.mark.parametrize(("has_ended", "shown"), [(False, "   http://driver:4040"), (True, "")])
def test_the_page_of_a_driver_is_not_named_after_the_end(has_ended, shown):
    """Nothing answers there any more; the page of a history server stays."""
    application = {
        "applicationId": "local-1",
        "name": "load",
        "sparkVersion": "4.1.4",
        "links": ["http://driver:4040"],
    }
    facets = {
        "spark_applicationDetails": {"applicationId": "local-1", "master": "local[2]"},
        "sparkLineage_application": {"applications": [application]},
    }
    assert (
        about(facets, has_ended=has_ended) == f"\napp     load   local-1   Spark 4.1.4 on local[2]{shown}\n"
    )
    assert about(FACETS, has_ended=has_ended) == PAGE
