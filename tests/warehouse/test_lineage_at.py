"""`--as-of` and `--since` with `--warehouse`: lineage, tags and answers are those of the events."""

from __future__ import annotations

import json
import random
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from graph.estate import NAMESPACE, dataset, edges, run, task
from warehouse.histories import comparable, events_in, history
from warehouse.plain_tables import plain_warehouse
from warehouse.two_times import keep_current, over_midnight, times_of

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.policy.tags import EventTag, tags_in, tags_of_facets
from airflow_provider_spark_lineage.openlineage.warehouse import lineage_at as module
from airflow_provider_spark_lineage.openlineage.warehouse.asking import loaded_tables
from airflow_provider_spark_lineage.openlineage.warehouse.lineage_at import LineageWithTags, lineage_at
from airflow_provider_spark_lineage.openlineage.warehouse.past_names import events_with
from airflow_provider_spark_lineage.openlineage.warehouse.retention import retain

Documents = list[dict[str, Any]]

FIRST = instant_ns("2026-01-01T20:00:00Z")
"""A time at which all histories have begun."""


def times_in(seed: int, days: str) -> list[dict[str, int]]:
    """Return the options `--since` and `--as-of`: each alone, and both."""
    begin, end = (max(time, FIRST) for time in times_of(random.Random(seed), days))  # noqa: S311
    return [{"as_of": begin}, {"as_of": end}, {"since": begin}, {"since": begin, "as_of": end}]


def of_events(
    documents: Documents, times: dict[str, int], without: Any = ()
) -> tuple[Current, set[EventTag]]:
    """Return the lineage and the tags in all events, without some jobs."""
    events = events_in(documents)
    known = Current.of(events, **times)
    limit = times.get("as_of", instant_ns("2027-01-01T00:00:00Z"))
    tags = tags_in([event for event in events if (event.time_ns or 0) <= limit], known.aliases)
    some = Current(
        tuple(write for write in known.writes if write.job not in without),
        tuple(read for read in known.reads if read.job not in without),
        {job: last for job, last in known.runs.items() if job not in without},
        known.aliases,
        known.contradictions,
    )
    return some, {tag for tag in tags if tag.dataset in some.datasets}


def tags_of(lineage: LineageWithTags) -> set[EventTag]:
    """Return the tags of datasets of the lineage; a rule uses no others."""
    tags = tags_of_facets(lineage.tag_facets, lineage.current.aliases)
    return {tag for tag in tags if tag.dataset in lineage.current.datasets}


@pytest.mark.parametrize("seed", range(50))
def test_lineage_at_a_time_is_that_of_the_events(tmp_path, seed):
    """Writes, reads, columns, gaps, tags, names, and the last run of each job, with its task and owners."""
    documents = history(seed)
    path = plain_warehouse(tmp_path / "w", documents)
    keep_current(path, documents)
    for times in times_in(seed, "12345"):
        lineage = lineage_at(path, **times, with_tags=True)
        known, tags = of_events(documents, times)
        assert comparable(lineage.current) == comparable(known)
        assert tags_of(lineage) == tags
        assert [*lineage.left_out, *lineage.perhaps_tagged] == []


@pytest.mark.parametrize(("events_days", "runs_days"), [(2, 99), (1, 3)])
@pytest.mark.parametrize("seed", range(10))
def test_after_retain_only_jobs_that_are_not_known_are_left_out(tmp_path, seed, events_days, runs_days):
    """What is known of the others stays exact."""
    documents = history(seed, days=5)
    path = plain_warehouse(tmp_path / "w", documents)
    keep_current(path, documents)
    retain(path, events_days=events_days, runs_days=runs_days, today=date(2026, 1, 5))
    for times in times_in(seed, "45"):
        lineage = lineage_at(path, **times)
        known, _ = of_events(documents, times, lineage.left_out)
        assert comparable(lineage.current) == comparable(known)
        assert not lineage.left_out or "as_of" in times


def test_runs_before_since_leave_no_job_out(tmp_path):
    """What was dropped had ended before, and would not count."""
    read, written = [dataset("raw", "id")], [dataset("out", "id", **edges("id <- raw.id"))]
    documents = [
        *(run("load", read, written, day=day) for day in (1, 7)),
        *(run("daily", read, written, day=day) for day in range(1, 8)),
    ]
    path = plain_warehouse(tmp_path / "w", documents)
    keep_current(path, documents)
    retain(path, events_days=3, runs_days=4, today=date(2026, 1, 7))
    as_of = instant_ns("2026-01-05T20:00:00Z")
    assert [job.name for job in lineage_at(path, as_of=as_of).left_out] == ["load"]
    for day, left_out in ((2, ["load"]), (4, []), (5, [])):
        times = {"since": instant_ns(f"2026-01-{day:02}T00:00:00Z"), "as_of": as_of}
        lineage = lineage_at(path, **times)
        assert [job.name for job in lineage.left_out] == left_out
        assert comparable(lineage.current) == comparable(of_events(documents, times, lineage.left_out)[0])


def over_noon() -> Documents:
    """Return an execution that ends at ten, and its task, whose first event is at noon."""
    parent = {"parent": {"run": {"runId": "task"}, "job": {"namespace": "jobs", "name": "etl.t"}}}
    out = dataset("out", "id", **edges("id <- raw.id"))
    return [
        run("etl.t.execution", [dataset("raw", "id")], [out], hour=10, id="execution", facets=parent),
        run("etl.t", hour=12, id="task", facets=task("etl", "t"), state="START"),
        run("etl.t", hour=14, id="task", facets=task("etl", "t")),
    ]


def test_a_later_event_tells_nothing_of_a_run(tmp_path):
    """At eleven nobody knows its task, whatever is asked."""
    path = plain_warehouse(tmp_path / "w", over_noon())
    for hour, dag in ((11, ""), (13, "etl"), (15, "etl")):
        as_of = instant_ns(f"2026-01-01T{hour}:00:00Z")
        known, _ = of_events(over_noon(), {"as_of": as_of})
        assert {write.run.dag_id for write in known.writes} == {dag}
        assert comparable(lineage_at(path, as_of=as_of).current) == comparable(known)


def test_the_last_run_of_a_job_may_have_no_lineage(tmp_path):
    """It failed before it read anything, and the answer says that it failed."""
    out = dataset("out", "id", **edges("id <- raw.id"))
    documents = [
        run("load", [dataset("raw", "id")], [out], day=1),
        run("load", day=2, state="FAIL"),
        run("idle", day=2),
        run("load", [dataset("raw", "id")], [out], day=3),
    ]
    path = plain_warehouse(tmp_path / "w", documents)
    times = {"as_of": instant_ns("2026-01-03T00:00:00Z")}
    found = lineage_at(path, **times).current
    assert comparable(found) == comparable(of_events(documents, times)[0])
    assert {job.name: last.state for job, last in found.runs.items()} == {"load": "fail", "idle": "complete"}


def tagged(day: int, name: str, *keys: str) -> dict[str, Any]:
    tags = {"tags": [{"key": key, "value": "", "field": "id"} for key in keys]}
    return {
        "eventTime": f"2026-01-{day:02}T12:00:00Z",
        "producer": "catalog",
        "dataset": {"namespace": NAMESPACE, "name": name, "facets": {"tags": tags}},
    }


def catalog() -> Documents:
    """Return events of a catalog that tags `crm` twice, and `late` and `other` on the third day alone."""
    out = dataset("out", "id", **edges("id <- crm.id", "id <- late.id"))
    return [
        run("load", [dataset("crm", "id"), dataset("late", "id")], [out], day=1),
        tagged(1, "crm", "pii"),
        tagged(2, "crm", "internal", "pii"),
        *(tagged(3, name, "public") for name in ("crm", "late", "other")),
        run("load", [dataset("crm", "id"), dataset("late", "id")], [out], day=3, hour=1),
    ]


@pytest.mark.parametrize(
    ("as_of", "tags"),
    [
        ("2026-01-01T11:00:00Z", set()),
        ("2026-01-01T12:00:00Z", {"crm pii"}),
        ("2026-01-03T11:59:59Z", {"crm internal", "crm pii"}),
        ("2026-01-03T12:00:00Z", {"crm public", "late public"}),
    ],
)
def test_tags_are_those_of_the_newest_facet_at_that_time(tmp_path, as_of, tags):
    """The table has the newest of all, so the events tell those before it."""
    path = plain_warehouse(tmp_path / "w", catalog())
    times = {"as_of": instant_ns(as_of)}
    found = tags_of(lineage_at(path, **times, with_tags=True))
    assert {f"{tag.dataset[1]} {tag.tag}" for tag in found} == tags
    assert found == of_events(catalog(), times)[1]
    assert not lineage_at(path, **times).tag_facets


def test_a_dataset_outside_of_the_lineage_is_not_looked_for(tmp_path, monkeypatch):
    """Nothing before its first tags has it, so all events since the first date would be read."""
    days: list[str] = []

    def noted(snapshot: Any, day: str, parts: Any) -> Any:
        days.append(day)
        return events_with(snapshot, day, parts)

    monkeypatch.setattr(module, "events_with", noted)
    documents = [
        run("load", [dataset("crm", "id")], [dataset("out", "id", **edges("id <- crm.id"))], day=1),
        tagged(2, "crm", "pii"),
        *(tagged(3, name, "public") for name in ("crm", "other")),
    ]
    path = plain_warehouse(tmp_path / "w", documents)
    lineage = lineage_at(path, as_of=instant_ns("2026-01-03T06:00:00Z"), with_tags=True)
    assert {f"{tag.dataset[1]} {tag.tag}" for tag in tags_of(lineage)} == {"crm pii"}
    assert days == ["2026-01-03", "2026-01-02"]


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text("rules:\n- {name: no mail, datasets: '*out*', must_not_contain: pii}\n")
    return file


def test_tags_of_events_that_are_gone_are_not_taken_for_safety(tmp_path, policy):
    """`late` has tags now; whether it had some then, nobody knows. `other` is in no lineage."""
    path = plain_warehouse(tmp_path / "w", catalog())
    assert invoke("policy", policy, "--warehouse", path, "--as-of", "2026-01-03T06:00:00Z").exit_code == 1
    retain(path, events_days=2, runs_days=99, today=date(2026, 1, 3))
    words = "--warehouse", path, "--as-of", "2026-01-03T06:00:00Z"
    sentence = (
        "spark-lineage: Tags may be missing, because `warehouse retain` has dropped events that may have had"
        " them at --as-of: s3://lake/late.\n"
    )
    broken = invoke("policy", policy, *words)
    assert (broken.exit_code, broken.stderr) == (1, sentence)
    policy.write_text(policy.read_text().replace("pii", "secret"))
    passed = invoke("policy", policy, *words)
    assert (passed.exit_code, passed.stderr) == (2, sentence)
    found = json.loads(invoke("policy", policy, *words, "--json").stdout)
    assert found["perhaps_tagged"] == [{"namespace": NAMESPACE, "name": "late"}]
    # Impact has no tags, and reads none.
    assert invoke("impact", "out", *words).stderr == ""


TIMES = [
    ["--as-of", "2026-01-03"],
    ["--as-of", "2026-01-02T06:30:00+01:00"],
    ["--since", "2026-01-03"],
    ["--since", "2026-01-02", "--as-of", "2026-01-03T12:00:00Z"],
]


@pytest.mark.parametrize("times", TIMES, ids=" ".join)
@pytest.mark.parametrize("seed", [1, 4, 7])
def test_the_commands_give_one_answer_for_events_and_for_their_warehouse(tmp_path, policy, seed, times):
    """In each form; also the picture."""
    documents = history(seed)
    path = plain_warehouse(tmp_path / "w", documents)
    keep_current(path, documents)
    events = tmp_path / "events.jsonl"
    events.write_text("".join(f"{json.dumps(event.document)}\n" for event in events_in(documents)))
    with policy.open("a") as file:
        file.write(
            "- {name: one writer, datasets: '*', writers: 1}\n- {name: gaps, datasets: '*', gaps: none}\n"
        )
    of_the_warehouse, of_the_events = ("--warehouse", path), ("--events", events)
    for words in (
        *(["impact", name, *form] for name in ("raw0.id", "out1") for form in ([], ["--rerun"], ["--csv"])),
        *(["impact", "raw0", "--json", *form] for form in ([], ["--rerun"])),
        ["policy", policy, "--json"],
    ):
        asked, known = (invoke(*words, *times, *more) for more in (of_the_warehouse, of_the_events))
        assert asked.exit_code == known.exit_code
        if "--json" in words:
            # A warehouse also says that it has lost nothing.
            assert json.loads(asked.stdout) == {**json.loads(known.stdout), "left_out": []}
        else:
            assert asked.stdout == known.stdout
        assert asked.stdout
    pages = [tmp_path / "a.html", tmp_path / "b.html"]
    for place, page in zip((of_the_warehouse, [events]), pages, strict=True):
        invoke("show", *place, "--dataset", "out1", *times, "--out", page)
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_what_retain_has_dropped_is_said_in_one_sentence(tmp_path):
    """With the status 2, as `changes` has it; also if the name is unknown for this reason."""
    path = plain_warehouse(tmp_path / "w", over_midnight())
    retain(path, events_days=1, runs_days=99, today=date(2026, 1, 3))
    policy = tmp_path / "policy.yaml"
    policy.write_text("rules: [{name: writers, datasets: early, writers: 1}]\n")
    words = "--warehouse", path, "--as-of", "2026-01-02"
    sentence = (
        "spark-lineage: Left out, because `warehouse retain` dropped the runs or events that show their"
        " lineage at --as-of: jobs/shop.late.\n"
    )
    for command in (
        ["impact", "raw", *words],
        ["policy", policy, *words],
        ["show", *words, "--dataset", "early", "--out", tmp_path / "page.html"],
    ):
        done = invoke(*command)
        assert (done.exit_code, done.stderr) == (2, sentence)
        assert done.stdout
    for command in (["impact", "raw"], ["impact", "raw", "--rerun"], ["policy", policy]):
        document = json.loads(invoke(*command, *words, "--json").stdout)
        assert document["left_out"] == [{"namespace": "jobs", "name": "shop.late"}]
        assert "left_out" not in json.loads(invoke(*command, "--warehouse", path, "--json").stdout)
    unknown = invoke("impact", "side", *words)
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert unknown.stderr.startswith(f"{sentence}spark-lineage: ")
    assert invoke("impact", "late", "--warehouse", path, "--since", "2026-01-02").stderr == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["impact", "raw", "--as-of", "2025-12-31"],
            "--as-of is before the first event in {path} (2026-01-01T22:00:00Z): give a later time.",
        ),
        (
            ["impact", "raw", "--since", "soon"],
            "--since soon is not an RFC 3339 date-time with an offset: give a date (2026-01-31) or a time"
            " (2026-01-31T06:00:00Z)",
        ),
        (
            ["impact", "raw", "--since", "2026-01-03", "--as-of", "2026-01-02T06:00:00Z"],
            "--since (2026-01-03) is after --as-of (2026-01-02T06:00:00Z): give the earlier time to --since",
        ),
    ],
)
def test_times_that_do_not_fit_are_one_sentence(tmp_path, words, sentence):
    """With the cure, and the status 2."""
    path = plain_warehouse(tmp_path / "w", over_midnight())
    done = invoke(*words, "--warehouse", path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"spark-lineage: {sentence.format(path=path)}\n"


def test_times_choose_no_runs_for_a_page_of_runs(tmp_path):
    """The page of events has the runs themselves."""
    (tmp_path / "events.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in over_midnight()))
    done = invoke("show", tmp_path / "events.jsonl", "--as-of", "2026-01-02", "--out", tmp_path / "page.html")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "spark-lineage: --since and --as-of are for the lineage around a dataset: give --dataset NAME\n"
    )


@pytest.mark.parametrize("words", [["--as-of", "2026-01-04"], ["--since", "2026-01-02"]], ids=" ".join)
def test_a_file_that_is_gone_is_one_sentence(tmp_path, words):
    """And not a traceback."""
    path = plain_warehouse(tmp_path / "w", over_midnight())
    file = next(Path(loaded_tables(path).folders("lineage_versions")[0]).glob("*.parquet"))
    file.write_bytes(b"not parquet")
    done = invoke("impact", "raw", "--warehouse", path, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"spark-lineage: {path} cannot be read (")


@pytest.mark.parametrize("words", [["--as-of", "2026-01-03"], ["--since", "2026-01-02"], []], ids=" ".join)
def test_a_broken_file_of_tags_is_one_sentence(tmp_path, policy, words):
    """Also without a time, where the lineage is read from other files."""
    path = plain_warehouse(tmp_path / "w", catalog())
    keep_current(path, catalog())
    file = next(Path(loaded_tables(path).folders("dataset_tags")[0]).glob("*.parquet"))
    file.write_bytes(b"not parquet")
    done = invoke("policy", policy, "--warehouse", path, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"spark-lineage: {path} cannot be read (")
