"""Reading Spark's explain text: expressions, and the limits of guessing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from scan_columns import name_of

from airflow_provider_spark_lineage.spark.lineage.columns import evaluate
from airflow_provider_spark_lineage.spark.plan.spark.explain import read_explain
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import Columns
from airflow_provider_spark_lineage.spark.plan.spark.explain.expressions import END, ExplainReader
from airflow_provider_spark_lineage.spark.plan.spark.explain.physical import listed_paths
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError, draw
from airflow_provider_spark_lineage.spark.plan.spark.reader import read_plan
from airflow_provider_spark_lineage.spark.plan.spark.tree import children
from airflow_provider_spark_lineage.spark.records.plan_json import simple_name
from airflow_provider_spark_lineage.spark.sources import identify

EXPRESSIONS = (Path(__file__).parent / "explain_expressions.txt").read_text(encoding="utf-8")
PAIRS = [pair.strip("\n").split("\n") for pair in EXPRESSIONS.partition("s#6.\n")[2].split("\n-\n")]


def columns() -> Columns:
    known = Columns()
    for expr_id, name in enumerate(("a", "b", "note", "first name", "a, b#9", "s"), 1):
        known.define(expr_id, name)
    return known


def shown(tree: list[dict[str, Any]]) -> str:
    name = simple_name(tree[0]["class"])
    if name in ("AttributeReference", "NamedLambdaVariable"):
        return f"#{tree[0]['exprId']['id']}"
    if name == "Literal":
        return "_"
    return f"{name}({', '.join(shown(child) for child in children(tree))})"


@pytest.mark.parametrize(("text", "expected"), PAIRS)
def test_an_expression_has_the_structure_that_its_text_shows(text: str, expected: str) -> None:
    """Literals appear in the text without quotes, and may hold brackets; names may hold anything."""
    value = ExplainReader(text, columns()).whole(0, (END,))
    assert shown(value.tree) == expected


@pytest.mark.parametrize("text", ["(note#3 = :))", "concat(note#3, x (, b#2", "(note#3 = a = b#2"])
def test_a_text_that_leaves_its_meaning_open_is_refused(text: str) -> None:
    """Nobody guesses where a literal ends that holds half of a pair of brackets."""
    with pytest.raises(UnreadablePlanError):
        ExplainReader(text, columns()).whole(0, (END,))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("an empty Dataset", "it is not the extended text"),
        ("== Physical Plan ==\nLocalTableScan [a#1]", "it is not the extended text"),
        (
            "== Parsed Logical Plan ==\n'Project ['a]\n\n== Analyzed Logical Plan ==\na: i",
            "it was cut before its end",
        ),
    ],
)
def test_a_text_without_the_analyzed_plan_is_a_gap(text: str, reason: str) -> None:
    """A text of another mode has no columns, and neither has a text that was cut."""
    assert read_explain(text).problems == [f"Spark's explain text has no plan with columns: {reason}"]


def explained(analyzed: str, physical: str = "") -> str:
    return (
        f"== Parsed Logical Plan ==\n'Project\n\n== Analyzed Logical Plan ==\n{analyzed}\n\n"
        f"== Optimized Logical Plan ==\nProject\n\n== Physical Plan ==\n{physical}\n"
    )


WRITE = "InsertIntoHadoopFsRelationCommand file:/out, false, Parquet, [path=/out], Append, [x]\n"


def test_an_unreadable_expression_is_taken_from_every_column_that_it_names() -> None:
    """More edges than the truth and a gap, and never a column that seems to come from nowhere."""
    plan = WRITE + "+- Project [concat(note#3, :)) AS x#9, a#1]\n   +- Relation [a#1,note#3] parquet"
    read = read_explain(explained(plan))
    assert read.problems == [
        "Project: the expression of `x` could not be read: it is taken from every column that it names"
    ]
    (item, plain) = read.plan[1]["projectList"]
    assert shown(item) == "Alias(Function(#3))"
    assert shown(plain) == "#1"


def test_a_column_that_no_node_makes_is_a_gap() -> None:
    """A text of a Spark to come may name columns that no node known today prints."""
    plan = WRITE + "+- Project [x#7]\n   +- OneRowRelation"
    assert read_explain(explained(plan)).problems


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("between(a#1, 1, 2)", {11}),
        ("(between(A#1, 1, 2) AND true)", {11}),
        ("between(a#11, 1, 2)", {11}),
        # The query around has a column of that name too.
        ("between(b#12, 1, outer(a#1))", {12, 1}),
        ("(a#1 = 1)", {1}),
        ("between(c#3, 1, 2)", {3}),
    ],
)
def test_an_argument_of_a_function_finds_its_column_by_name(condition: str, expected: set[int]) -> None:
    """Spark prints the old id where it gave the columns of a relation that it reads twice new ones."""
    plan = (
        f"{WRITE}+- Project [a#1 AS x#9]\n   +- Join Cross\n      :- Relation [a#1,c#3] parquet\n"
        f"      +- Filter {condition}\n         +- Relation [a#11,b#12,c#13,C#14] parquet"
    )
    [used] = [node["condition"] for node in read_explain(explained(plan)).plan if "condition" in node]
    assert set(map(int, re.findall(r'"exprId": {"id": (\d+)', json.dumps(used)))) == expected


def test_a_text_that_was_cut_has_no_plan() -> None:
    """Spark cuts long texts: half a plan would look like a whole one."""
    whole = explained(WRITE + "+- Relation [x#1] parquet")
    read = read_explain(whole[: whole.index("== Physical")])
    assert read.plan == []
    assert "cut" in read.problems[0]


@pytest.mark.parametrize("columns", ["a#1", ""])
def test_a_location_that_was_cut_names_the_setting_that_cures_it(columns: str) -> None:
    """Spark cuts a location after a hundred characters: half a path would be another dataset."""
    scan = (
        f"Execute\n+- FileScan parquet [{columns}] Batched: true, Format: Parquet,"
        " Location: InMemoryFileIndex(1 paths)[file:/a/lo..., PartitionFilters: [], ReadSchema: struct<a:int>"
    )
    read = read_explain(explained(f"{WRITE}+- Relation [a#1] parquet", scan))
    assert [fact for fact in read.facts if fact["node"] == "LogicalRelation"] == []
    [problem] = read.problems
    assert problem.endswith("its location was cut: set spark.sql.maxMetadataStringLength higher")


def test_a_relation_is_named_by_the_scan_with_its_columns() -> None:
    """Two relations without names of their own differ by the ids of their columns alone."""
    scans = (
        "Execute\n+- Join\n   :- FileScan parquet [b#2] Batched: true, Format: Parquet,"
        " Location: InMemoryFileIndex(1 paths)[file:/two], PartitionFilters: [], ReadSchema: struct<b:int>\n"
        "   +- FileScan parquet [a#1] Batched: true, Format: Parquet,"
        " Location: InMemoryFileIndex(1 paths)[file:/one], PartitionFilters: [], ReadSchema: struct<a:int>"
    )
    plan = (
        f"{WRITE}+- Project [a#1 AS x#3]\n   +- Join Inner, (a#1 = b#2)\n"
        "      :- Relation [a#1] parquet\n      +- Relation [b#2] parquet"
    )
    read = read_explain(explained(plan, scans))
    paths = {entry["expr_id"]: entry["probed"]["paths"] for entry in read.facts if entry["expr_id"]}
    assert paths == {1: ["file:/one"], 2: ["file:/two"]}


def test_two_relations_that_no_id_tells_apart_have_no_name() -> None:
    """The optimizer copies plans under new ids; which of two alike a scan belongs to is not guessed."""
    scan = (
        "FileScan parquet [a#11] Format: Parquet, Location: InMemoryFileIndex(1 paths)[file:/one],"
        " PartitionFilters: []"
    )
    plan = (
        f"{WRITE}+- Project [a#1 AS x#3]\n   +- Join Cross\n"
        "      :- Relation [a#1] parquet\n      +- Relation [a#2] parquet"
    )
    read = read_explain(explained(plan, scan))
    assert [entry["node"] for entry in read.facts] == ["InsertIntoHadoopFsRelationCommand"]


def test_a_drawn_tree_has_the_plans_of_subqueries_apart() -> None:
    """A plan two levels deeper than a node is inside one of its expressions, and is not an input."""
    root = draw("Filter x\n:  +- Aggregate y\n:     +- A\n+- B\n   text, with a second line")
    assert [node.name for node in root.inner] == ["Aggregate"]
    assert [node.text for node in root.children] == ["B\n   text, with a second line"]


def test_a_merge_whose_clauses_are_not_in_the_text_has_no_edges_of_columns() -> None:
    """The text does not name the column that a clause assigns: none is guessed from the known columns."""
    plan = (
        "ReplaceData RelationV2[a#1] lake.db.t lake.db.t\n+- MergeRows[__row_operation#9, a#10]\n"
        "   +- Join FullOuter, (a#1 = k#7)\n      :- RelationV2[a#1] lake.db.t lake.db.t\n"
        "      +- Relation [k#7] parquet"
    )
    read = read_explain(explained(plan))
    assert "MergeRows: the values that its clauses assign are not in the text" in read.problems
    (written,) = evaluate(read_plan(read.plan)).writes
    assert [(column.name, set(value.whole)) for column, value in written.columns] == [("a", set())]
    assert {(origin[0].relation, name_of(origin)) for origin, _ in written.rows} == {
        ("DataSourceV2Relation", "a"),
        ("LogicalRelation", "k"),
    }


def kinds_of_write(plan: str) -> set[tuple[str, str, str]]:
    """Each written column with its sources and how it depends on them."""
    (written,) = evaluate(read_plan(read_explain(explained(plan)).plan)).writes
    return {
        (column.name, name_of(origin), path.kind.subtype)
        for column, value in written.columns
        for origin, path in value.whole
    }


@pytest.mark.parametrize("test", ["true", "(b#2 > 1)"])
@pytest.mark.parametrize("by_a_subquery", [False, True])
def test_the_rows_that_an_update_of_spark_3_5_keeps_have_their_values(test: str, by_a_subquery: bool) -> None:
    """Spark rewrites UPDATE as an IF per column, beside the rows that do not change if it reads a table."""
    table = "RelationV2[a#1, b#2] lake.db.t lake.db.t"
    row = f"Project [if ({test}) b#2 else a#1 AS a#8, if ({test}) b#2 else b#2 AS b#9]\n"
    plan = f"ReplaceData {table}\n+- {row}   +- {table}"
    if by_a_subquery:
        plan = (
            f"ReplaceData {table}\n+- Union false, false\n   :- {row}   :  +- Filter (b#2 > 1)\n"
            f"   :     +- {table}\n   +- Filter NOT ((b#2 > 1) <=> true)\n      +- {table}"
        )
    every_row = test == "true" and not by_a_subquery
    kept = set() if every_row else {("a", "a", "IDENTITY"), ("a", "b", "CONDITIONAL")}
    assert kinds_of_write(plan) == {("a", "b", "IDENTITY"), ("b", "b", "IDENTITY")} | kept


def test_new_values_of_an_update_may_be_computed_below_it() -> None:
    """Columns of a projection between the IFs and the table keep their sources."""
    table = "RelationV2[a#1, b#2] lake.db.t lake.db.t"
    row = "Project [if ((b#2 > 1)) s#5 else a#1 AS a#8, if ((b#2 > 1)) 5 else b#2 AS b#9]"
    below = "Project [upper(a#1) AS a#1, b#2, (b#2 + 1) AS s#5]"
    plan = f"ReplaceData {table}\n+- {row}\n   +- {below}\n      +- {table}"
    assert kinds_of_write(plan) == {
        ("a", "a", "TRANSFORMATION"),
        ("a", "b", "TRANSFORMATION"),
        ("a", "b", "CONDITIONAL"),
        ("b", "b", "IDENTITY"),
        ("b", "b", "CONDITIONAL"),
    }


@pytest.mark.parametrize("second", ["if ((b#2 > 1)) b#2 else a#1 AS b#9", "b#2 AS b#9"])
def test_other_rows_that_replace_a_table_are_no_update(second: str) -> None:
    """An UPDATE has an IF for each column, which else leaves that column."""
    table = "RelationV2[a#1, b#2] lake.db.t lake.db.t"
    plan = f"ReplaceData {table}\n+- Project [if ((b#2 > 1)) b#2 else a#1 AS a#8, {second}]\n   +- {table}"
    first = {("a", "a", "TRANSFORMATION"), ("a", "b", "TRANSFORMATION"), ("a", "b", "CONDITIONAL")}
    swapped = {("b", *rest) for _, *rest in first}
    assert kinds_of_write(plan) == first | ({("b", "b", "IDENTITY")} if second == "b#2 AS b#9" else swapped)


def test_a_generator_that_cannot_be_read_is_taken_from_the_columns_that_it_names() -> None:
    """A literal with half a pair of brackets leaves open where it ends, and no column is left out."""
    plan = (
        WRITE + "+- Generate explode(split(concat(note#3, :)), x)), false, [x#9]\n"
        "   +- Relation [a#1,note#3] parquet"
    )
    read = read_explain(explained(plan))
    assert shown(read.plan[1]["generator"]) == "Function(#3)"
    assert "its generator could not be read" in read.problems[0]


@pytest.mark.parametrize("printed", ["/data of june/out", "/data%20of%20june/out"])
@pytest.mark.parametrize("more", ["", ", Storage Properties: [compression=zstd]"])
def test_a_folder_that_sql_writes_is_a_path(printed: str, more: str) -> None:
    """Spark 3.5 prints the folder of INSERT OVERWRITE DIRECTORY as a URI, later ones as a path."""
    plan = (
        f"InsertIntoDataSourceDirCommand Storage(Location: {printed}{more}), parquet, true\n+- OneRowRelation"
    )
    read = read_explain(explained(plan))
    (target,) = read.facts
    (identity,) = identify(target["probed"])
    assert identity.id.name == "/data of june/out"
    assert identity.file_format == "parquet"
    assert target["probed"]["overwrite"] is True
    assert read.problems == []


@pytest.mark.parametrize(
    ("columns", "names", "problems"),
    [
        ("[(number,None), (the total,Some(a (b), c))]", ["number", "the total"], []),
        ("[]", None, []),
        ("[(number,None)]", None, ["CreateViewCommand: the names of the view's columns could not be read"]),
    ],
)
def test_a_view_has_the_columns_that_its_statement_names(
    columns: str, names: list[str] | None, problems: list[str]
) -> None:
    """`create view v (number, total) as ...`: the names of the query's own columns would be false."""
    of_view = (
        f"CreateViewCommand `spark_catalog`.`d`.`v`, {columns}, select 1, false, false, PersistedView, true\n"
    )
    plan = of_view + "   +- Project [key#1L, t#2]\n      +- Relation spark_catalog.d.s[key#1L,t#2] parquet"
    read = read_explain(explained(plan))
    (facts,) = [fact["probed"] for fact in read.facts if fact["node"] == "CreateViewCommand"]
    fields = json.loads(facts["schema"])["fields"] if "schema" in facts else None
    assert (fields and [field["name"] for field in fields]) == names
    assert read.problems == problems


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("+- Range (0, 2, step=1, splits=Some(1))", ["id"]),
        ("+- Union false, false\n   :- Range (0, 2, step=1)\n   +- Relation [a#1L] parquet", ["id"]),
        ("+- Join Cross\n   :- Range (0, 2, step=1)\n   +- Range (0, 9, step=1)", ["id", "id"]),
    ],
)
def test_a_range_has_a_column_that_nothing_else_names(query: str, expected: list[str]) -> None:
    """Spark does not print it; without it a table would lose a column, and a union its first names."""
    read = read_explain(explained(WRITE + query))
    assert read.problems == []
    (written,) = evaluate(read_plan(read.plan)).writes
    assert [column.name for column, _ in written.columns] == expected


@pytest.mark.parametrize("node", ["GlobalLimit", "LocalLimit", "Offset", "Tail"])
def test_a_number_of_rows_that_a_variable_gives_decides_the_rows(node: str) -> None:
    """Any other number of rows is a literal, which depends on nothing."""
    query = WRITE + "+- {} {}\n   +- Relation [a#1] parquet"
    for number, expected in (
        ("variablereference(system.session.n=3)", {"n"}),
        ("(variablereference(system.session.n=3) + 1)", {"n"}),
        ("3", set()),
    ):
        read = read_explain(explained(query.format(node, number)))
        assert read.problems == []
        (written,) = evaluate(read_plan(read.plan)).writes
        assert {name_of(origin) for origin, _ in written.rows} == expected


STREAM = """\
~WriteToMicroBatchDataSource Console, 1f, [], Append, 0
+- ~Join Inner, (id#1L = key#5L)
   :- ~Project [id#11L AS id#1L]
   :  +- Relation [id#11L] json
   +- Relation [key#5L] parquet"""
SCANS = """\
BroadcastHashJoin [id#11L], [key#5L], Inner, BuildRight, false
:- FileScan json [id#11L] Location: InMemoryFileIndex(1 paths)[file:/in/new/a.json], ReadSchema: x
+- FileScan parquet [key#5L] Location: InMemoryFileIndex(1 paths)[file:/in/keys], ReadSchema: x"""


def test_a_table_joined_to_a_stream_does_not_belong_to_the_stream() -> None:
    """A batch reads single files of its source's folder, and the other side as any query does."""
    plan = read_explain(explained(STREAM, SCANS))
    assert [[identity.id.name for identity in identify(fact["probed"])] for fact in plan.facts] == [
        ["/in/new"],
        ["/in/keys"],
    ]


def test_empty_rows_of_a_source_without_new_data_belong_to_a_stream() -> None:
    """Spark marks them as it marks all nodes of a stream."""
    analyzed = "~Project [a#1]\n+- {}LocalRelation <empty>, [a#1]"
    for mark, expected in (("~", True), ("", False)):
        assert read_explain(explained(analyzed.format(mark))).plan[-1]["isStreaming"] is expected


@pytest.mark.parametrize("name", ["a,b", "a, b", "a]b", "a. ", "a..."])
def test_any_character_may_be_in_the_name_of_a_folder(name: str) -> None:
    """Only a comma before the next path's scheme ends a path."""
    assert listed_paths(f"InMemoryFileIndex(1 paths)[file:/in/{name}]") == (f"file:/in/{name}",)
    two = f"InMemoryFileIndex(2 paths)[file:/in/{name}, file:/in/c]"
    assert listed_paths(two) == (f"file:/in/{name}", "file:/in/c")
    assert listed_paths(f"InMemoryFileIndex(3 paths)[file:/in/{name}, file:/in/c, ...]") == ()
