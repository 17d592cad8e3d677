"""The viewer in real Airflow: what tasks leave in its database, and what its API server answers to whom."""

from __future__ import annotations

import pytest
from airflow_runs import stored_of
from packaging.version import Version
from providers import AIRFLOW

from airflow_provider_spark_lineage import __version__

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.spark,
    pytest.mark.skipif(Version("3.1") > AIRFLOW, reason="Airflow 3.0 has no tabs"),
]


def test_every_spark_task_has_stored_its_last_try(home, run):
    """Of whatever operator, however it ended; one that did nothing on Spark has nothing."""
    items = stored_of(home)
    assert {key: (item.summary["state"], item.summary["try"]) for key, item in items.items()} == {
        ("orders", -1): ("complete", 1),
        ("own", -1): ("complete", 1),
        ("captured", -1): ("complete", 1),
        ("fails", -1): ("fail", 1),
        ("retried", -1): ("complete", 2),
        ("mapped", 0): ("complete", 1),
        ("mapped", 1): ("complete", 1),
    }
    assert "luck" in str(items["fails", -1].events[-1]["run"]["facets"]["errorMessage"])
    [retried] = items["retried", -1].events[-1]["outputs"]
    assert list(retried["facets"]["columnLineage"]["fields"]) == ["amount"]


def test_a_policy_is_checked_on_the_stored_lineage_of_the_tasks_before_it(run):
    """A broken rule fails a gate, or is only logged; the results are in both events, at the datasets."""
    for key in ("stored.gate_warn.event.complete", "stored.gate_error.event.fail"):
        [event] = [each for each in run.read() if each.key == key]
        results = {
            (each["name"].rpartition("/")[2], found["name"]): (found["success"], found.get("column"))
            for each in event.document["inputs"]
            for found in each["inputFacets"]["dataQualityAssertions"]["assertions"]
        }
        assert results == {
            ("own", "no money in own"): (False, "twice"),
            ("mapped_1", "copies of orders"): (True, None),
            ("mapped_2", "copies of orders"): (True, None),
        }
    assert "no money in own" in event.text("run", "facets", "errorMessage", "message")


def test_a_task_instance_shows_its_lineage(server, run_id, home):
    """Also one of a mapped task."""
    answer = server.lineage("task", run_id=run_id, task_id="own")
    names = [dataset["name"] for dataset in answer["document"]["datasets"]]
    assert names == [f"{home}/data/orders", f"{home}/data/own"]
    run = answer["document"]["run"]
    assert (run["dag_id"], run["task_id"], run["dag_run_id"]) == ("stored", "own", run_id)
    assert run["began"] < run["ended"]
    one = server.lineage("task", run_id=run_id, task_id="mapped", map_index=1)
    assert one["document"]["run"]["map_index"] == 1
    assert f"{home}/data/mapped_2" in [dataset["name"] for dataset in one["document"]["datasets"]]


def test_a_try_that_is_gone_and_a_task_without_spark_say_so(server, run_id):
    """In place of a picture."""
    first = server.lineage("task", run_id=run_id, task_id="retried", try_number=1)
    assert (first["document"], first["tries"]) == (None, [2])
    plain = server.lineage("task", run_id=run_id, task_id="plain")
    assert plain["reason"]["sentence"]


def test_a_run_a_task_and_a_dag_have_answers(server, run_id):
    """Composed over tasks; the mapped task over its instances."""
    of_run = server.lineage("run", run_id=run_id)
    assert "plain" in [task["title"] for task in of_run["document"]["tasks"] if task["note"]]
    assert server.lineage("latest")["document"]["datasets"] == of_run["document"]["datasets"]
    [entry] = server.lineage("history", task_id="mapped")["history"]
    assert (entry["id"], entry["rows"], entry["state"]) == (run_id, 2, "complete")


@pytest.mark.parametrize(
    ("user", "status"), [("", 401), ("outsider", 403), ("viewer", 404)], ids=["nobody", "outsider", "viewer"]
)
@pytest.mark.parametrize(
    ("route", "query"),
    [
        ("task", {"run_id": "x", "task_id": "own"}),
        ("run", {"run_id": "x"}),
        ("history", {"task_id": "x"}),
        ("latest", {}),
    ],
)
def test_no_route_answers_without_the_permission(server, user, status, route, query):
    """For the DAG, before it is known whether there is anything; and no browser keeps an answer."""
    dag = "stored" if query else "x"
    answer = server.get(f"/spark_lineage/v1/dags/{dag}/{route}", user, **query)
    assert answer.status == status
    assert isinstance(answer.body["detail"], str)
    assert answer.headers["cache-control"] == "private, no-store"


def test_the_tab_is_at_four_places(server):
    """The bundle is fetched without a session, from below Airflow's path."""
    plugins = server.get("/api/v2/plugins", "viewer").body["plugins"]
    [ours] = [plugin for plugin in plugins if plugin["name"] == "spark_lineage_viewer"]
    assert {app["destination"] for app in ours["react_apps"]} == {"task_instance", "task", "dag_run", "dag"}
    [bundle] = {app["bundle_url"] for app in ours["react_apps"]}
    path = f"/spark_lineage/static/{__version__}/plugin.js"
    assert bundle == f"/company{path}"
    answer = server.get(path)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
