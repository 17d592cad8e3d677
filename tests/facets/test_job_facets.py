from __future__ import annotations

import sys
from dataclasses import replace

from openlineage.client.event_v2 import Dataset
from openlineage.client.serde import Serde
from openlineage_client import needs_newest_client

from airflow_provider_spark_lineage.spark.facets.jobs import lineage_job_facets, sql_facet, with_entries
from airflow_provider_spark_lineage.spark.lineage.model import Lineage

pytestmark = needs_newest_client


def entries(lineage: Lineage) -> list[dict]:
    return Serde.to_dict(lineage_job_facets(lineage)["lineage"])["entries"]


def test_two_independent_copies_stay_two_edges(copies):
    """Inputs a, b beside outputs x, y would read as four edges; the explicit facet lists the two."""
    fed = [(e["name"], [i["name"] for i in e["inputs"]]) for e in entries(copies)]
    assert fed == [("/x", ["/a"]), ("/y", ["/b"])]
    of_columns = [[i["name"] for i in e["fields"]["k"]["inputs"]] for e in entries(copies)]
    assert of_columns == [["/a"], ["/b"]]


def test_each_input_stands_whole_and_then_by_the_fields_that_act_on_all_rows(totals):
    (entry,) = entries(totals)
    assert (entry["namespace"], entry["name"], entry["type"]) == ("file", "/out/totals", "DATASET")
    assert [
        (i["name"], i.get("field"), [t["subtype"] for t in i.get("transformations", [])])
        for i in entry["inputs"]
    ] == [
        ("/in/orders", None, []),
        ("in/customers", None, []),
        ("/in/orders", "customer", ["JOIN", "GROUP_BY"]),
        ("in/customers", "id", ["JOIN"]),
    ]


def test_a_field_keeps_everything_that_was_done_to_it(totals):
    (entry,) = entries(totals)
    (read,) = entry["fields"]["total"]["inputs"]
    assert read["field"] == "amount"
    assert [t["subtype"] for t in read["transformations"]] == ["AGGREGATION", "CONDITIONAL"]
    assert entry["fields"]["password"]["inputs"][0]["transformations"][0]["masking"] is True


def test_an_input_known_only_from_an_edge_is_an_input(copies):
    """The model's list of inputs may be shorter than its edges; no edge may start at an unlisted input."""
    lineage = replace(copies, outputs=(replace(copies.outputs[0], inputs=()),))
    assert [i["name"] for i in entries(lineage)[0]["inputs"]] == ["/a"]


def test_an_output_made_from_nothing_says_so(copies):
    """The spec reads an empty list as "no upstream", a missing one as "not known"."""
    lineage = replace(copies, outputs=(replace(copies.outputs[0], inputs=(), edges=()),))
    assert entries(lineage)[0]["inputs"] == []


def test_an_added_output_without_a_known_source_has_no_entry(copies):
    """Nobody knows that it was made from nothing."""
    report, rates = Dataset("file", "/report"), Dataset("file", "/rates")
    facets = lineage_job_facets(copies)
    for reads, expected in (([], ["/x", "/y"]), ([rates], ["/x", "/y", "/report"])):
        entries_with = with_entries(facets, [(report, reads)])["lineage"].entries
        assert [entry.name for entry in entries_with] == expected


def test_nothing_written_gives_no_facet(copies):
    assert lineage_job_facets(replace(copies, outputs=())) == {}


def test_an_older_client_without_this_facet_does_without_it(copies, monkeypatch):
    monkeypatch.setitem(sys.modules, "openlineage.client.generated.lineage", None)
    monkeypatch.delattr("openlineage.client.generated.lineage", raising=False)
    assert lineage_job_facets(copies) == {}


def test_each_call_builds_facets_of_its_own(copies):
    first, second = lineage_job_facets(copies)["lineage"], lineage_job_facets(copies)["lineage"]
    assert first == second
    assert first is not second
    assert first.entries[0].inputs[0] is not second.entries[0].inputs[0]


def test_sql_is_named_as_sparks_and_absent_without_a_statement():
    assert sql_facet("SELECT 1")["sql"].query == "SELECT 1"
    assert sql_facet("SELECT 1")["sql"].dialect == "spark"
    assert sql_facet("") == {}
