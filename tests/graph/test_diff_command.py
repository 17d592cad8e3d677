"""`spark-lineage diff`: its forms, its exit status, and who is hit in production."""

from __future__ import annotations

import json
import re
from copy import deepcopy

import pytest
from click.testing import CliRunner
from graph import edits
from graph.edits import PIPELINE, changed, events
from graph.estate import dataset, edges, run
from markdown_it import MarkdownIt

from airflow_provider_spark_lineage.cli import main


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
        events(PIPELINE), changed(edits.drop("silver/orders", "note")), "--format", "json", production=[mail]
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
    head = changed(edits.drop("silver/orders", "note"))
    result = diff(events(PIPELINE), head, "--format", "json", production=[*events(PIPELINE), late])
    [change] = json.loads(result.stdout)["changes"]
    assert [job["name"] for job in change["hits"]] == ["late"]


@pytest.mark.parametrize(
    ("fail_on", "edit", "code"),
    [
        ("breaking", edits.unmask, 1),
        ("breaking", edits.retype("gold/ranking", "place"), 0),
        ("changed", edits.retype("gold/ranking", "place"), 1),
        ("changed", edits.gap("gold/sales"), 1),
        ("changed", edits.new("gold/sales", "extra", "extra <- silver/orders.x"), 0),
        ("added", edits.new("gold/sales", "extra", "extra <- silver/orders.x"), 1),
        ("never", edits.unmask, 0),
    ],
)
def test_the_severity_decides_the_exit_status(diff, fail_on, edit, code):
    """The one asked for, or a worse one; what a gap hides may be a change."""
    assert diff(events(PIPELINE), changed(edit), "--fail-on", fail_on).exit_code == code


def test_the_text_says_what_and_who(diff):
    """Grouped by severity, with a summary first."""
    text = diff(events(PIPELINE), changed(edits.drop("silver/customers", "country"))).stdout
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


@pytest.mark.parametrize(("edit", "code"), [(None, 0), (edits.unmask, 1)], ids=["same", "breaking"])
def test_events_of_no_run_do_not_decide_the_exit_status(diff, edit, code):
    """They are said to be left out, and nothing is wrong with them."""
    head = changed(edit) if edit else events(PIPELINE)
    result = diff([*events(PIPELINE), TAGGED], [*head, TAGGED])
    assert result.exit_code == code
    assert result.stderr.count("belong to no run: 1 dataset event.") == 2
