"""Cost of one execution by the size of its plan, in each dimension that a program can make large.

    python benchmarks/plan_sizes.py [--largest 100000] [--no-spark] [dimension ...]

A plan has 1,000, 10,000 and 100,000 units of one dimension: columns, items of a list, nodes, scans. The
figure is the processor time for each unit, which stays the same if nothing is quadratic. The first table is
everything behind a record, in pure Python: its lineage, the task's, its storage, its events. The second is
what writes the record: Java in Spark's JVM, and the way of the answer into Python. Spark itself parses and
analyzes those queries, so they are smaller.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from time import process_time
from typing import Any

from lineage import CATALYST, EXECUTION

from airflow_provider_spark_lineage.spark.facets.events import RunIdentity, execution_events, plain
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.event_executions import event_execution
from airflow_provider_spark_lineage.spark.runs.executions import Executions
from airflow_provider_spark_lineage.spark.runs.memory import Memory
from airflow_provider_spark_lineage.spark.runs.recorded import RunBuilder

Tree = list[dict[str, Any]]
Facts = list[dict[str, Any]]

LARGEST = 100_000
MOST_IN_SPARK = 10_000
STEADY = 3
"""Limit of the cost of a unit of the largest plan, as a multiple of the smallest plan's."""

MAX_EVENT_BYTES = 900_000
TASK = RunIdentity("018cc778-5000-7a46-aca6-85a986a44f76", "benchmark", "dag.task")
WRITE = "InsertIntoHadoopFsRelationCommand"


def column(number: int) -> Tree:
    top = {"class": f"{CATALYST}.expressions.AttributeReference", "num-children": 0, "dataType": "long"}
    return [{**top, "name": f"c{number}", "exprId": {"id": number}}]


def call(kind: str, *below: Tree, **fields: Any) -> Tree:
    top = {"class": f"{CATALYST}.expressions.{kind}", "num-children": len(below), **fields}
    return [top, *(node for tree in below for node in tree)]


def alias(number: int, below: Tree) -> Tree:
    return call("Alias", below, name=f"c{number}", exprId={"id": number})


def node(kind: str, *below: Tree, **fields: Any) -> Tree:
    package = f"{EXECUTION}." if kind in ("LogicalRelation", WRITE) else f"{CATALYST}.plans.logical."
    top = {"class": package + kind, "num-children": len(below), **fields}
    return [top, *(each for tree in below for each in tree)]


def scan(*numbers: int) -> Tree:
    return node("LogicalRelation", output=[column(number) for number in numbers])


def project(below: Tree, *expressions: Tree) -> Tree:
    return node("Project", below, projectList=list(expressions))


def read(first: int, path: str = "file:/in") -> Facts:
    return [{"node": "LogicalRelation", "expr_id": first, "probed": {"paths": [path], "format": "Parquet"}}]


LITERAL = call("Literal", dataType="long")
Query = tuple[Tree, Facts]


def columns(size: int) -> Query:
    """Each column is computed from a column of its own."""
    computed = (alias(size + n, call("Add", column(n), LITERAL)) for n in range(size))
    return project(scan(*range(size)), *computed), read(0)


def passed_columns(size: int) -> Query:
    """A tenth of the columns, through ten nodes; each is written in full once."""
    full: list[Tree] = [[{**column(n)[0], "@": n}] for n in range(size // 10)]
    again: list[Tree] = [[{"@": n}] for n in range(size // 10)]
    tree = node("LogicalRelation", output=again)
    for _ in range(9):
        tree = project(tree, *again)
    return project(tree, *full), read(0)


def list_items(size: int) -> Query:
    items = call("In", column(0), *[LITERAL] * size)
    return node("Filter", scan(0), condition=items), read(0)


def conditions(size: int) -> Query:
    below = (tree for _ in range(size // 2) for tree in (call("EqualTo", column(0), LITERAL), column(0)))
    return project(scan(0), alias(1, call("CaseWhen", *below))), read(0)


def depth(size: int) -> Query:
    """An IF inside the other branch of an IF, and so on."""
    top = [*call("If"), *call("IsNull", column(0)), *column(0)]
    top[0]["num-children"] = 3
    return project(scan(0), alias(1, [*top * (size // 4), *column(0)])), read(0)


def nodes(size: int) -> Query:
    filters = node("Filter", condition=call("IsNotNull", column(0)))
    filters[0]["num-children"] = 1
    return [*filters * size, *scan(0)], read(0)


def steps(size: int) -> Query:
    """Each column is computed from the column of the step before."""
    tree = [project([], alias(n + 1, call("Add", column(n), LITERAL)))[0] for n in reversed(range(size))]
    return [*({**each, "num-children": 1} for each in tree), *scan(0)], read(0)


def scans(size: int) -> Query:
    """A union of folders."""
    facts = [fact for n in range(size) for fact in read(n, f"file:/in/{n}/of/a/day")]
    return node("Union", *(scan(n) for n in range(size))), facts


def scans_of_one(size: int) -> Query:
    """A union of one folder."""
    return node("Union", *(scan(n) for n in range(size))), [fact for n in range(size) for fact in read(n)]


def listed_rows(size: int) -> Query:
    rows = (node("LocalRelation", output=[column(n)]) for n in range(size))
    probed = {"in_sql": False, "schema": "{}"}
    facts = [{"node": "LocalRelation", "expr_id": n, "probed": probed} for n in range(size)]
    return node("Union", *rows), facts


def subqueries(size: int) -> Query:
    inner = call("ScalarSubquery", plan=scan(-1))
    computed = (alias(size + n, inner) for n in range(size // 2))
    return project(scan(*range(size // 2)), *computed), [*read(0), *read(-1, "file:/dim")]


def definitions(size: int) -> Query:
    """Each reads the one before."""
    first = node("CTERelationDef", scan(0), id=0)
    others = (
        node("CTERelationDef", node("CTERelationRef", cteId=n - 1, output=[column(n)]), id=n)
        for n in range(1, size)
    )
    last = node("CTERelationRef", cteId=size - 1, output=[column(size)])
    return node("WithCTE", first, *others, last, plan=size), read(0)


def struct_fields(size: int) -> Query:
    values = (tree for n in range(size // 2) for tree in (LITERAL, column(n)))
    struct = call("CreateNamedStruct", *values)
    return project(scan(*range(size // 2)), alias(size, struct)), read(0)


PLANS: Mapping[str, Callable[[int], Query]] = {
    each.__name__: each
    for each in (
        columns,
        passed_columns,
        list_items,
        conditions,
        depth,
        nodes,
        steps,
        scans,
        scans_of_one,
        listed_rows,
        subqueries,
        definitions,
        struct_fields,
    )
}


def record(query: Query) -> Record:
    tree, facts = query
    target = {"paths": "file:/out", "format": "Parquet", "mode": "Overwrite"}
    counts = [
        {"node": "Scan parquet", "rows": 1, "location": f"InMemoryFileIndex(1 paths)[{path}]"}
        for fact in facts
        for path in fact["probed"].get("paths", ())
    ]
    return Record(
        application_id="benchmark",
        application_name="benchmark",
        spark_version="4.1.4",
        number=1,
        name="command",
        started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:00:00+00:00",
        outcome="success",
        plan=node(WRITE, tree),
        facts=[*facts, {"node": WRITE, "expr_id": None, "probed": target}],
        metrics=counts,
    )


def process(written: Record) -> None:
    """Take a record through everything that a task does with it."""
    execution = Executions().of(written)
    assert execution is not None
    assert not any(gap.kind is GapKind.UNREAD_PLAN for gap in execution.lineage.gaps), execution.lineage.gaps
    builder = RunBuilder()
    builder.add(execution)
    builder.run()
    Memory().write(written)
    event = event_execution(execution, "job")
    for sent in execution_events([event], TASK, application_id="1", max_bytes=MAX_EVENT_BYTES):
        json.dumps(plain(sent))


def secrets(size: int) -> float:
    """Processor time to search a text of 20 characters for each unit, which has a name of a secret."""
    text = f"token in ({', '.join(f'key-{n:014d}' for n in range(size))})"
    began = process_time()
    without_secrets(text)
    return process_time() - began


def seconds(of_size: Callable[[int], Query], size: int) -> float:
    written = record(of_size(size))
    began = process_time()
    process(written)
    return process_time() - began


def behind_a_record(sizes: list[int], names: list[str]) -> None:
    print("Behind a record, processor time in us for each unit")
    print(f"{'dimension':>20} " + "".join(f"{size:>10,}" for size in sizes) + f"{'ratio':>8}")
    seconds(columns, 100)
    for name in names or [*PLANS, "secrets"]:
        if name in PLANS:
            report(name, ((size, seconds(PLANS[name], size)) for size in sizes))
        elif name == "secrets":
            report(name, ((size, secrets(size)) for size in sizes))


def report(name: str, took: Iterable[tuple[int, float]]) -> None:
    print(f"{name:>20} ", end="", flush=True)
    figures = []
    for size, each in took:
        figures.append(each / size * 1e6)
        print(f"{figures[-1]:>10.1f}", end="", flush=True)
    ratio = figures[-1] / figures[0]
    print(f"{ratio:>8.2f}" + ("" if ratio <= STEADY else f"   (aim: under {STEADY})"), flush=True)


QUERIES = {
    "columns": ("select {} from t", "id + {0} as c{0}", ", "),
    "passed_columns": ("select {} from t", "id as c{0}", ", "),
    "list_items": ("select * from t where id not in ({})", "{0}", ", "),
    "conditions": ("select case {} end c from t", "when id = {0} then id", " "),
    "arguments": ("select concat({}) c from t", "id", ", "),
    "struct_fields": ("select struct({}) c from t", "id as f{0}", ", "),
    "keys": ("select id from t order by {}", "id + {0}", ", "),
    "listed_rows": ("select * from values {}", "({0})", ", "),
    "text": ("select id, '{}' c from t", "a word of a text...", " "),
    "long_name": ("select id as `{}` from t", "a word of a name...", " "),
}
"""Dimension -> a query, its items, and the text between two items."""


def query_of(name: str, size: int) -> str:
    query, item, between = QUERIES[name]
    return query.format(between.join(item.format(number) for number in range(size)))


def of_a_record(sizes: list[int], names: list[str]) -> None:
    """Print the cost of writing records, by thread: the JVM's, and Python's."""
    from pyspark.sql import SparkSession

    from airflow_provider_spark_lineage.spark.capture.jvm import JvmReader
    from airflow_provider_spark_lineage.spark.capture.rdd import RddReader

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.range(3).createOrReplaceTempView("t")
    threads = spark._jvm.java.lang.management.ManagementFactory.getThreadMXBean()
    print("Of a record, processor time in us for each unit: Java's thread and Python's")
    print(f"{'dimension':>20} " + "".join(f"{size:>10,}" for size in sizes) + f"{'ratio':>8}")
    for sql_text in ("full", "masked"):
        reader = JvmReader(spark.sparkContext, RddReader(), sql_text)

        def took(query: str, reader: JvmReader = reader) -> float:
            execution = spark.sql(query)._jdf.queryExecution()
            java, python = threads.getCurrentThreadCpuTime(), process_time()
            # Without the limit of a plan's size, which would cut it.
            fields = reader.read(spark._jsparkSession, execution, 2_000_000_000)
            java = threads.getCurrentThreadCpuTime() - java
            assert not fields["problems"], fields["problems"]
            return float(java / 1e9 + process_time() - python)

        for name in QUERIES:
            if not names or name in names:
                # Java compiles its code while it runs.
                for _ in range(3):
                    took(query_of(name, 1000))
                report(f"{name} {sql_text}", ((size, took(query_of(name, size))) for size in sizes))
    spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of an execution by the size of its plan.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--largest", type=int, default=LARGEST)
    parser.add_argument("--no-spark", action="store_true")
    arguments = parser.parse_args()
    sizes = [size for size in (1_000, 10_000, 100_000) if size <= arguments.largest]
    behind_a_record(sizes, arguments.names)
    if not arguments.no_spark:
        of_a_record([size for size in sizes if size <= MOST_IN_SPARK], arguments.names)


if __name__ == "__main__":
    main()
