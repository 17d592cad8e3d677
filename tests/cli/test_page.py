"""The page of a lineage, from its JSON document."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.cli.page import cut, page


def edge(column: str | None, name: str, field: str, kind: str = "DIRECT IDENTITY") -> dict[str, Any]:
    direct, _, subtype = kind.partition(" ")
    source = {"namespace": "file", "name": name}
    return {
        "column": column,
        "source": source,
        "field": field,
        "part": None,
        "type": direct,
        "subtype": subtype,
        "masking": False,
    }


def output(name: str, *edges: dict[str, Any], columns: str = "", mode: str = "append") -> dict[str, Any]:
    fields = [{"name": column, "type": ""} for column in columns.split()]
    return {
        "namespace": "file",
        "name": name,
        "mode": mode,
        "fields": fields,
        "statistics": {"rows": 1},
        "edges": edges,
    }


def gap(reason: str, output: str | None = None, column: str | None = None) -> dict[str, Any]:
    named = {"namespace": "file", "name": output} if output else None
    return {"where": "line 1", "reason": reason, "output": named, "column": column}


def lineage(*outputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"inputs": [], "outputs": outputs, "gaps": [], "failures": [], **more}


def test_a_source_is_named_once_with_all_its_kinds() -> None:
    """A column that both gives the value and decides about it is one source, not two."""
    both = (
        edge("total", "/in", "amount", "DIRECT AGGREGATION"),
        edge("total", "/in", "amount", "INDIRECT WINDOW"),
    )
    also = edge("total", "/in", "amount", "INDIRECT CONDITIONAL"), edge("total", "/in", "n")
    assert (
        page(lineage(output("/out", *both, *also, columns="total one")))
        == """\
writes  file /out   append   1 row
  one   <- (no column of an input)
  total <- in.amount   direct aggregation, indirect window, conditional
        <- in.n        direct identity
"""
    )


def test_gaps_are_listed_under_their_output() -> None:
    """A gap about one column of one output does not concern the others."""
    gaps = [gap("where x comes from", "/b", "x"), gap("of all"), gap("of nothing written", "/c")]
    text = page(lineage(output("/a", columns="x"), output("/b", columns="x"), gaps=gaps))
    assert (
        text
        == """\
writes  file /a   append   1 row
  x <- (no column of an input)

writes  file /b   append   1 row
  x <- (not known)
  gap     line 1 -> x   where x comes from

gap     line 1   of all
gap     line 1 -> file /c   of nothing written
"""
    )


def test_failed_writes_are_told_apart_by_their_targets() -> None:
    """Several writes of a script may fail in the same way: each line names the dataset that it is about."""
    gaps = [gap("the write failed", "/a"), gap("the write failed", "/b"), gap("no source", "/b", "x")]
    assert (
        page(lineage(gaps=gaps))
        == """\
gap     line 1 -> file /a   the write failed
gap     line 1 -> file /b   the write failed
gap     line 1 -> file /b.x   no source
"""
    )


def test_an_output_without_columns_has_a_headline_alone() -> None:
    """The text of a job often names an output without the sources of its columns."""
    text = page(lineage(output("/a"), output("/b", columns="x", mode="drop")))
    assert text == "writes  file /a   append   1 row\n\nwrites  file /b   drop   1 row\n"


def test_a_long_text_is_cut_with_an_ellipsis() -> None:
    """A reader sees that there is more."""
    fields = [{"name": f"column_{number}", "type": "string"} for number in range(30)]
    read = {"namespace": "file", "name": "/in", "fields": fields, "statistics": {}}
    failure = {"error_class": "E", "sql_state": "", "message": "one\ntwo", "execution": "execution 1"}
    first, empty, failed = page(lineage(inputs=[read], failures=[failure])).splitlines()
    assert first.endswith(", column_8 string, … 21 more columns")
    assert (empty, failed) == ("", "failed  execution 1   E: one …")
    assert cut("select  a,\n b", 9) == "select a…"


def test_an_empty_lineage_has_a_sentence() -> None:
    """An empty page would look like a mistake."""
    assert page(lineage()) == "Spark read and wrote no dataset.\n"
