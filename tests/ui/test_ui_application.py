"""The plugin as Airflow loads it, and the files that anyone may fetch."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from airflow_provider_spark_lineage import __version__

pytestmark = pytest.mark.airflow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def client() -> Any:
    testclient = pytest.importorskip("starlette.testclient")
    from airflow_provider_spark_lineage.airflow.ui.application import ViewerApplication

    return testclient.TestClient(ViewerApplication())


@pytest.fixture
def permitted() -> Any:
    """A client that may read every DAG, of an Airflow without a database."""
    testclient = pytest.importorskip("starlette.testclient")
    from airflow_provider_spark_lineage.airflow.ui import routes

    app = routes.application()
    for each in (get_args(routes.SessionDep)[1], *routes.data.dependencies):
        app.dependency_overrides[each.dependency] = lambda: None
    return testclient.TestClient(app)


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder of modules, beside a file that is none, and one above it."""
    from airflow_provider_spark_lineage.airflow.ui import routes

    static = tmp_path / "static"
    static.mkdir()
    (static / "plugin.js").write_text("export const text = 'é';")
    (static / "notes.txt").write_text("no")
    (static / "folder").mkdir()
    (tmp_path / "secret.js").write_text("no")
    monkeypatch.setattr(routes, "STATIC", static)
    routes._modules.cache_clear()


def test_a_module_is_served_as_one(client):
    """Browsers run a module only with the right type, and ask whether it has changed."""
    answer = client.get(f"/static/{__version__}/plugin.js")
    assert answer.text == "export const text = 'é';"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["x-content-type-options"] == "nosniff"
    etag = {"If-None-Match": answer.headers["etag"]}
    assert client.get(f"/static/{__version__}/plugin.js", headers=etag).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "0.0.0/plugin.js",
        f"{__version__}/other.js",
        f"{__version__}/notes.txt",
        f"{__version__}/folder",
        f"{__version__}/../secret.js",
        f"{__version__}/..%2Fsecret.js",
        f"{__version__}/%2e%2e/secret.js",
        f"{__version__}/..%5Csecret.js",
    ],
)
def test_nothing_else_is_served(client, path):
    """Neither another version's modules, nor a file from elsewhere."""
    assert client.get(f"/static/{path}").status_code == 404


def test_data_are_not_kept_by_browsers(client):
    """An error neither: what is not there today may be there tomorrow."""
    answer = client.get("/v1/dags/d/latest")
    assert answer.status_code == 401
    assert answer.headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize(
    ("route", "query"),
    [
        ("task", {"run_id": "r", "task_id": "t", "map_index": 10**30}),
        ("task", {"run_id": "r", "task_id": "t", "map_index": 2**31}),
        ("task", {"run_id": "r", "task_id": "t", "try_number": 10**30}),
        ("task", {"run_id": "r", "task_id": ""}),
        ("task", {"run_id": "r" * 251, "task_id": "t"}),
        ("run", {"run_id": ""}),
        ("run", {"run_id": "\0"}),
        ("history", {"task_id": ""}),
        ("history", {"task_id": "t", "map_index": 2**31}),
    ],
)
def test_what_no_database_has_is_refused(permitted, route, query):
    """As the mistake of who asks: databases raise an error for such numbers, and for NUL."""
    assert permitted.get(f"/v1/dags/d/{route}", params=query).status_code == 422


@pytest.mark.parametrize(
    "query", [{"run_id": "r" * 250, "map_index": 2**31 - 1}, {"run_id": "täglich\n2026"}]
)
def test_whatever_airflow_may_have_is_asked_for(permitted, monkeypatch, query):
    """Ids of any length and of any characters that it allows."""
    from airflow_provider_spark_lineage.airflow.ui import answers, routes

    monkeypatch.setattr(routes, "store_of", lambda _: None)
    monkeypatch.setattr(answers, "of_task", lambda *_: {"version": 1})
    assert permitted.get("/v1/dags/d/task", params={"task_id": "t", **query}).json() == {"version": 1}


def test_there_are_no_other_routes(client):
    """No page of the API that names routes to whoever asks."""
    assert [client.get(path).status_code for path in ("/", "/docs", "/openapi.json")] == [404, 404, 404]


def plugin_in(monkeypatch: pytest.MonkeyPatch, base_url: str) -> Any:
    """Return the plugin's class in an Airflow with this address."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", base_url)
    from airflow_provider_spark_lineage.airflow.ui import plugin

    return SimpleNamespace(react_apps=plugin._react_apps())


@pytest.mark.parametrize(
    ("base_url", "prefix"),
    [
        ("", ""),
        ("/", ""),
        ("http://localhost:8080", ""),
        ("https://company/data/airflow/", "/data/airflow"),
    ],
)
def test_the_bundle_has_the_path_of_airflow(monkeypatch, base_url, prefix):
    """Airflow may be behind a proxy, below a path; the version is in the address."""
    apps = plugin_in(monkeypatch, base_url).react_apps
    bundles = {app["bundle_url"] for app in apps}
    assert bundles == {f"{prefix}/spark_lineage/static/{__version__}/plugin.js"}
    assert {app["destination"] for app in apps} == {"task_instance", "task", "dag_run", "dag"}
    assert {app["name"] for app in apps} == {"Spark lineage"}
    assert len({app["url_route"] for app in apps}) == 4


def test_an_airflow_without_tabs_gets_nothing():
    """Airflow 3.0: its plugin class has no `react_apps`."""
    program = """
from airflow.providers.common.compat import sdk

class AirflowPlugin:
    pass

vars(sdk)["AirflowPlugin"] = AirflowPlugin
from airflow_provider_spark_lineage.airflow.ui.plugin import SparkLineageViewerPlugin as plugin
print("APPS", plugin.react_apps, plugin.fastapi_apps)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "APPS [] []" in done.stdout


def test_the_plugin_is_an_entry_point():
    """Plugins that only the provider's description names are not loaded by default."""
    text = (ROOT / "pyproject.toml").read_text()
    line = (
        'spark_lineage_viewer = "airflow_provider_spark_lineage.airflow.ui.plugin:SparkLineageViewerPlugin"'
    )
    assert line in text.partition('entry-points."airflow.plugins"')[2].partition("\n[")[0]


def test_the_application_is_created_once(monkeypatch):
    """By the first request, not when Airflow loads the plugin."""
    from airflow_provider_spark_lineage.airflow.ui import application, routes

    created = []

    def create() -> Any:
        created.append(1)

        async def answer(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200})

        return answer

    monkeypatch.setattr(routes, "application", create)
    app, sent = application.ViewerApplication(), []

    async def send(message: Any) -> None:
        sent.append(message)

    assert created == []
    for _ in range(2):
        asyncio.run(app({"type": "http"}, None, send))
    assert created == [1]
    assert (b"cache-control", b"private, no-store") in sent[0]["headers"]
