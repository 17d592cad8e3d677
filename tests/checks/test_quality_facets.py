"""Facets of what checks found: where they stand, and what is left out of them."""

from __future__ import annotations

from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import output_statistics_output_dataset, symlinks_dataset
from openlineage.client.serde import Serde
from openlineage_client import needs_fields_of_results

from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, ColumnMetrics, Findings, Metrics
from airflow_provider_spark_lineage.spark.facets.quality import MAX_ASSERTIONS, add_findings

pytestmark = needs_fields_of_results

FOUND = Assertion("min", True, "id.min", "accepted_range", column="id", expected=">=1", actual="1")


def read(name, table=""):
    facets = {}
    if table:
        link = symlinks_dataset.Identifier("file:/warehouse", table, "TABLE")
        facets["symlinks"] = symlinks_dataset.SymlinksDatasetFacet([link])
    return InputDataset(namespace="file", name=name, facets=facets)


def assertions(dataset, kind="inputFacets"):
    facet = (getattr(dataset, kind) or {}).get("dataQualityAssertions")
    return [] if facet is None else facet.assertions


def test_a_result_stands_at_the_dataset_that_was_checked():
    """Found by its path, or by the name of the table; in both kinds of facets, since consumers read one."""
    inputs = [read("/data/orders", "default.orders"), read("/data/people")]
    findings = [
        Findings((FOUND,), of_dataset="orders"),
        Findings((FOUND,), of_dataset="spark_catalog.default.orders"),
        Findings((FOUND,), of_dataset="file:///data/people"),
    ]
    facets = add_findings(inputs, findings, "full")
    assert len(assertions(inputs[0])) == 1
    assert len(assertions(inputs[1])) == 1
    assert assertions(inputs[0], "facets") == assertions(inputs[0])
    assert [test.name for test in facets["test"].tests] == ["id.min"], "of another catalog's table"


def test_a_result_of_no_single_dataset_stands_at_the_run():
    """A view or a query is not its input, and a dataset that is missing must not be made by an assertion."""
    inputs = [read("/data/orders")]
    findings = [
        Findings((FOUND,)),
        Findings((FOUND,), of_dataset="view_of_orders"),
        Findings((FOUND,), of_dataset="orders", is_skipped=True),
    ]
    tests = add_findings(inputs, findings, "full")["test"].tests
    assert [test.status for test in tests] == ["pass", "pass", "skip"], "each its own"
    assert tests[0].params == {"tested_column": "id"}
    assert not assertions(inputs[0])


def test_a_skipped_check_stands_at_the_run_and_others_at_the_dataset():
    """An assertion must be true or false. So of an input, and of an output."""
    skipped = Assertion("max", True, "discount.max", "accepted_range", column="discount", is_skipped=True)
    inputs, outputs = [read("/data/orders")], [OutputDataset(namespace="file", name="/data/copy")]
    findings = [
        Findings((FOUND, skipped), of_dataset="/data/orders"),
        Findings((FOUND, skipped), output=("file", "/data/copy")),
    ]
    tests = add_findings(inputs, findings, "full", outputs)["test"].tests
    assert [(test.name, test.status) for test in tests] == [("discount.max", "skip")] * 2
    assert [each.assertion for each in assertions(inputs[0])] == ["min"]
    assert [each.assertion for each in assertions(outputs[0], "facets")] == ["min"]


def test_a_statement_stands_at_its_only_input():
    """With more inputs, nobody knows which one it is about."""
    statement = Findings((FOUND,), is_statement=True)
    one, two = [read("/data/orders")], [read("/data/orders"), read("/data/people")]
    assert add_findings(one, [statement], "full") == {}
    assert assertions(one[0])
    assert add_findings(two, [statement], "full")["test"].tests


def test_no_text_of_a_row_and_no_literal_is_in_a_facet():
    """A text column's lowest value is somebody's; literals obey `sql_text`."""
    text = Assertion(
        "min",
        True,
        "name.min",
        "accepted_range",
        column="name",
        expected=">=Bob",
        actual="Cid",
        content="min(name)",
        params={"geq_to": "Bob"},
        clauses={"partition_clause": "city = 'Rome'"},
        has_text_of_rows=True,
        has_text_of_author=True,
    )
    for sql_text, hidden in (("masked", ("Bob", "Cid", "Rome")), ("none", ("Bob", "Cid", "Rome", "city"))):
        inputs = [read("/data/people")]
        add_findings(inputs, [Findings((text,), of_dataset="/data/people")], sql_text)
        written = str(Serde.to_json(inputs[0]))
        assert not [word for word in hidden if word in written]
        assert '"withheld": "text"' in written
    inputs = [read("/data/people")]
    add_findings(inputs, [Findings((text,), of_dataset="/data/people")], "full")
    assert "Cid" not in str(Serde.to_json(inputs[0]))
    assert "Rome" in str(Serde.to_json(inputs[0]))


def test_reported_results_stand_at_what_was_read_or_written():
    """By the name of a table or path, or by an OpenLineage dataset; another name is at the run."""
    inputs = [read("/data/orders", "default.orders")]
    outputs = [OutputDataset(namespace="file", name="/data/copy")]
    findings = [
        Findings((FOUND,), of_dataset=name, output=exact, is_reported=True)
        for name, exact in (
            ("orders", None),
            ("/data/copy", None),
            ("/data/copy", ("file", "/data/copy")),
            ("nowhere", None),
        )
    ]
    facets = add_findings(inputs, findings, "full", outputs)
    assert len(assertions(inputs[0])) == 1
    assert [each.assertion for each in assertions(outputs[0], "facets")] == ["min"]
    assert len(facets["test"].tests) == 1


def test_failed_results_come_first_if_a_facet_is_full():
    """So that no failure is lost."""
    many = tuple(Assertion(f"rule {n}", n > 0, f"rule {n}", "rule") for n in range(MAX_ASSERTIONS, -1, -1))
    inputs = [read("/data/orders")]
    add_findings(inputs, [Findings(many, of_dataset="/data/orders")], "full")
    kept = assertions(inputs[0])
    assert len(kept) == MAX_ASSERTIONS
    assert kept[0].assertion == "rule 0"


def test_measured_numbers_are_metrics_of_the_dataset():
    """What is unknown is absent."""
    metrics = Metrics(4, {"id": ColumnMetrics(nulls=1, values=3, min=1.0)})
    inputs = [read("/data/orders")]
    add_findings(inputs, [Findings((FOUND,), metrics, "/data/orders")], "full")
    facet = Serde.to_dict(inputs[0])["inputFacets"]["dataQualityMetrics"]
    assert facet["rowCount"] == 4
    assert facet["columnMetrics"] == {"id": {"nullCount": 1, "count": 3, "min": 1.0}}


def written(rows):
    statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=rows)
    return OutputDataset(
        namespace="file", name="/data/out", outputFacets={"outputStatistics": statistics}, facets={}
    )


def test_metrics_without_checks_are_no_assertions():
    """A program observed the rows: nothing was compared with a limit."""
    inputs, outputs = [read("/data/orders")], [written(4)]
    findings = [
        Findings((), Metrics(4), output=(each.namespace, each.name), is_reported=each in inputs)
        for each in (*inputs, *outputs)
    ]
    assert add_findings(inputs, findings, "full", outputs) == {}
    assert inputs[0].inputFacets.keys() == {"dataQualityMetrics"}
    assert outputs[0].facets.keys() == {"dataQualityMetrics"}


def test_metrics_of_a_write_are_left_out_if_the_dataset_has_other_rows():
    """A later write of the task added some, which nobody measured."""
    outputs = [written(9)]
    findings = Findings((FOUND,), Metrics(4), output=("file", "/data/out"))
    add_findings([], [findings], "full", outputs)
    assert outputs[0].facets.keys() == {"dataQualityAssertions"}
