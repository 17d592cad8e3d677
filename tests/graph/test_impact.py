"""`spark-lineage impact`: what depends on a column, what must run again, and a sentence for each mistake."""

from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner
from graph.estate import SHOP, dataset, edges, run, task

from airflow_provider_spark_lineage.cli import main


@pytest.fixture
def impact(tmp_path):
    """Run the command over events, the shop's if none are given."""

    def run_it(*arguments, events=SHOP, is_json=True):
        place = tmp_path / "events.jsonl"
        place.write_text("".join(json.dumps(event) + "\n" for event in events))
        words = ["impact", *arguments, "--events", str(place), *(["--json"] if is_json else [])]
        result = CliRunner().invoke(main, words)
        return json.loads(result.stdout) if is_json and result.exit_code == 0 else result

    return run_it


def columns(answer):
    return {
        f"{each['name']}.{each['field']}": (" ".join(each["how"]), each["depth"])
        for each in answer["columns"]
    }


def test_a_column_is_followed_by_value_and_by_rows(impact):
    """A filter decides all rows of the output, these every column and all that is made from them."""
    assert columns(impact("raw/orders.amount")) == {
        "silver/orders.amount": ("value", 1),
        "gold/report.total": ("value", 2),
    }
    assert columns(impact("raw/orders.day")) == {
        "silver/orders.amount": ("rows", 1),
        "silver/orders.email_hash": ("rows", 1),
        "silver/orders.id": ("rows", 1),
        "gold/report.customers": ("rows", 2),
        "gold/report.total": ("rows", 2),
    }


def test_a_copy_is_told_from_a_computed_value(impact):
    """A copy of a copy is one; what a sum or a mask is made of is computed."""
    events = [
        *SHOP,
        run("copy", [dataset("silver/orders")], [dataset("c", "a", **edges("a <- silver/orders.amount"))]),
    ]
    copies = {
        f"{each['name']}.{each['field']}": each["pass_through"]
        for name in ("raw/orders.amount", "raw/orders.email")
        for each in impact(name, events=events)["columns"]
    }
    assert copies == {
        "silver/orders.amount": True,
        "c.a": True,
        "gold/report.total": False,
        "silver/orders.email_hash": False,
        "gold/report.customers": False,
    }


def test_direct_only_and_depth_cut_the_answer(impact):
    """Values alone; so many jobs."""
    assert columns(impact("raw/orders.day", "--direct-only")) == {}
    assert columns(impact("raw/orders.amount", "--depth", "1")) == {"silver/orders.amount": ("value", 1)}
    jobs = {each["name"] for each in impact("raw/orders.amount", "--depth", "1")["jobs"]}
    assert jobs == {"shop.clean"}


def test_a_dataset_and_a_job_are_all_their_columns_and_rows(impact):
    """What a job wrote is not listed as depending on it, what follows is."""
    whole = impact("raw/orders")
    assert columns(whole)["gold/report.total"] == ("value rows", 2)
    assert columns(impact("shop.clean")) == {
        "gold/report.customers": ("value rows", 1),
        "gold/report.total": ("value rows", 1),
    }


def test_several_columns_are_asked_for_at_once(impact):
    """The answer is what depends on any of them."""
    both = impact("raw/orders.amount", "raw/orders.email")
    assert set(columns(both)) == {
        "silver/orders.amount",
        "silver/orders.email_hash",
        "gold/report.total",
        "gold/report.customers",
    }


def test_whoever_uses_it_is_named_with_run_state_and_owner(impact):
    """A job that only reads a dataset concerned has no way, and is named, too."""
    jobs = {each["name"]: each for each in impact("raw/orders.amount")["jobs"]}
    assert {name: each["how"] for name, each in jobs.items()} == {
        "shop.clean": ["value"],
        "shop.report": ["value"],
        "mail.send": [],
    }
    report = jobs["shop.report"]
    assert (report["dag_id"], report["task_id"], report["owners"]) == ("shop", "report", ["sales"])
    assert report["last_run"] == {
        "id": "shop.report-1-2",
        "state": "complete",
        "time": "2026-01-01T02:00:00Z",
    }


def test_a_dataset_that_nobody_reads_is_said_to_be_so(impact):
    """In the tree, and as an empty list in JSON."""
    alone = impact("raw/orders.amount", events=SHOP[:2])
    assert [each["read_by"] for each in alone["datasets"]] == [["jobs/shop.report"], []]
    assert "report   nobody reads it" in impact("raw/orders.amount", events=SHOP[:2], is_json=False).stdout


def test_a_dataset_without_known_columns_is_listed_as_a_whole(impact):
    """What follows from it, too; the gaps say which part of the answer may be too much or too little."""
    dbt = [
        run("dbt.mart", [dataset("gold/report")], [dataset("mart", "x")], hour=4, ours=False),
        run(
            "dbt.page", [dataset("mart")], [dataset("page", "y", **edges("y <- mart.x"))], hour=5, ours=False
        ),
    ]
    answer = impact("raw/orders.amount", events=[*SHOP, *dbt])
    ways = {each["name"]: (each["how"], each["depth"]) for each in answer["datasets"]}
    assert ways == {
        "silver/orders": (["value"], 1),
        "gold/report": (["value"], 2),
        "mart": (["unknown"], 3),
        "page": (["unknown"], 4),
    }
    assert [(each["name"], each["kind"], each["bound"]) for each in answer["gaps"]] == [
        ("mart", "no_column_lineage", "upper")
    ]


def test_a_gap_of_a_column_below_says_that_there_may_be_more(impact):
    """The answer is a lower bound there."""
    gap = {"where": "", "kind": "udf", "reason": "code of Python", "column": "z"}
    output = {"namespace": "s3://lake", "name": "gold/report"}
    event = run(
        "shop.report",
        [dataset("silver/orders")],
        [dataset("gold/report", "total z", **edges("total <- silver/orders.amount"))],
        hour=9,
        gaps=[{**gap, "output": output}],
    )
    [found] = impact("raw/orders.amount", events=[*SHOP, event])["gaps"]
    assert (found["name"], found["field"], found["bound"]) == ("gold/report", "z", "lower")


def test_a_cycle_ends(impact):
    """A table that is read and written is no dependent of itself, and its job is one circle of the rerun."""
    loop = run(
        "shop.merge",
        [dataset("silver/orders")],
        [dataset("silver/orders", "id amount", **edges("amount <- silver/orders.amount"))],
        hour=4,
        facets=task("shop", "merge"),
    )
    assert columns(impact("silver/orders.amount", events=[*SHOP, loop])) == {
        "gold/report.total": ("value", 1)
    }
    again = impact("raw/orders", "--rerun", events=[*SHOP, loop])["rerun"]
    assert [(each["name"], each["cycle"]) for each in again] == [
        ("shop.clean", None),
        ("shop.merge", 1),
        ("shop.report", None),
    ]


def test_what_must_run_again_is_in_order_with_commands(impact):
    """Each task after those whose outputs it reads; jobs of other systems are somebody else's to run."""
    mart = run("dbt.mart", [dataset("gold/report")], [dataset("mart", "x")], hour=4, ours=False)
    answer = impact("raw/orders.day", "--rerun", events=[mart, *reversed(SHOP)])
    assert [(each["name"], each["after"]) for each in answer["rerun"]] == [
        ("shop.clean", []),
        ("shop.report", ["jobs/shop.clean"]),
        ("dbt.mart", ["jobs/shop.report"]),
    ]
    assert answer["commands"] == [
        "airflow tasks clear shop --task-regex '^(clean|report)$'"
        " --start-date 2026-01-01T00:00:00+00:00 --end-date 2026-01-01T00:00:00+00:00"
    ]
    text = impact("raw/orders.day", "--rerun", events=[mart, *SHOP], is_json=False).stdout
    assert "to be run by their own schedulers, because Airflow does not run them:\n  jobs/dbt.mart" in text


def test_a_column_alone_needs_no_rerun_of_who_does_not_use_it(impact):
    """The report of amounts does not depend on the e-mail; the job that makes its count does."""
    events = [
        *SHOP,
        run(
            "shop.sum",
            [dataset("silver/orders")],
            [dataset("gold/sum", "total", **edges("total <- silver/orders.amount"))],
            hour=4,
        ),
    ]
    names = [each["name"] for each in impact("raw/orders.email", "--rerun", events=events)["rerun"]]
    assert names == ["shop.clean", "shop.report"]


def test_csv_has_a_line_for_each_column(impact):
    """With the last step of the shortest path, for a spreadsheet."""
    lines = [*csv.DictReader(impact("raw/orders.amount", "--csv", is_json=False).stdout.splitlines())]
    assert [(line["field"], line["how"], line["job"], line["from_field"]) for line in lines] == [
        ("amount", "value", "jobs/shop.clean", "amount"),
        ("total", "value", "jobs/shop.report", "amount"),
    ]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("id", "id is not unique: give one of s3://lake/raw/orders.id, s3://lake/silver/orders.id"),
        ("orders", "orders is not unique: give one of s3://lake/raw/orders, s3://lake/silver/orders"),
        (
            "raw/order",
            "raw/order is neither a dataset, a column nor a job in this lineage; the nearest are raw/orders",
        ),
        ("zzz", "zzz is neither a dataset, a column nor a job in this lineage; there are gold/report"),
        ("raw/orders.amuont", "the nearest are orders.amount"),
    ],
)
def test_a_name_that_is_not_one_thing_gets_a_sentence(impact, name, sentence):
    """With the candidates, or the nearest names; exit 2."""
    result = impact(name)
    assert (result.exit_code, sentence in result.output) == (2, True), result.output


@pytest.mark.parametrize("name", ["my table.v1.a.b", "s3://lake/my table.v1.a.b", "my table.v1.*"])
def test_names_may_have_dots_spaces_and_stars(impact, name):
    """A dot is part of a dataset's or a column's name as events have it."""
    field = "*" if name.endswith("*") else "a.b"
    output = dataset("o", "x", **edges("x <- table.q"))
    output["facets"]["columnLineage"]["fields"]["x"]["inputFields"][0] |= {
        "name": "my table.v1",
        "field": field,
    }
    event = run("j", [dataset("my table.v1", "a.b *")], [output])
    assert columns(impact(name, events=[event])) == {"o.x": ("value", 1)}


def test_bad_places_and_options_get_one_sentence(impact, tmp_path):
    """No events, a folder without any, two forms at once, a time that is none."""
    empty = tmp_path / "empty"
    empty.mkdir()
    for words, sentence in (
        (["impact", "x"], "give one of --events PATH"),
        (["impact", "x", "--events", str(empty)], "has no OpenLineage event"),
        (["impact", "x", "--events", str(tmp_path / "no")], "no such file or folder"),
    ):
        result = CliRunner().invoke(main, words)
        assert (result.exit_code, sentence in result.output) == (2, True), result.output
    assert "choose one form" in impact("raw/orders", "--csv").output
    assert "give a date" in impact("raw/orders", "--since", "yesterday").output


def test_lines_that_cannot_be_read_are_told_and_lose_nothing(impact, tmp_path):
    """The answer is printed, the exit code says that something was lost."""
    place = tmp_path / "torn.jsonl"
    place.write_text("".join(json.dumps(event) + "\n" for event in SHOP) + '{"eventType": "COMP')
    result = CliRunner().invoke(main, ["impact", "raw/orders.amount", "--json", "--events", str(place)])
    assert result.exit_code == 2
    assert set(columns(json.loads(result.stdout))) == {"silver/orders.amount", "gold/report.total"}
    assert "torn.jsonl, line 4" in result.stderr


def test_texts_are_places_of_planned_lineage(tmp_path):
    """What depends on a dataset can be asked before anything runs; a text says nothing of columns."""
    script = tmp_path / "report.sql"
    script.write_text("INSERT OVERWRITE DIRECTORY '/gold' USING parquet SELECT * FROM parquet.`/raw`")
    result = CliRunner().invoke(main, ["impact", "/raw", "--json", "--events", str(script)])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert [(each["name"], each["how"]) for each in answer["datasets"]] == [("/gold", ["rows"])]
    assert ("no_column_lineage", "upper") in [(each["kind"], each["bound"]) for each in answer["gaps"]]


HOSTILE = ["[/red]", "[bold]", "a\ud800b", "a\x1b[31mb", "a\nb", ":smile:"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_printed_as_it_is(impact, tmp_path, name):
    """It is no markup, and neither a control character nor half a surrogate pair stops or colours a page."""
    event = run(name, [dataset(name, "x y")], [dataset("out", "x y", **edges("x <- q.x"))], ours=False)
    event["outputs"][0]["facets"]["columnLineage"]["fields"]["x"]["inputFields"][0]["name"] = name
    shown = {"a\ud800b": r"a\ud800b", "a\x1b[31mb": r"a\x1b[31mb", "a\nb": r"a\nb"}.get(name, name)
    for words in ([], ["--rerun"], ["--csv"]):
        result = impact(name, *words, events=[event], is_json=False)
        assert result.exit_code == 0, result.output
        assert words == ["--csv"] or (shown in result.output and "\x1b" not in result.output)
    assert columns(impact(name, events=[event])) == {
        "out.x": ("value rows", 1),
        "out.y": ("rows", 1),
    }
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(run(name, [dataset(name, "x")], [dataset("out", "x")])))
    for form in ("text", "json", "markdown"):
        result = CliRunner().invoke(
            main, ["diff", str(tmp_path / "events.jsonl"), str(other), "--format", form]
        )
        assert (result.exit_code, "\x1b" in result.output) == (0, False), result.output


def test_a_long_chain_is_shown_whole(impact):
    """A tree that does not fit the page goes on in another one."""
    chain = [
        run(f"j{n}", [dataset(f"d{n}")], [dataset(f"d{n + 1}", "a", **edges(f"a <- d{n}.a"))])
        for n in range(40)
    ]
    lines = impact("d0.a", events=chain, is_json=False).stdout.splitlines()
    assert {f"d{n}" for n in range(1, 41)} <= {word for line in lines for word in line.split()}
    assert max(map(len, lines)) <= 110


def test_columns_of_the_asked_dataset_itself_are_shown(impact):
    """A job that updates a table makes one column of it from another."""
    event = run("merge", [dataset("t")], [dataset("t", "a b", **edges("b <- t.a"))])
    assert "copied     b" in impact("t.a", events=[event], is_json=False).stdout


MANY = "the event does not say which of the many inputs fed it"
READS, WRITES = ([dataset(f"{name}/{number}", "x") for number in range(101)] for name in ("in", "out"))
KNOWN = dataset("out/known", "x", **edges("x <- in/1.x"))
BIG = [
    run("big", READS, [*WRITES, KNOWN], hour=1, ours=False),
    run("next", [WRITES[7]], [dataset("last", "x", **edges("x <- out/7.x"))], hour=2),
]
"""A job that reads 101 datasets and writes 102, and does not say which fed which."""


def test_an_answer_says_that_pairs_of_inputs_and_outputs_are_left_out(impact):
    """Any input may have fed any output, also one with known edges, and all that was made from it."""
    answer = impact("in/3", events=BIG)
    assert {each["name"] for each in answer["datasets"]} == {
        *(each["name"] for each in WRITES),
        "out/known",
        "last",
    }
    assert {tuple(each["how"]) for each in answer["datasets"]} == {("unknown",)}
    assert {each["name"] for each in answer["gaps"] if each["kind"] == "unknown_inputs"} >= {
        "out/3",
        "out/known",
    }
    assert MANY in impact("in/3", events=BIG, is_json=False).stdout
    again = impact("in/3", "--rerun", events=BIG)
    assert [each["name"] for each in again["rerun"]] == ["big", "next"]


def test_diff_and_policy_say_that_pairs_of_inputs_and_outputs_are_left_out(tmp_path):
    """What is not known may be a change, or break a rule."""
    few, big, policy = (tmp_path / name for name in ("few.jsonl", "big.jsonl", "policy.yaml"))
    few.write_text(json.dumps(run("big", READS[:50], [*WRITES, KNOWN], hour=1, ours=False)))
    big.write_text("".join(f"{json.dumps(each)}\n" for each in BIG))
    policy.write_text(
        "tags: {secret: in/3.x}\nrules: [{name: r, datasets: out/*, must_not_contain: secret}]\n"
    )
    changes = CliRunner().invoke(main, ["diff", str(few), str(big), "--format", "json"])
    added = [each for each in json.loads(changes.stdout)["changes"] if each["kind"] == "gap_added"]
    assert {(each["after"], each["name"]) for each in added} >= {(MANY, "out/known"), (MANY, "out/3")}
    gate = CliRunner().invoke(main, ["policy", str(policy), "--events", str(big), "--json"])
    unknown = {each["name"] for each in json.loads(gate.stdout)["unknown"]}
    assert unknown == {*(each["name"] for each in WRITES), "out/known"}


def test_events_of_no_run_are_said_and_are_no_mistake(impact):
    """As the tags of a catalog are."""
    tagged = {"eventTime": "2026-01-01T00:00:00Z", "dataset": dataset("gold/report", tags={"tags": []})}
    result = impact("raw/orders", events=[*SHOP, tagged], is_json=False)
    assert (result.exit_code, "belong to no run: 1 dataset event." in result.stderr) == (0, True)


def test_candidates_with_equal_texts_are_told_apart(impact):
    """A dot may be part of a dataset's name or of a column's, and a slash of a namespace or a name."""
    events = [
        run("one", [], [dataset("t", "a.b")], hour=1),
        run("two", [], [dataset("t.a", "b")], hour=2),
    ]
    result = impact("t.a.b", events=events)
    assert "give one of s3://lake t a.b, s3://lake t.a b, or more" in result.stderr


def test_a_dataset_without_a_name_is_called_by_its_namespace(impact):
    """Some producers name a bucket so."""
    bucket = {"namespace": "s3://bucket", "name": "", "facets": {}}
    result = impact("zzz", events=[run("copy", [bucket], [dataset("out", "x")])])
    assert "there are s3://bucket/, out." in result.stderr
