"""View documents and answers as the viewer expects them, built for the tests in a browser."""

from __future__ import annotations

import random
from typing import Any

Document = dict[str, Any]


def dataset(
    name: str, columns: str | list[str] = "", namespace: str = "file", **others: Any
) -> dict[str, Any]:
    """A dataset; `columns` are words, with a type behind a colon if they have one."""
    words = columns.split() if isinstance(columns, str) else columns
    pairs = [word.partition(":")[::2] for word in words]
    return {
        "namespace": namespace,
        "name": name,
        "label": name.rpartition("/")[2],
        "read": True,
        "written": False,
        "columns": [{"name": column, "type": kind} for column, kind in pairs],
        "has_schema": True,
        "change": "",
        "previous": None,
        "reads": {},
        "writes": {},
        "checks": [],
        "metrics": [],
        "format": "parquet",
        "catalog": "",
        "unfinished": False,
        **others,
    }


def written(name: str, columns: str | list[str] = "", **others: Any) -> dict[str, Any]:
    """A dataset that was written, and not read."""
    return dataset(name, columns, **{"read": False, "written": True, "change": "overwrite", **others})


def edge(
    source: int, field: str, target: int, column: str | None, kind: str = "DIRECT IDENTITY", **others: Any
) -> Document:
    """An edge; `kind` is its type and its subtype."""
    name, _, subtype = kind.partition(" ")
    return {
        "from": source,
        "field": field,
        "to": target,
        "column": column,
        "type": name,
        "subtype": subtype,
        "masking": False,
        "task": None,
        **others,
    }


def execution(number: int, name: str, reads: list[int], writes: list[int], **others: Any) -> Document:
    """An execution that took two seconds."""
    return {
        "number": number,
        "name": name,
        "began": f"2026-11-24T10:00:0{number}+00:00",
        "ended": f"2026-11-24T10:00:0{number + 2}+00:00",
        "state": "complete",
        "reads": reads,
        "writes": writes,
        "rows": None,
        "statement": "",
        "task": None,
        **others,
    }


def check(status: str, name: str, **others: Any) -> Document:
    """The result of a check."""
    texts = dict.fromkeys(("column", "expected", "found", "problem"), "")
    return {"status": status, "name": name, "severity": "error", **texts, "task": None, **others}


def document(
    datasets: list[Document], edges: list[Document] = (), flows: Any = None, **others: Any
) -> Document:  # type: ignore[assignment]
    """A document; its flows follow from its edges, unless they are given."""
    pairs = sorted({(line["from"], line["to"]) for line in edges}) if flows is None else flows
    return {
        "version": 1,
        "title": "shop.revenue",
        "job": {"namespace": "my_team", "name": "shop.revenue"},
        "run": {
            "id": "01a2",
            "dag_id": "shop",
            "task_id": "revenue",
            "dag_run_id": "scheduled__2026-11-25",
            "map_index": None,
            "try": 1,
            "state": "complete",
            "began": "2026-11-24T10:00:00+00:00",
            "ended": "2026-11-24T10:00:41+00:00",
            "producer": "https://example.org/producer",
            "engine": "Spark 4.1.4",
        },
        "datasets": datasets,
        "flows": [{"from": source, "to": target, "task": None} for source, target in pairs],
        "edges": list(edges),
        "tasks": [],
        "executions": [],
        "failures": [],
        "gaps": [],
        "checks": [],
        "bottlenecks": [],
        "facts": [],
        "links": [],
        "reports_gaps": True,
        "planned": False,
        **others,
    }


def answer(shown: Document | None, **others: Any) -> Document:
    """Answer of a source."""
    return {
        "version": 1,
        "kind": "task_instance",
        "document": shown,
        "reason": None,
        "notes": [],
        "tries": [],
        "try": None,
        "previous": [],
        "history": [],
        **others,
    }


ORDERS = "id:integer customer_id:integer amount:double status:string"


def simple() -> Document:
    """Two inputs, one output with a gap, two executions, checks, facts."""
    datasets = [
        dataset("/shop/orders", ORDERS, reads={"rows": 3, "size_bytes": 1298, "files": 1}),
        dataset("/shop/customers", "id:integer country:string", reads={"rows": 2, "size_bytes": 640}),
        written(
            "/shop/revenue",
            "country:string revenue:double score:double",
            writes={"rows": 1, "size_bytes": 812, "files": 1},
            checks=[
                check("passed", "country.unique", column="country", found="true"),
                check(
                    "failed", "revenue.min", severity="warn", column="revenue", expected=">100", found="12"
                ),
            ],
            metrics=["rows 1"],
        ),
    ]
    edges = [
        edge(1, "country", 2, "country"),
        edge(0, "amount", 2, "revenue", "DIRECT AGGREGATION"),
        edge(0, "status", 2, "revenue", "INDIRECT CONDITIONAL"),
        edge(1, "id", 2, None, "INDIRECT JOIN"),
        edge(0, "customer_id", 2, None, "INDIRECT JOIN"),
        edge(0, "status", 2, None, "INDIRECT FILTER"),
        edge(1, "country", 2, None, "INDIRECT GROUP_BY", masking=True),
    ]
    return document(
        datasets,
        edges,
        executions=[
            execution(1, "revenue.orders", [0], [], rows=3),
            execution(2, "revenue.revenue", [0, 1], [2], rows=1),
        ],
        gaps=[
            {
                "where": "project#4",
                "kind": "code_over_rows",
                "reason": "a Python function computes it",
                "dataset": 2,
                "column": "score",
                "task": None,
            }
        ],
        bottlenecks=[{"kind": "skew", "message": "one partition has 80 % of the rows"}],
        facts=[{"name": "application", "text": "shop-revenue   Spark 4.1.4 on local[*]"}],
        links=[{"name": "Spark", "href": "http://localhost:18080/history/local-1"}],
    )


def before_simple() -> Document:
    """The run before `simple`: other counts, a column less, another type, another input."""
    shown = simple()
    shown["datasets"][2]["writes"] = {"rows": 3, "size_bytes": 700}
    shown["datasets"][2]["columns"] = [
        {"name": "country", "type": "string"},
        {"name": "revenue", "type": "float"},
    ]
    shown["datasets"][1]["name"] = "/shop/clients"
    return shown


def failed() -> Document:
    """A run whose second execution failed: its output is named by the plan only."""
    output = dataset("/shop/revenue", "country:string revenue:double", read=False, unfinished=True)
    shown = document(
        [dataset("/shop/orders", ORDERS, reads={"rows": 3}), output],
        flows=[(0, 1)],
        executions=[
            execution(1, "revenue.orders", [0], []),
            execution(2, "revenue.revenue", [0], [], state="fail"),
        ],
        failures=[
            {
                "message": "[DIVIDE_BY_ZERO] Division by zero.",
                "error_class": "SparkArithmeticException",
                "sql_state": "22012",
                "execution": "execution 2 (command)",
                "fragment": "amount / 0",
            }
        ],
    )
    shown["run"]["state"] = "fail"
    return shown


def checked() -> Document:
    """A task that checks frames and writes nothing: a warning, and a skipped check of an absent column."""
    checks = [
        check("failed", "all.amount.max", severity="warn", column="amount", expected="< 200", found="938"),
        check("absent", "discount.min", column="discount", problem="no column discount"),
    ]
    orders = dataset("/shop/orders", ORDERS, reads={"rows": 3})
    return document([orders], executions=[execution(1, "collectToPython", [0], [])], checks=checks)


def failed_checks() -> Document:
    """A task that checked its input: two checks failed, one is a warning, and one has no result."""
    orders = dataset(
        "/shop/orders",
        ORDERS,
        reads={"rows": 3},
        checks=[
            check("passed", "id.unique", column="id"),
            check("failed", "amount.max", column="amount", expected="< 200", found="938"),
            check("failed", "status.nulls", severity="warn", column="status", expected="0", found="2"),
            check("skipped", "whole", problem="the table is empty"),
        ],
    )
    shown = document(
        [orders],
        executions=[execution(1, "collect", [0], [])],
        failures=[
            {
                "message": "Test failed.\n" + "\n".join(f"line {number}" for number in range(20)),
                "error_class": "",
                "sql_state": "",
                "execution": "",
                "fragment": "",
            }
        ],
        checks=[check("failed", "all.sum.max", column="sum", expected="10", found="9")],
    )
    shown["run"]["state"] = "fail"
    return shown


def cyclic() -> Document:
    """A table that a MERGE reads itself, and two tables that are made of one another."""
    datasets = [
        dataset("/lake/updates", "id:long value:string"),
        dataset("/lake/table", "id:long value:string", written=True, change="overwrite", writes={"rows": 12}),
        dataset("/lake/archive", "id:long", written=True),
    ]
    edges = [
        edge(0, "value", 1, "value"),
        edge(1, "id", 1, "id"),
        edge(1, "value", 1, "value"),
        edge(1, "id", 2, "id"),
        edge(2, "id", 1, "id"),
        edge(1, "id", 1, None, "INDIRECT JOIN"),
    ]
    return document(datasets, edges)


def composed() -> Document:
    """A DAG run of three tasks; the third has no lineage."""
    datasets = [
        dataset("/raw/flights", "carrier:string delay:double", reads={"rows": 336776}),
        dataset(
            "/silver/flights",
            "carrier:string delay:double",
            written=True,
            writes={"rows": 327346},
            change="overwrite",
        ),
        written("/gold/delays", "carrier:string mean_delay:double", writes={"rows": 16}),
    ]
    edges = [
        edge(0, "carrier", 1, "carrier", task=0),
        edge(0, "delay", 1, "delay", task=0),
        edge(0, "delay", 1, None, "INDIRECT FILTER", task=0),
        edge(1, "carrier", 2, "carrier", task=1),
        edge(1, "delay", 2, "mean_delay", "DIRECT AGGREGATION", task=1),
        edge(1, "carrier", 2, None, "INDIRECT GROUP_BY", task=1),
    ]
    task = {"map_index": None, "state": "complete", "note": ""}
    return document(
        datasets,
        edges,
        title="flights · scheduled__2026-11-25",
        flows=[],
        tasks=[
            {**task, "title": "clean", "task_id": "clean", "reads": [0], "writes": [1]},
            {**task, "title": "delays", "task_id": "delays", "reads": [1], "writes": [2]},
            {
                **task,
                "title": "mail",
                "task_id": "mail",
                "reads": [],
                "writes": [],
                "note": "no lineage recorded",
            },
        ],
    )


def wide(columns: int) -> Document:
    """One input and one output of many columns, each made of its namesake."""
    names = [f"column_{number:04}" for number in range(columns)]
    edges = [edge(0, name, 1, name) for name in names]
    return document([dataset("/wide/in", names), written("/wide/out", names)], edges)


def many_inputs(count: int) -> Document:
    """One output of many inputs."""
    datasets = [dataset(f"/in/part_{number:04}", "id") for number in range(count)]
    return document(
        [*datasets, written("/out", "id")], [edge(number, "id", count, "id") for number in range(count)]
    )


def large(datasets: int = 500, columns: int = 10, layers: int = 20, links: int = 948) -> Document:
    """A layered graph: 500 datasets of 10 columns, 948 lines, 4,740 edges; always the same."""
    chance = random.Random(31)  # noqa: S311  a picture, not a secret
    names = [f"c{number}" for number in range(columns)]
    width = datasets // layers
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < links:
        source = chance.randrange(datasets - width)
        layer = source // width + 1 + (chance.random() < 0.1)
        if layer < layers:
            pairs.add((source, layer * width + chance.randrange(width)))
    edges = [
        edge(source, names[column], target, names[(column + 1) % columns])
        for source, target in sorted(pairs)
        for column in range(columns // 2)
    ]
    return document(
        [dataset(f"/lake/table_{number:03}", names, written=number >= width) for number in range(datasets)],
        edges,
    )


def event_of(shown: Document) -> dict[str, Any]:
    """An OpenLineage event with the datasets, columns and edges of a document, of a producer like others."""
    datasets = [
        {
            "namespace": each["namespace"],
            "name": each["name"],
            "facets": {"schema": {"fields": each["columns"]}},
        }
        for each in shown["datasets"]
    ]
    outputs = {
        number: {
            **datasets[number],
            "facets": {**datasets[number]["facets"], "columnLineage": {"fields": {}}},
        }
        for number, each in enumerate(shown["datasets"])
        if each["written"]
    }
    for each in shown["edges"]:
        source = datasets[each["from"]]
        field = {"namespace": source["namespace"], "name": source["name"], "field": each["field"]}
        fields = outputs[each["to"]]["facets"]["columnLineage"]["fields"]
        fields.setdefault(each["column"], {"inputFields": []})["inputFields"].append(field)
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-24T10:00:00Z",
        "run": {"runId": "1"},
        "job": {"namespace": "lake", "name": "all"},
        "inputs": datasets,
        "outputs": list(outputs.values()),
    }


def hostile() -> Document:
    """Names that are markup, addresses, marks of direction, endless or broken."""
    names = [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(2)</script>",
        "javascript:alert(3)",
        "\u202eesrever\u202d \u2067mark",
        "x" * 10_000,
        "a\0b",
        "location",
        "__proto__",
        "constructor",
        "=HYPERLINK(1)",
        "\ud800 half",
        '"><svg onload=alert(4)>',
    ]
    endless = "\u202e" + "y" * 10_000
    datasets = [dataset(name, list(names), namespace=name) for name in names]
    datasets[1].update(
        {"written": True, "change": f"<b>overwrite</b>{endless}", "format": names[0], "catalog": names[0]}
    )
    edges = [edge(number, name, 1, names[0], "DIRECT <b>BOLD</b>") for number, name in enumerate(names)]
    edges.append(edge(0, "__proto__", 1, None, f"INDIRECT {endless}"))
    return document(
        datasets,
        edges,
        title=names[0],
        failures=[dict.fromkeys(("message", "error_class", "sql_state", "execution", "fragment"), names[1])],
        gaps=[{"where": names[0], "kind": names[1], "reason": names[1], "dataset": 1, "column": names[3]}],
        facts=[{"name": names[0], "text": names[2]}],
        links=[
            {"name": names[0], "href": "javascript:alert(5)"},
            {"name": "a <b>", "href": "http://localhost/?<script>"},
        ],
        executions=[execution(1, names[0], [0], [1], began=endless, state=endless)],
    )
