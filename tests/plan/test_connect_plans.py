"""Commands of a Spark Connect client on top of explained plans: pure functions of the record."""

from __future__ import annotations

import json

import pytest

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.plan.connect.commands import target_of
from airflow_provider_spark_lineage.spark.plan.connect.text import as_batch, schema_of
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions
from airflow_provider_spark_lineage.spark.sources import source_of

TEXT = """== Parsed Logical Plan ==
'Project ['customer, 'amount]
+- Relation [customer#1,amount#2] parquet

== Analyzed Logical Plan ==
customer: string, amount: double
Project [customer#1, amount#2]
+- Relation [customer#1,amount#2] parquet

== Optimized Logical Plan ==
Relation [customer#1,amount#2] parquet

== Physical Plan ==
*(1) ColumnarToRow
+- FileScan parquet [customer#1,amount#2] Batched: true, DataFilters: [], Format: Parquet, Location: \
InMemoryFileIndex(1 paths)[file:/data/orders], PartitionFilters: [], PushedFilters: [], ReadSchema: \
struct<customer:string,amount:double>
"""

TABLE = {
    "columns": [["who", "string"], ["total", "float"]],
    "partition_columns": [],
    "catalog": "spark_catalog",
    "database": "default",
    "table": "t",
    "type": "MANAGED",
    "provider": "parquet",
    "location": "file:/data/warehouse/t",
}
SETTINGS = {"spark.sql.warehouse.dir": "file:/data/warehouse"}


def lineage(command, text=TEXT, failed=False, **connect):
    record = Record(
        application_id="app",
        application_name="app",
        spark_version="4.1.4",
        number=1,
        name="save",
        started_at="2024-01-01T00:00:00+00:00",
        ended_at="2024-01-01T00:00:01+00:00",
        outcome="failure" if failed else "success",
        plan_kind="explain",
        explain=text,
        settings=SETTINGS,
        connect={"command": command, **connect},
    )
    return render(compose(execution.lineage for execution in executions([record]))).splitlines()


def write(**more):
    return {"kind": "write", "format": "parquet", "mode": "Append", **more}


def test_a_path_is_written_as_by_a_classic_session():
    """The command is on top of the explained plan, with its mode."""
    assert lineage(write(path="file:/data/out", mode="Overwrite")) == [
        "reads   file /data/orders   customer string, amount double",
        "writes  file /data/out   overwrite",
        "amount   <- orders.amount      direct    identity",
        "customer <- orders.customer    direct    identity",
    ]


@pytest.mark.parametrize("pattern", ["file:/data/orders/*.parquet", "file:/data/*/o?.parquet"])
def test_a_pattern_that_the_client_sent_names_its_files(pattern):
    """The text has what the pattern matches today: one file or many, the input is the pattern's folder."""
    text = TEXT.replace("[file:/data/orders]", "[file:/data/orders/o1.parquet]")
    reads = [{"format": "parquet", "paths": [pattern], "options": {}, "schema": ""}]
    folder = "/data/orders" if "orders" in pattern else "/data"
    (read,) = (
        line for line in lineage(write(path="file:/out"), text, reads=reads) if line.startswith("reads")
    )
    assert read == f"reads   file {folder}   customer string, amount double"


def test_a_v2_source_has_its_pattern_in_its_name():
    """No scan of such a source prints its files."""
    relation = "RelationV2[customer#1, amount#2] parquet file:/data/orders/o_*.parquet"
    text = (
        f"== Analyzed Logical Plan ==\ncustomer: string, amount: double\n{relation}\n"
        f"\n== Optimized Logical Plan ==\n{relation}\n\n== Physical Plan ==\n"
        "*(1) ColumnarToRow\n+- BatchScan parquet file:/data/orders/o_*.parquet[customer#1, amount#2]\n"
    )
    assert lineage(write(path="file:/out"), text)[0].startswith("reads   file /data/orders   ")


def test_insert_into_takes_the_names_and_types_of_the_table():
    """Columns are matched by position, and cast where the types differ."""
    result = lineage(write(table="t", insert=True), targets=["t"], tables={"t": TABLE})
    assert result[1:] == [
        "writes  file /data/warehouse/t   append",
        "total <- orders.amount      direct    transformation",
        "who   <- orders.customer    direct    identity",
    ]


@pytest.mark.parametrize(
    ("command", "connect"),
    [
        (write(path="file:/data/out", mode="Ignore", existed=True), {}),
        (write(table="t", mode="Ignore"), {"tables": {"t": TABLE}, "before": {"t": TABLE}}),
    ],
)
def test_a_write_that_was_skipped_has_no_output(command, connect):
    """With `ignore`, nothing is written where something is already."""
    assert not [line for line in lineage(command, **connect) if line.startswith("writes")]


def test_a_failed_write_has_no_output():
    """The output of a failed action is not reported; its inputs are."""
    result = lineage(write(path="file:/data/out"), failed=True)
    assert [line for line in result if line.startswith(("reads", "writes"))] == [
        "reads   file /data/orders   customer string, amount double"
    ]


def test_a_table_that_nobody_described_is_a_gap():
    """Without its description a table has no place: there is no output, and a gap has the reason."""
    result = lineage(write(table="t"), targets=["t"], tables={"t": {}})
    assert not [line for line in result if line.startswith("writes")]
    assert any("the catalog did not describe the written table" in line for line in result)


def test_a_table_of_another_system_is_not_its_empty_folder():
    """The catalog has a folder for every managed table, also where a database has the rows."""
    table = {**TABLE, "provider": "jdbc", "options": {"dbtable": "PEOPLE"}}
    result = lineage(write(table="t", insert=True), targets=["t"], tables={"t": table})
    assert not [line for line in result if "warehouse" in line]
    assert any(line.startswith("gap") for line in result)


def test_the_header_has_the_types_of_the_written_columns():
    """Names may hold the separators of the header."""
    text = TEXT.replace(
        "customer: string, amount: double", "a, b: c: struct<x:int,y:array<string>>, n: decimal(10,2)"
    )
    fields = json.loads(schema_of(text))["fields"]
    assert [field["name"] for field in fields] == ["a, b: c", "n"]
    assert schema_of("") == ""


def test_a_type_that_is_not_known_renames_no_column():
    """An unreadable header is ignored: the plan has the names."""
    text = TEXT.replace("customer: string, amount", "customer: unheard, amount")
    assert lineage(write(path="file:/data/out"), text=text)[1:] == lineage(write(path="file:/data/out"))[1:]


def test_a_directory_beside_a_table_is_not_that_table():
    """A FROM with several INSERTs may name one table, and write a directory as well."""
    analyzed = """Union false, false
:- InsertIntoHadoopFsRelationCommand file:/data/warehouse/t, false, Parquet, Append, \
`spark_catalog`.`default`.`t`, [who, total]
:  +- Project [customer#1 AS who#3, amount#2 AS total#4]
:     +- Relation [customer#1,amount#2] parquet
+- InsertIntoDataSourceDirCommand Storage(Location: file:/data/out), json, true
   +- Project [amount#6]
      +- Relation [customer#5,amount#6] parquet"""
    relation = "Relation [customer#1,amount#2] parquet"
    before, _, after = TEXT.partition(f"Project [customer#1, amount#2]\n+- {relation}")
    scan = after.partition("+- FileScan")[2].replace("customer#1,amount#2", "customer#5,amount#6")
    text = f"{before}{analyzed}{after}+- FileScan{scan}"
    result = lineage({}, text=text, targets=["t"], tables={"t": TABLE})
    assert result[1:] == [
        "writes  file /data/out   overwrite",
        "writes  file /data/warehouse/t   append",
        "to      file /data/out",
        "amount <- orders.amount    direct    identity",
        "to      file /data/warehouse/t",
        "total <- orders.amount      direct    identity",
        "who   <- orders.customer    direct    identity",
    ]


def test_a_range_has_its_column():
    """The text of a Range has no column, and a later action may read a copy of it."""
    text = "== Analyzed Logical Plan ==\nid: bigint\nRange (0, 3, step=1, splits=Some(2))\n"
    text += "\n== Optimized Logical Plan ==\nRange (0, 3, step=1, splits=Some(2))\n"
    text += "\n== Physical Plan ==\n*(1) Range (0, 3, step=1, splits=2)\n"
    assert lineage(write(path="file:/data/out"), text=text) == [
        "writes  file /data/out   append",
        "id <- (no field)",
    ]


def test_a_stream_reads_as_a_query_over_its_files():
    """Marks are removed, and the source is a relation with the same columns."""
    source = "StreamingRelation DataSource(Session@1f,json,List(),Some(x),List(),None,Map(path -> /in)), "
    text = f"~Filter (id#1L > 0)\n+- ~{source}FileSource[/in], [id#1L, name#2]"
    assert as_batch(text) == "Filter (id#1L > 0)\n+- Relation [id#1L,name#2] json"


@pytest.mark.parametrize(
    ("replaces", "mode", "is_partial"),
    [
        ({"partition_overwrite": "dynamic"}, "STATIC", True),
        ({}, "DYNAMIC", True),
        ({"partition_overwrite": "static"}, "DYNAMIC", False),
        ({}, "STATIC", False),
    ],
)
def test_an_overwrite_of_some_partitions_keeps_the_others(replaces, mode, is_partial):
    """The option decides before the setting."""
    setting = {"spark.sql.sources.partitionOverwriteMode": mode}
    files = write(path="file:/data/out", mode="Overwrite", partition_by=["customer"], replaces=replaces)
    assert target_of({"command": files}, setting).facts["dynamic_partitions"] is is_partial
    delta = target_of({"command": {**files, "format": "delta"}}, setting).facts
    assert (delta.get("partition_overwrite") == "dynamic") is is_partial


@pytest.mark.parametrize(
    ("command", "table", "is_partial"),
    [
        (write(path="file:/data/out"), {}, True),
        (write(table="t"), {"partition_columns": ["who"]}, True),
        (write(table="t"), {"partition_columns": []}, False),
        (write(table="t", insert=True), {"partition_columns": ["who"]}, True),
    ],
)
def test_a_dynamic_overwrite_of_delta_goes_by_the_partitions_of_the_table(command, table, is_partial):
    """A writer need not name them again; those of a path are not known."""
    replaces = {"partition_overwrite": "dynamic"}
    command |= {"format": "delta", "mode": "Overwrite", "replaces": replaces}
    target = target_of({"command": command, "tables": {"t": {**TABLE, "provider": "delta", **table}}}, {})
    assert source_of(target.facts).keeps_partitions() is is_partial


@pytest.mark.parametrize(("is_insert", "is_partial"), [(True, True), (False, False)])
def test_an_insert_into_a_table_of_iceberg_may_keep_partitions(is_insert, is_partial):
    """`saveAsTable` replaces the table in spite of the setting."""
    table = {**TABLE, "provider": "iceberg", "partition_columns": ["who"]}
    command = write(table="t", insert=is_insert, mode="Overwrite")
    setting = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
    target = target_of({"command": command, "tables": {"t": table}}, setting)
    assert (target.node == "OverwritePartitionsDynamic") is is_partial


def test_save_as_table_of_delta_may_replace_some_rows():
    """The option belongs to the write, whether a path or a table is written."""
    command = write(table="t", mode="Overwrite", replaces={"replace_where": True})
    target = target_of({"command": command, "tables": {"t": {**TABLE, "provider": "delta"}}}, {})
    assert target.facts["replace_where"]


def test_a_condition_for_replacing_rows_is_unknown():
    """Only the existence of a condition is recorded: it may have literals."""
    command = write(path="file:/data/out", format="delta", mode="Overwrite", replaces={"replace_where": True})
    assert any("the columns that decide which rows it replaces" in line for line in lineage(command))


FUNCTIONS = """== Parsed Logical Plan ==
'Project ['f('a) AS y]

== Analyzed Logical Plan ==
y: int, z: int, q: int, c.d.h(): int
Project [c.d.f(x#5) AS y#10, c.d.g(x#6) AS z#11, scalar-subquery#12 [] AS q#13, c.d.h() AS c.d.h()#14]
:  :- Aggregate [max(b#22) AS max(b)#23]
:  :  +- Filter (a#21 = outer(x#5))
:  :     +- Relation [a#21,b#22] orc
:  +- Aggregate [max(a#31) AS max(a)#33]
:     +- Relation [a#31,b#32] json
+- Project [a#1, cast(a#1 as int) AS x#5, cast(b#2 as int) AS x#6]
   +- Relation [a#1,b#2] parquet

== Optimized Logical Plan ==
LocalRelation

== Physical Plan ==
Project
:- FileScan orc [a#21,b#22] Batched: true, Format: ORC, Location: \
InMemoryFileIndex(1 paths)[file:/data/orc], PartitionFilters: [], ReadSchema: struct<a:int,b:int>
:- FileScan json [a#31,b#32] Batched: true, Format: JSON, Location: \
InMemoryFileIndex(1 paths)[file:/data/js], PartitionFilters: [], ReadSchema: struct<a:int,b:int>
+- FileScan parquet [a#1,b#2] Batched: true, Format: Parquet, Location: \
InMemoryFileIndex(1 paths)[file:/data/in], PartitionFilters: [], ReadSchema: struct<a:int,b:int>
"""
BODIES = {
    "c.d.f": {"parameters": "x INT", "body": "(SELECT max(b) FROM o WHERE a = x)"},
    "c.d.g": {"parameters": "x INT", "body": "IF(x > 1, x, 0)"},
    "c.d.h": {"parameters": "", "body": "1"},
}
_NOT_TOLD = "the expression of a subquery could not be told apart"


def test_sources_of_a_functions_result_are_read_from_its_body():
    """Spark draws the queries of functions beside those of the query; each body has its number of queries."""
    result = lineage(write(path="file:/data/out"), FUNCTIONS, functions=BODIES)
    assert [" ".join(line.split()) for line in result if "<-" in line] == [
        "c.d.h() <- (no field)",
        "q <- js.a direct aggregation",
        "y <- in.a indirect filter",
        "y <- orc.a indirect filter",
        "y <- orc.b direct aggregation",
        "z <- in.b direct transformation",
        "z <- in.b indirect conditional",
    ]
    assert not [line for line in result if line.startswith("gap") and "function" in line]


@pytest.mark.parametrize(
    "functions",
    [
        {},
        {name: BODIES[name] for name in ("c.d.f", "c.d.g")},
        {**BODIES, "c.d.g": {"parameters": "x INT", "body": "(SELECT x)"}},
        {**BODIES, "c.d.g": {"parameters": "x INT", "body": "other(x)"}},
    ],
)
def test_queries_of_functions_that_are_not_known_are_left_out(functions):
    """If the numbers do not agree, or a body is not known, no query is given to any expression."""
    result = lineage(write(path="file:/data/out"), FUNCTIONS, functions=functions)
    assert not [line for line in result if "orc" in line and "<-" in line]
    assert [line for line in result if _NOT_TOLD in line]
