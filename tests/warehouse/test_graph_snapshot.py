"""The graph that a load stores beside the tables, and the commands that read it, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from graph import estate
from graph.estate import NAMESPACE, edges, run
from warehouse.histories import graph_of
from warehouse.stored_graphs import store

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.impact import Impact, document_of
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.rerun import rerun_of
from airflow_provider_spark_lineage.openlineage.graph.selection import Selected, whole_name
from airflow_provider_spark_lineage.openlineage.warehouse.graph_snapshot import read_graph

EVENTS = Path(__file__).resolve().parents[1] / "viewer" / "events" / "pipeline.jsonl.gz"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    """A warehouse with the graph alone, as a load writes it."""
    return store(tmp_path_factory.mktemp("w"), Current.of(read_events(EVENTS)))


def test_the_stored_graph_gives_the_answers_of_the_events(warehouse):
    """The impact of every column and dataset, and all that is known of writes, reads and runs."""
    current = Current.of(read_events(EVENTS))
    graph, stored = LineageGraph.of(current), read_graph(warehouse / "data" / "1" / "graph")
    assert len(stored.graph) == len(graph) > 100
    for dataset in graph.datasets:
        for field in (None, *graph.fields_of(dataset)):
            selected = [Selected(dataset, field)]
            assert document_of(Impact(stored.current, stored.graph, selected)) == document_of(
                Impact(current, graph, selected)
            )
    for name in ("writes", "reads", "contradictions", "datasets"):
        assert [*getattr(stored.current, name)] == [*getattr(current, name)]
    for name in ("runs", "aliases", "fields", "fed", "positions", "readers", "writers"):
        assert dict(getattr(stored.current, name)) == dict(getattr(current, name))


@pytest.mark.parametrize(
    "more", [[], ["--json"], ["--csv"], ["--rerun"], ["--direct-only"], ["--depth", "1"]]
)
def test_impact_of_a_warehouse_is_that_of_the_events(warehouse, more):
    """In every form."""
    dataset = next(iter(Current.of(read_events(EVENTS)).fed))
    words = ["impact", whole_name(dataset), *more]
    known = CliRunner().invoke(main, [*words, "--events", str(EVENTS)])
    found = CliRunner().invoke(main, [*words, "--warehouse", str(warehouse)])
    assert found.stdout == known.stdout != ""
    assert found.exit_code == 0


def test_gaps_have_one_order():
    """The tables sort the gaps of a version; the answer for the events is the same."""
    two = [{"where": "w", "kind": kind, "reason": f"of {kind}"} for kind in "zk"]
    documents = [
        [
            run(
                "etl.j",
                [estate.dataset("a", "id")],
                [estate.dataset("b", "id", **edges("id <- a.id"))],
                gaps=gaps,
            )
        ]
        for gaps in (two, two[::-1])
    ]
    answers = []
    for current in map(graph_of, documents):
        selected = [Selected((NAMESPACE, "a"), "id")]
        answers.append(document_of(Impact(current, LineageGraph.of(current), selected))["gaps"])
    assert [gap["kind"] for gap in answers[0]] == ["k", "z"]
    assert answers[0] == answers[1]


def test_jobs_that_a_job_comes_after_have_one_order():
    """The tables sort the sources of a version; the answer for the events is the same."""
    made = [
        run(
            f"etl.{name}",
            [estate.dataset("raw", "id")],
            [estate.dataset(name, "id", **edges("id <- raw.id"))],
        )
        for name in "xy"
    ]
    for names in ("xy", "yx"):
        read = [f"id <- {name}.id" for name in names]
        current = graph_of([*made, run("etl.j", [], [estate.dataset("b", "id", **edges(*read))], hour=7)])
        jobs = rerun_of(Impact(current, LineageGraph.of(current), [Selected((NAMESPACE, "raw"), "id")]))
        assert [job.name for job in jobs[-1].after] == ["etl.x", "etl.y"]


def test_policy_and_diff_take_a_warehouse(warehouse, tmp_path):
    """With the answers that they give for the events."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("rules:\n  - {name: one writer, datasets: '*', writers: 0}\n")
    for words in (["policy", str(policy), "--json"], ["diff", str(EVENTS), str(EVENTS)]):
        option = "--production" if words[0] == "diff" else None
        known = CliRunner().invoke(main, [*words, option or "--events", str(EVENTS)])
        found = CliRunner().invoke(main, [*words, option or "--warehouse", str(warehouse)])
        assert (found.exit_code, found.stdout) == (known.exit_code, known.stdout)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "give one of --events PATH"),
        (["--events", "x", "--warehouse", "x"], "give one of --events PATH"),
        (["--warehouse", "none"], "none has no warehouse"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(tmp_path, monkeypatch, options, sentence):
    """And a warehouse that is not there."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["impact", "x", *options])
    assert (done.exit_code, done.stdout) == (2, "")
    assert sentence in done.stderr


def test_a_broken_graph_is_one_sentence(tmp_path):
    """It names the folder and the cure."""
    (tmp_path / "edges.parquet").write_bytes(b"no parquet")
    with pytest.raises(BadInputError, match=r"cannot be read .* load the events again"):
        read_graph(tmp_path)
