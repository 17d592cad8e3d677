"""`spark-lineage diff`: the change of meaning between two versions, its severity, and who is hit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import product
from typing import Any

import pytest
from click.testing import CliRunner
from graph.estate import dataset, edges, run
from markdown_it import MarkdownIt

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.graph.changes import FlowChange, changes_of
from airflow_provider_spark_lineage.openlineage.graph.current import Current

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

READ = {
    "silver/orders": {"amount", "customer"},
    "silver/customers": {"id", "country", "email"},
    "gold/sales": {"country", "total"},
    "gold/ranking": set(),
}
"""The columns that a job downstream uses."""


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


Said = set[tuple[str, str, str, str | None]]


def said(base: list[dict[str, Any]], head: list[dict[str, Any]]) -> Said:
    """Return severity, kind, dataset and column of each change."""
    changes = changes_of(Current.of(Events.of(base)), Current.of(Events.of(head)))
    return {(each.severity, each.kind, each.dataset[1], each.field) for each in changes}


Edit = Callable[[dict[str, dict[str, Any]]], None]


def planted() -> Iterator[tuple[str, Edit, Said]]:
    """Yield planted changes: a name, what it does to the pipeline, and all that is to be said."""
    for output, each in PIPELINE.items():
        for column in each["columns"]:
            is_read = column in READ[output]
            severity = "breaking" if is_read else "changed"
            yield (
                f"drop {output}.{column}",
                _drop(output, column),
                {(severity, "column_removed", output, column)},
            )
            yield (
                f"type {output}.{column}",
                _retype(output, column),
                {(severity, "type_changed", output, column)},
            )
        first = each["inputs"][0]
        yield (
            f"filter {output}",
            _edge(output, f"* <- {first}.added INDIRECT FILTER"),
            {("changed", "rows_changed", output, None)},
        )
        yield (
            f"new column {output}",
            _new(output, "extra", f"extra <- {first}.x"),
            {("added", "column_added", output, "extra")},
        )
        yield (
            f"other source {output}",
            _swap(output, 0, f"{first}.other"),
            {("changed", "sources_changed", output, each["edges"][0].split()[0])},
        )
        yield f"gap {output}", _gap(output), {("unknown", "gap_added", output, None)}
        yield f"new dataset of {output}", _copy(output), {("added", "dataset_added", f"{output}_copy", None)}
    join, filtered = "* <- silver/orders.{} INDIRECT JOIN", "* <- raw/orders.day INDIRECT FILTER"
    total = "total <- silver/orders.amount"
    for output, number in product(("silver/orders", "silver/customers", "gold/sales"), (0, 1, 2)):
        column = PIPELINE[output]["edges"][number].split()[0]
        if "masked" not in PIPELINE[output]["edges"][number]:
            yield f"mask {output}.{column}", _mask(output, number), {("changed", "masked", output, column)}
    yield "unmask", _unmask, {("breaking", "unmasked", "silver/customers", "email")}
    yield (
        "join key",
        _replace("gold/sales", join.format("customer"), join.format("id")),
        {("changed", "rows_changed", "gold/sales", None)},
    )
    yield (
        "no filter",
        _replace("silver/orders", filtered, None),
        {("changed", "rows_changed", "silver/orders", None)},
    )
    yield (
        "sum to copy",
        _replace("gold/sales", f"{total} DIRECT AGGREGATION", total),
        {("changed", "sources_changed", "gold/sales", "total")},
    )
    yield (
        "no ranking",
        lambda pipeline: pipeline.pop("gold/ranking"),
        {("changed", "dataset_removed", "gold/ranking", None)},
    )
    yield (
        "no sales",
        lambda pipeline: pipeline.pop("gold/sales"),
        {("breaking", "dataset_removed", "gold/sales", None)},
    )
    yield (
        "another table is joined without a key",
        _read("gold/sales", "raw/rates"),
        {
            ("changed", "rows_changed", "gold/sales", None),
            ("added", "dataset_added", "raw/rates", None),
        },
    )


def _drop(output: str, column: str) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        del pipeline[output]["columns"][column]
        pipeline[output]["edges"] = [
            text for text in pipeline[output]["edges"] if not text.startswith(f"{column} <-")
        ]

    return edit


def _retype(output: str, column: str) -> Edit:
    return lambda pipeline: pipeline[output]["columns"].update({column: "binary"})


def _edge(output: str, text: str) -> Edit:
    return lambda pipeline: pipeline[output]["edges"].append(text)


def _new(output: str, column: str, text: str) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        pipeline[output]["columns"][column] = "string"
        pipeline[output]["edges"].append(text)

    return edit


def _swap(output: str, number: int, source: str) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        words = pipeline[output]["edges"][number].split()
        pipeline[output]["edges"][number] = " ".join([*words[:2], source, *words[3:]])

    return edit


def _replace(output: str, before: str, after: str | None) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        some = pipeline[output]["edges"]
        some[some.index(before) : some.index(before) + 1] = [after] if after else []

    return edit


def _gap(output: str) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        named = {"namespace": "s3://lake", "name": output}
        pipeline[output]["gaps"] = [{"where": "", "kind": "udf", "reason": "code", "output": named}]
        pipeline[output]["edges"] = pipeline[output]["edges"][1:]

    return edit


def _copy(output: str) -> Edit:
    return lambda pipeline: pipeline.update({f"{output}_copy": {**pipeline[output], "job": "copy"}})


def _mask(output: str, number: int) -> Edit:
    def edit(pipeline: dict[str, dict[str, Any]]) -> None:
        column, _, source, *_ = pipeline[output]["edges"][number].split()
        pipeline[output]["edges"][number] = f"{column} <- {source} DIRECT TRANSFORMATION masked"

    return edit


def _unmask(pipeline: dict[str, dict[str, Any]]) -> None:
    pipeline["silver/customers"]["edges"][2] = "email <- raw/customers.email"


def _read(output: str, name: str) -> Edit:
    return lambda pipeline: pipeline[output]["inputs"].append(name)


PLANTED = list(planted())


def changed(edit: Edit) -> list[dict[str, Any]]:
    pipeline = deepcopy(PIPELINE)
    edit(pipeline)
    return events(pipeline)


@pytest.mark.parametrize(("edit", "expected"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED])
def test_a_planted_change_is_found_and_nothing_else_is_said(edit, expected):
    """One change each, with its severity: breaking only if somebody downstream uses it."""
    assert said(events(PIPELINE), changed(edit)) == expected


OTHER_NAME = {
    "column_removed": "column_added",
    "column_added": "column_removed",
    "dataset_removed": "dataset_added",
    "dataset_added": "dataset_removed",
    "masked": "unmasked",
    "unmasked": "masked",
}


@pytest.mark.parametrize("edit", [row[1] for row in PLANTED], ids=[row[0] for row in PLANTED])
def test_a_change_turned_around_is_its_opposite(edit):
    """What is new in one direction is gone in the other; a gap that ends hides nothing more."""
    base, head = events(PIPELINE), changed(edit)
    there = {
        (OTHER_NAME.get(kind, kind), *more) for _, kind, *more in said(base, head) if kind != "gap_added"
    }
    back = {tuple(more) for _, *more in said(head, base)}
    assert there <= back
    assert said(head, head) == set()


def test_runs_times_order_and_names_of_jobs_have_no_meaning():
    """The same flow by other jobs, in another order, later."""
    renamed = {output: {**each, "job": f"new_{each['job']}"} for output, each in PIPELINE.items()}
    assert said(events(PIPELINE), events(renamed, day=9)[::-1]) == set()


def test_a_rename_is_shown_as_one_and_is_breaking():
    """A column gone and a new one with equal sources and type."""
    head = deepcopy(PIPELINE)
    head["silver/orders"]["columns"] = {"id": "long", "price": "double", "customer": "long", "note": "string"}
    head["silver/orders"]["edges"][1] = "price <- raw/orders.amount DIRECT TRANSFORMATION"
    changes = changes_of(Current.of(Events.of(events(PIPELINE))), Current.of(Events.of(events(head))))
    assert [(each.severity, each.kind, each.field, each.renamed_to) for each in changes] == [
        ("breaking", "column_removed", "amount", "price"),
        ("added", "column_added", "price", None),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("INT", "integer"),
        ("bigint", "long"),
        ("short", "smallint"),
        ("byte", "TINYINT"),
        ("real", "float"),
        ("numeric(10)", "decimal(10, 0)"),
        ("decimal", "decimal(10,0)"),
        ("timestamp_ltz", "timestamp"),
        ("array<int>", "array<_element: integer>"),
        ("map<string,struct<a:bigint>>", "map<key: string, value: struct<a: long>>"),
        ("struct<int:int,b:array<short>>", "struct<int: integer, b: array<smallint>>"),
    ],
)
def test_another_spelling_of_a_type_is_no_change(before, after):
    """Two producers call one type by two names, also inside of another."""
    assert not retyped(before, after)
    assert not retyped(after, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("string", "varchar(10)"),
        ("int", "bigint"),
        ("timestamp", "timestamp_ntz"),
        ("decimal(10)", "decimal(10,2)"),
        ("float", "double"),
        ("struct<int:int>", "struct<integer:int>"),
        ("struct<a:int>", "struct<a:long>"),
        ("map<int,string>", "map<string,int>"),
        ("array<int>", "array<array<int>>"),
    ],
)
def test_another_type_is_a_change(before, after):
    """Only spellings of one type are equal."""
    assert [(each.kind, each.before, each.after) for each in retyped(before, after)] == [
        ("type_changed", before, after)
    ]


def retyped(before: str, after: str) -> list[FlowChange]:
    """Return the changes of a dataset whose column `x` has one type, and then another."""
    sides = []
    for kind in (before, after):
        schema = {"fields": [{"name": "x", "type": kind}]}
        sides.append(Current.of(Events.of([run("etl", [], [dataset("/out", schema=schema)])])))
    return changes_of(*sides)


def test_another_type_of_a_member_is_another_type_of_its_column():
    """OpenLineage has the members of a struct below its column."""

    def written(kind):
        output = dataset("people")
        address = {"name": "address", "type": "struct", "fields": [{"name": "zip", "type": kind}]}
        output["facets"]["schema"] = {"fields": [address]}
        return Current.of(Events.of([run("load", [dataset("raw")], [output])]))

    [change] = changes_of(written("integer"), written("string"))
    assert (change.kind, change.before, change.after) == (
        "type_changed",
        "struct<zip: integer>",
        "struct<zip: string>",
    )


@pytest.fixture
def diff(tmp_path):
    def run_it(base, head, *options, production=None):
        places = []
        for name, some in (("base", base), ("head", head), ("production", production)):
            if some is not None:
                place = tmp_path / f"{name}.jsonl"
                place.write_text("".join(json.dumps(event) + "\n" for event in some))
                places += ["--production", str(place)] if name == "production" else [str(place)]
        return CliRunner().invoke(main, ["diff", *places, *options])

    return run_it


def test_who_is_hit_in_production_is_named(diff):
    """A job that neither version has makes a removed column breaking."""
    mail = run("mail", [dataset("silver/orders")], [dataset("sent", "n", **edges("n <- silver/orders.note"))])
    result = diff(
        events(PIPELINE), changed(_drop("silver/orders", "note")), "--format", "json", production=[mail]
    )
    [change] = json.loads(result.stdout)["changes"]
    assert (change["severity"], change["hits"]) == ("breaking", [{"namespace": "jobs", "name": "mail"}])
    assert result.exit_code == 1


def test_a_second_writer_in_production_is_hit(diff):
    """It is no former name of the first one, which production has, too."""
    late = run(
        "late",
        [dataset("silver/orders")],
        [dataset("gold/ranking", "country", **edges("country <- silver/orders.note"))],
    )
    head = changed(_drop("silver/orders", "note"))
    result = diff(events(PIPELINE), head, "--format", "json", production=[*events(PIPELINE), late])
    [change] = json.loads(result.stdout)["changes"]
    assert [job["name"] for job in change["hits"]] == ["late"]


@pytest.mark.parametrize(
    ("fail_on", "edit", "code"),
    [
        ("breaking", _unmask, 1),
        ("breaking", _retype("gold/ranking", "place"), 0),
        ("changed", _retype("gold/ranking", "place"), 1),
        ("changed", _gap("gold/sales"), 1),
        ("changed", _new("gold/sales", "extra", "extra <- silver/orders.x"), 0),
        ("added", _new("gold/sales", "extra", "extra <- silver/orders.x"), 1),
        ("never", _unmask, 0),
    ],
)
def test_the_severity_decides_the_exit_status(diff, fail_on, edit, code):
    """The one asked for, or a worse one; what a gap hides may be a change."""
    assert diff(events(PIPELINE), changed(edit), "--fail-on", fail_on).exit_code == code


def test_the_text_says_what_and_who(diff):
    """Grouped by severity, with a summary first."""
    text = diff(events(PIPELINE), changed(_drop("silver/customers", "country"))).stdout
    assert text == ("1 breaking\n\nbreaking\n  customers.country: is gone\n      used by rank, sum\n")
    assert diff(events(PIPELINE), events(PIPELINE)).stdout == "The data flow is the same.\n"


def test_markdown_fits_a_comment_whatever_the_size(diff):
    """Under 60,000 characters, summary first, and no name can break the table."""
    big = deepcopy(PIPELINE)
    big["gold/wide"] = {
        "job": "wide",
        "inputs": ["silver/orders"],
        "columns": {f"<b>|column_{number}": "string" for number in range(4_000)},
        "edges": [],
    }
    small = deepcopy(big)
    small["gold/wide"]["columns"] = {"one": "string"}
    text = diff(events(big), events(small), "--format", "markdown").stdout
    assert len(text) < 60_000
    assert text.startswith("### Data flow\n\n4,000 changed, 1 added\n")
    assert "<b>" not in text
    assert "more | | |" in text


HOSTILE = [
    "@someone",
    "a@example.com",
    "org/repo#12",
    "#123",
    "GH-7",
    "https://example.com/x",
    "www.example.com",
    "[text](https://example.com)",
    "![picture](x.png)",
    "<img src=x onerror=alert(1)>",
    "</details><script>",
    "`code` ``",
    "```",
    "a|b",
    "*bold* _x_ ~~y~~ $z$",
    ":tada:",
    "\\",
    "line\nbreak",
    "&#64;someone",
    "<!-- -->",
]


def test_a_name_is_text_in_the_comment(diff):
    """No name pings a person, links an issue or a page, or ends the table; a reader sees the name."""
    sides = []
    for names in (HOSTILE, ["other"]):
        schema = {"fields": [{"name": name, "type": "string"} for name in names]}
        output = dataset("gold/@team", schema=schema)
        sides.append([run("#1 @job", [dataset("raw")], [output]), run("#9 @job", [output])])
    text = diff(*sides, "--format", "markdown").stdout
    assert not re.search(r"@\w|#\d+\b(?!;)|GH-\d|https?://|www\.", text)
    tags, rows = rendered(text)
    assert set(tags) == {"h3", "p", "details", "table", "thead", "tbody", "tr", "th", "td"}
    shown = {row[0].replace("\u200b", "").partition(".")[2] for row in rows}
    assert shown >= {" ".join(name.split()) for name in HOSTILE}
    assert not [cell for row in rows for cell in row if re.search(r"[@#]\w|GH-\d|:tada:", cell)]


_DETAILS = r"<details( open)?><summary>\w+ \(\d+\)</summary>\n|</details>\n?"


def rendered(text: str) -> tuple[list[str], list[list[str]]]:
    """Return the tags that markdown makes of a text, and the cells of the rows of its tables."""
    tags, rows = [], []
    for token in MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text):
        tags.append("details" if re.fullmatch(_DETAILS, token.content) else token.type.partition("html_")[1])
        tags.append(token.tag)
        if token.tag == "tr" and token.nesting == 1:
            rows.append([])
        for child in token.children or ():
            tags += [child.type.partition("html_")[1], child.tag]
        if token.type == "inline" and rows:
            rows[-1].append("".join(child.content for child in token.children))
    return [tag for tag in tags if tag], rows


def test_names_that_are_not_followed_are_said(diff):
    """What two producers call by one name in turn may hide a change: each form says so."""
    facets = {"symlinks": {"identifiers": [{"namespace": "hive", "name": "db.t", "type": "TABLE"}]}}
    places = ("a", "b", "a")
    written = [run(f"j{n}", [], [dataset(place, **facets)], day=n + 1) for n, place in enumerate(places)]
    forms = {form: diff(written, written, "--format", form).stdout for form in ("text", "markdown", "json")}
    assert "not followed: hive/db.t." in forms["text"]
    assert "not followed: hive/db.t." in forms["markdown"]
    assert json.loads(forms["json"]) == {
        "changes": [],
        "contradictions": [{"namespace": "hive", "name": "db.t"}],
    }


def test_two_pipelines_are_no_versions_of_one(diff):
    """One sentence, and the status of bad input."""
    other = [run("x", [dataset("p")], [dataset("q")])]
    result = diff(events(PIPELINE), other)
    assert (result.exit_code, "no dataset in common" in result.stderr) == (2, True)


def test_two_texts_are_compared_by_what_they_read_and_write(tmp_path):
    """The branch's script and that of main, before anything runs."""
    places = []
    for name, source in (("main", "raw.a"), ("branch", "raw.b")):
        place = tmp_path / name / "report.sql"
        place.parent.mkdir()
        place.write_text(f"INSERT OVERWRITE TABLE gold.t SELECT * FROM {source}")  # noqa: S608
        places.append(str(place))
    result = CliRunner().invoke(main, ["diff", *places, "--format", "json"])
    kinds = {(each["kind"], each["name"].rpartition(".")[2]) for each in json.loads(result.stdout)["changes"]}
    assert kinds == {("rows_changed", "t"), ("dataset_added", "b"), ("dataset_removed", "a")}


TAGGED = {
    "eventTime": "2026-01-01T00:00:00Z",
    "dataset": {"namespace": "s3://lake", "name": "gold/sales", "facets": {"tags": {"tags": []}}},
}
"""The event of a catalog, which belongs to no run."""


@pytest.mark.parametrize(("edit", "code"), [(None, 0), (_unmask, 1)], ids=["same", "breaking"])
def test_events_of_no_run_do_not_decide_the_exit_status(diff, edit, code):
    """They are said to be left out, and nothing is wrong with them."""
    head = changed(edit) if edit else events(PIPELINE)
    result = diff([*events(PIPELINE), TAGGED], [*head, TAGGED])
    assert result.exit_code == code
    assert result.stderr.count("belong to no run: 1 dataset event.") == 2
