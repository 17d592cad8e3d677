"""Explain texts of Spark's default mode: an omitted part has no edge, and a gap."""

from __future__ import annotations

import json

import pytest
from gap_kinds import gap_kinds

from airflow_provider_spark_lineage.spark.event_log.executions import LoggedApplication
from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage

SCAN = """(1) Scan parquet
Output [3]: [a#1, b#2L, note#3]
Batched: true
Location: InMemoryFileIndex [file:/in]
ReadSchema: struct<a:int,b:bigint,note:string>"""

OTHER = """(2) Scan csv
Output [2]: [k#7, v#8]
Batched: false
Location: InMemoryFileIndex [file:/other]
ReadSchema: struct<k:int,v:int>"""


def plan(*operators: str, names: str, inputs: str, subqueries: str = "") -> str:
    """Return the text of a write above a chain of operators, the lowest first."""
    write = len(operators) + 1
    heads = [operator.partition("\n")[0].partition(") ")[2] for operator in operators]
    lines = [f"{head} ({number})" for number, head in enumerate(heads, 1)]
    lines += [f"WriteFiles ({write})", f"Execute InsertIntoHadoopFsRelationCommand ({write + 1})"]
    tree = "\n".join(
        f"{'   ' * (depth - 1)}{'+- ' if depth else ''}{line}" for depth, line in enumerate(reversed(lines))
    )
    details = [
        *operators,
        f"({write}) WriteFiles\nInput: [{inputs}]",
        f"({write + 1}) Execute InsertIntoHadoopFsRelationCommand\nInput: []\n"
        f"Arguments: file:/out, false, Parquet, [path=/out], Append, [{names}]",
    ]
    return f"== Physical Plan ==\n{tree}\n\n\n" + "\n\n".join(details) + "\n\n" + subqueries


def read(text: str, metrics: list[dict[str, str]] | None = None) -> Lineage:
    record = Record(
        application_id="local-1",
        application_name="app",
        spark_version="4.1.4",
        number=1,
        name="command",
        started_at="2024-01-01T00:00:00+00:00",
        ended_at="2024-01-01T00:00:01+00:00",
        outcome="success",
        plan_kind="explain",
        explain=text,
        metrics=metrics or [],
    )
    return execution_lineage(record).lineage


def edges(lineage: Lineage) -> set[str]:
    (output,) = lineage.outputs
    return {
        f"{edge.column} <- {edge.source.name.strip('/')}.{edge.field} {edge.kind.name}"
        for edge in output.edges
    }


def test_an_operator_that_is_not_known_has_no_edges_of_its_own() -> None:
    """Columns that keep their ids are the same values; where the others come from is not known."""
    unknown = "(2) Sketch\nInput [3]: [a#1, b#2L, note#3]\nArguments: secret, [x#9]"
    lineage = read(plan(SCAN, unknown, names="a, x", inputs="a#1, x#9"))
    assert edges(lineage) == {"a <- in.a IDENTITY"}
    assert gap_kinds(lineage) == ["missing_detail", "missing_detail"]


def test_a_list_that_spark_cut_has_no_edges_for_columns_behind_the_cut() -> None:
    """The columns behind the cut are not guessed from the first ones."""
    window = (
        "(2) Window\nInput [3]: [a#1, b#2L, note#3]\nArguments: [rank(a#1) windowspecdefinition(note#3,"
        " a#1 ASC NULLS FIRST, specifiedwindowframe(RowFrame, unboundedpreceding$(), currentrow$())) AS r#9,"
        " ... 1 more fields], [note#3], [a#1 ASC NULLS FIRST]"
    )
    lineage = read(plan(SCAN, window, names="a, r, s", inputs="a#1, r#9, s#10"))
    assert edges(lineage) == {"a <- in.a IDENTITY"}
    assert "missing_detail" in gap_kinds(lineage)


def test_names_that_spark_cut_are_those_of_the_rows() -> None:
    """The list of names has a limit, the columns of the rows have none."""
    lineage = read(plan(SCAN, names="a, ... 1 more fields", inputs="a#1, b#2L, note#3"))
    assert edges(lineage) == {"a <- in.a IDENTITY", "b <- in.b IDENTITY", "note <- in.note IDENTITY"}
    assert gap_kinds(lineage) == []
    project = "(2) Project\nOutput [2]: [a#1, b#2L]\nInput [3]: [a#1, b#2L, note#3]"
    renamed = read(plan(SCAN, project, names="x, ... 1 more fields", inputs="a#1, b#2L"))
    assert edges(renamed) == set()
    assert "missing_detail" in gap_kinds(renamed)


def test_columns_are_written_under_the_names_of_the_write() -> None:
    """The optimizer drops an alias that only renames."""
    project = "(2) Project\nOutput [2]: [b#2L, note#3]\nInput [3]: [a#1, b#2L, note#3]"
    lineage = read(plan(SCAN, project, names="total, note", inputs="b#2L, note#3"))
    assert edges(lineage) == {"total <- in.b IDENTITY", "note <- in.note IDENTITY"}
    odd = read(plan(SCAN, project, names="total, and more, note", inputs="b#2L, note#3"))
    assert edges(odd) == set()
    assert "missing_detail" in gap_kinds(odd)


def joined(kind: str, *, left_filter: str = "isnotnull(a#1)") -> str:
    return f"""== Physical Plan ==
Execute InsertIntoHadoopFsRelationCommand (6)
+- WriteFiles (5)
   +- * BroadcastHashJoin {kind} BuildRight (4)
      :- * Filter (3)
      :  +- Scan parquet  (1)
      +- Scan csv  (2)


{SCAN}

{OTHER}

(3) Filter [codegen id : 1]
Input [3]: [a#1, b#2L, note#3]
Condition : {left_filter}

(4) BroadcastHashJoin [codegen id : 1]
Left keys [1]: [a#1]
Right keys [1]: [k#7]
Join type: {kind}
Join condition: None

(5) WriteFiles
Input [1]: [note#3]

(6) Execute InsertIntoHadoopFsRelationCommand
Input: []
Arguments: file:/out, false, Parquet, [path=/out], Append, [note, x, y, z, w]
"""


def test_a_not_null_check_of_a_key_is_not_a_filter_of_the_query() -> None:
    """The optimizer adds it below every inner join."""
    result = edges(read(joined("Inner").replace("[note, x, y, z, w]", "[a, b, note, k, v]")))
    assert "note <- in.note IDENTITY" in result
    assert {edge for edge in result if edge.startswith(" ")} == {" <- in.a JOIN", " <- other.k JOIN"}
    text = joined("Inner", left_filter="(isnotnull(b#2L) AND (isnotnull(a#1) AND (b#2L > 3)))")
    result = edges(read(text.replace("[note, x, y, z, w]", "[a, b, note, k, v]")))
    assert {edge for edge in result if edge.startswith(" ")} == {
        " <- in.a JOIN",
        " <- other.k JOIN",
        " <- in.b FILTER",
    }


def test_an_exists_that_is_a_value_acts_on_that_value_alone() -> None:
    """Spark makes an ExistenceJoin of it, which leaves out no row."""
    text = joined("ExistenceJoin(exists#9)").replace("[note, x, y, z, w]", "[a, b, note, found]")
    assert edges(read(text)) == {
        "a <- in.a IDENTITY",
        "b <- in.b IDENTITY",
        "note <- in.note IDENTITY",
        "found <- in.a FILTER",
        "found <- other.k FILTER",
    }


def test_several_folders_have_names_where_the_metrics_name_them() -> None:
    """The text has the first of several folders alone."""
    text = plan(
        SCAN.replace("[file:/in]", "[file:/a, ... 1 entries]"), names="a, b, note", inputs="a#1, b#2L, note#3"
    )
    assert [read.dataset.id.name for read in read(text).inputs] == []
    assert "unnamed_dataset" in gap_kinds(read(text))
    metrics = [{"node": "Scan parquet", "location": "InMemoryFileIndex(2 paths)[file:/a, file:/b]"}]
    assert [read.dataset.id.name for read in read(text, metrics=metrics).inputs] == ["/a", "/b"]
    cut = [{"node": "Scan parquet", "location": "InMemoryFileIndex(2 paths)[file:/a, ...]"}]
    assert [read.dataset.id.name for read in read(text, metrics=cut).inputs] == []


def test_a_scan_without_columns_has_a_name() -> None:
    """`count()` reads no column."""
    scan = SCAN.replace("[3]: [a#1, b#2L, note#3]", ": []").replace("Output :", "Output:")
    project = "(2) Project\nOutput [1]: [1 AS one#9]\nInput: []"
    lineage = read(plan(scan, project, names="one", inputs="one#9"))
    assert [read.dataset.id.name for read in lineage.inputs] == ["/in"]
    assert [field.name for field in lineage.inputs[0].dataset.fields] == []


def test_metadata_of_a_file_are_not_its_columns() -> None:
    """The scan gives the size of each row's file, which is not in the schema that it reads."""
    scan = SCAN.replace("[3]: [a#1,", "[4]: [file_size#4L, a#1,")
    lineage = read(plan(scan, names="size, a, b, note", inputs="file_size#4L, a#1, b#2L, note#3"))
    assert "size <- in.file_size IDENTITY" not in edges(lineage)
    assert "a <- in.a IDENTITY" in edges(lineage)
    assert [field.name for field in lineage.inputs[0].dataset.fields] == ["a", "b", "note"]


SUBQUERY = """===== Subqueries =====

Subquery:1 Hosting operator id = 2 Hosting Expression = Subquery subquery#5, [id=#9]
* Project (11)
+- Scan csv  (10)


(10) Scan csv
Output [2]: [k#7, v#8]
Location: InMemoryFileIndex [file:/other]
ReadSchema: struct<k:int,v:int>

(11) Project [codegen id : 1]
Output [1]: [max(v#8) AS top#12]
Input [2]: [k#7, v#8]
"""


@pytest.mark.parametrize("name", ["subquery#5", "scalar-subquery#5"])
def test_the_plan_of_a_subquery_stands_behind_the_others(name: str) -> None:
    """Without it nothing is known of the columns that the operator computes; its name differs by version."""
    project = f"(2) Project\nOutput [2]: [a#1, Subquery {name}, [id=#9] AS top#13]\nInput [1]: [a#1]"
    subquery = SUBQUERY.replace("subquery#5", name)
    whole = plan(SCAN, project, names="a, top", inputs="a#1, top#13", subqueries=subquery)
    assert edges(read(whole)) == {"a <- in.a IDENTITY", "top <- other.v AGGREGATION"}
    without = plan(SCAN, project, names="a, top", inputs="a#1, top#13")
    assert edges(read(without)) == {"a <- in.a IDENTITY"}
    assert "missing_detail" in gap_kinds(read(without))


def test_a_text_without_the_details_of_an_operator_has_no_plan() -> None:
    """Spark cuts a text that is longer than `spark.sql.maxPlanStringLength`."""
    text = plan(SCAN, names="a, b, note", inputs="a#1, b#2L, note#3")
    cut = read(text[: text.index("(2) WriteFiles")])
    assert not cut.outputs
    assert "unread_text" in gap_kinds(cut)


def test_a_batch_of_a_stream_says_that_its_sink_is_missing() -> None:
    """The physical plan of a batch has its rows alone; the description shows that it is a batch."""
    sql = "org.apache.spark.sql.execution.ui.SparkListener"
    batch = (
        "\nid = 8d28d241-fc08-41f4-9092-4a5baac54bf5\nrunId = 240369be-cb4f-49e4-93c0-214b1ce2dfc6\nbatch = 0"
    )
    events: list[dict[str, object]] = [
        {
            "Event": f"{sql}SQLExecutionStart",
            "executionId": 1,
            "description": batch,
            "physicalPlanDescription": f"== Physical Plan ==\nScan parquet (1)\n\n\n{SCAN}\n",
            "time": 1,
        },
        {"Event": f"{sql}SQLExecutionEnd", "executionId": 1, "time": 2},
    ]
    lines = [json.dumps(event, separators=(",", ":")).encode() for event in events]
    (record,) = LoggedApplication().records(lines, [])
    lineage = execution_lineage(record).lineage
    assert [read.dataset.id.name for read in lineage.inputs] == ["/in"]
    assert "missing_detail" in gap_kinds(lineage)
    assert record.stream_run == "240369be-cb4f-49e4-93c0-214b1ce2dfc6"
