"""The pipeline of a shop, its events, and edits of it that change what flows where."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from graph.estate import dataset, edges, run

PIPELINE: dict[str, dict[str, Any]] = {
    "silver/orders": {
        "job": "clean",
        "inputs": ["raw/orders"],
        "columns": {"id": "long", "amount": "double", "customer": "long", "note": "string"},
        "edges": [
            "id <- raw/orders.id",
            "amount <- raw/orders.amount DIRECT TRANSFORMATION",
            "customer <- raw/orders.customer",
            "note <- raw/orders.note",
            "* <- raw/orders.day INDIRECT FILTER",
        ],
    },
    "silver/customers": {
        "job": "mask",
        "inputs": ["raw/customers"],
        "columns": {"id": "long", "country": "string", "email": "string"},
        "edges": [
            "id <- raw/customers.id",
            "country <- raw/customers.country",
            "email <- raw/customers.email DIRECT TRANSFORMATION masked",
        ],
    },
    "gold/sales": {
        "job": "sum",
        "inputs": ["silver/orders", "silver/customers"],
        "columns": {"country": "string", "total": "double", "emails": "long"},
        "edges": [
            "country <- silver/customers.country",
            "total <- silver/orders.amount DIRECT AGGREGATION",
            "emails <- silver/customers.email DIRECT AGGREGATION",
            "* <- silver/orders.customer INDIRECT JOIN",
            "* <- silver/customers.id INDIRECT JOIN",
            "* <- silver/customers.country INDIRECT GROUP_BY",
        ],
    },
    "gold/ranking": {
        "job": "rank",
        "inputs": ["gold/sales"],
        "columns": {"country": "string", "place": "integer"},
        "edges": ["country <- gold/sales.country", "place <- gold/sales.total INDIRECT WINDOW"],
    },
}
"""Outputs of a shop's pipeline, each with its job."""


def events(pipeline: dict[str, dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    return [
        run(
            each["job"],
            [dataset(name, _fields(pipeline, name)) for name in each["inputs"]],
            [dataset(output, _fields(pipeline, output), **edges(*each["edges"]))],
            hour=hour,
            gaps=each.get("gaps", []),
            **more,
        )
        for hour, (output, each) in enumerate(pipeline.items())
    ]


def _fields(pipeline: dict[str, dict[str, Any]], name: str) -> str:
    columns = pipeline.get(name, {"columns": {}})["columns"]
    return " ".join(f"{column}:{kind}" for column, kind in columns.items())


Edit = Callable[[dict[str, dict[str, Any]]], None]


def drop(output: str, column: str) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        del pipeline[output]["columns"][column]
        pipeline[output]["edges"] = [
            text for text in pipeline[output]["edges"] if not text.startswith(f"{column} <-")
        ]

    return edit


def retype(output: str, column: str) -> Edit:
    return lambda pipeline: pipeline[output]["columns"].update({column: "binary"})


def edge(output: str, text: str) -> Edit:
    return lambda pipeline: pipeline[output]["edges"].append(text)


def new(output: str, column: str, text: str) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        pipeline[output]["columns"][column] = "string"
        pipeline[output]["edges"].append(text)

    return edit


def swap(output: str, number: int, source: str) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        words = pipeline[output]["edges"][number].split()
        pipeline[output]["edges"][number] = " ".join([*words[:2], source, *words[3:]])

    return edit


def replace(output: str, before: str, after: str | None) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        some = pipeline[output]["edges"]
        some[some.index(before) : some.index(before) + 1] = [after] if after else []

    return edit


def gap(output: str) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        named = {"namespace": "s3://lake", "name": output}
        pipeline[output]["gaps"] = [{"where": "", "kind": "udf", "reason": "code", "output": named}]
        pipeline[output]["edges"] = pipeline[output]["edges"][1:]

    return edit


def copy(output: str) -> Edit:
    return lambda pipeline: pipeline.update({f"{output}_copy": {**pipeline[output], "job": "copy"}})


def mask(output: str, number: int) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        column, _, source, *_ = pipeline[output]["edges"][number].split()
        pipeline[output]["edges"][number] = f"{column} <- {source} DIRECT TRANSFORMATION masked"

    return edit


def unmask(pipeline: dict[str, dict[str, Any]]) -> None:
    pipeline["silver/customers"]["edges"][2] = "email <- raw/customers.email"


def read(output: str, name: str) -> Edit:
    return lambda pipeline: pipeline[output]["inputs"].append(name)


def changed(edit: Edit) -> list[dict[str, Any]]:
    pipeline = deepcopy(PIPELINE)
    edit(pipeline)
    return events(pipeline)
