"""Every kind of column edge, from SQL to the columnLineage facet of the event, on a real Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.lineage.model import Kind

pytestmark = pytest.mark.spark

PLACE = Path(__file__).resolve().parent


def edges_of(line):
    """Read `x <- t.a IDENTITY CONDITIONAL, t.b FILTER masking` as a set of single edges."""
    column, _, fields = line.partition("<-")
    for text in fields.split(","):
        field, *kinds = text.split()
        masking = "masking" in kinds
        yield from ((column.strip(), field, kind, masking) for kind in kinds if kind != "masking")


def cases():
    """Return (name, query, edges) of each paragraph of the text file."""
    paragraphs = []
    for paragraph in (PLACE / "column_kinds.txt").read_text(encoding="utf-8").split("\n\n")[1:]:
        name, query, *lines = paragraph.strip().splitlines()
        paragraphs.append((name.strip("[]"), query, {edge for line in lines for edge in edges_of(line)}))
    return paragraphs


def carried(output):
    """Return the edges of an event's output, as its columnLineage facet has them."""
    facet = output["facets"]["columnLineage"]
    fields = {column: entry["inputFields"] for column, entry in facet["fields"].items()}
    fields["*"] = facet.get("dataset", [])
    return {
        (column, f"{use['name'].rsplit('/', 1)[-1]}.{use['field']}", step["subtype"], step["masking"])
        for column, used in fields.items()
        for use in used
        for step in use["transformations"]
    }


@pytest.fixture(scope="module")
def captured(spark, tmp_path_factory):
    """Run all queries in one capture, each into a folder of its own."""
    folder = tmp_path_factory.mktemp("tables")
    columns = "1 as a, 2 as b, 3 as c, 's t' as s, named_struct('x', 1) as st"
    for table, query in {"t": f"select {columns}", "u": "select 1 as a, 4 as d"}.items():
        spark.sql(query).write.parquet(f"{folder}/{table}")
        spark.read.parquet(f"{folder}/{table}").createOrReplaceTempView(table)
    with capture_lineage(spark) as captured:
        for name, query, _ in cases():
            spark.sql(query).write.parquet(f"{folder}/{name}")
    return captured


@pytest.fixture(scope="module")
def outputs(captured):
    """Return the outputs of the last event, that of the whole run, by the names of the cases."""
    return {dataset["name"].rsplit("/", 1)[-1]: dataset for dataset in captured.events()[-1]["outputs"]}


@pytest.mark.parametrize(("name", "edges"), [(name, edges) for name, _, edges in cases()])
def test_edges_of_query(outputs, name, edges):
    """The columnLineage of an event has exactly the edges that the table in docs/rules.md promises."""
    assert carried(outputs[name]) == edges


def test_no_query_is_a_gap(captured):
    """Every edge of these queries is in the plan."""
    assert not captured.lineage.gaps


def test_every_kind_is_among_the_cases():
    """A kind of edge without a case would be promised and not shown."""
    shown = {kind for _, _, edges in cases() for _, _, kind, _ in edges}
    assert shown == {kind.subtype for kind in Kind}
