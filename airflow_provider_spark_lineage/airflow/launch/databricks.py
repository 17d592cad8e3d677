"""Runs of Databricks."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import (
    NOTEBOOK,
    Launch,
    LaunchedApplication,
    application_of,
    listed,
    member,
    table,
    text,
    texts,
)
from airflow_provider_spark_lineage.airflow.launch.shell.applications import of_words

_TASKS = ("spark_jar_task", "notebook_task", "spark_python_task", "spark_submit_task")


def of_submitted_run(operator: Any) -> Launch | None:
    """Return the launch of a `DatabricksSubmitRunOperator`; None for dbt, SQL warehouses and pipelines."""
    named = {name: getattr(operator, name, None) for name in ("tasks", "new_cluster", "run_name", *_TASKS)}
    run = {**_document(operator.json), **{name: value for name, value in named.items() if value is not None}}
    return _launch(run, operator.run_id)


def _document(given: Any) -> dict[str, Any]:
    """Return `json` as an object; a rendered template gives it as text, in JSON or Python."""
    if not isinstance(given, str) or not given:
        return table(given)
    try:
        return table(json.loads(given))
    except ValueError:
        return table(ast.literal_eval(given))


def of_notebook(operator: Any) -> Launch | None:
    """Return the launch of a `DatabricksNotebookOperator`."""
    notebook = {"notebook_path": operator.notebook_path, "base_parameters": operator.notebook_params}
    run = {"notebook_task": notebook, "new_cluster": operator.new_cluster}
    return _launch(run, operator.databricks_run_id)


def of_task(operator: Any) -> Launch | None:
    """Return the launch of a `DatabricksTaskOperator`."""
    run = {"new_cluster": operator.new_cluster, **table(operator.task_config)}
    return _launch(run, operator.databricks_run_id)


def _launch(run: Mapping[str, Any], run_id: Any) -> Launch | None:
    clusters = {each.get("job_cluster_key"): each for each in map(table, listed(run.get("job_clusters")))}
    tasks = [table(task) for task in listed(run.get("tasks"))] or [dict(run)]
    applications = tuple(
        application
        for task in tasks
        for application in _applications(task, table(clusters.get(task.get("job_cluster_key"))))
    )
    return Launch(applications, "Databricks", text(run_id), event_id="run_id") if applications else None


def _applications(task: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[LaunchedApplication]:
    cluster = table(task.get("new_cluster") or shared.get("new_cluster"))
    about: dict[str, Any] = {
        "conf": texts(cluster.get("spark_conf")),
        "name": text(task.get("task_key") or task.get("run_name")),
    }
    jar, notebook, script, submit = (member(task, name) for name in _TASKS)
    if notebook:
        path, parameters = str(notebook.get("notebook_path", "")), texts(notebook.get("base_parameters"))
        words = tuple(f"{name}={value}" for name, value in parameters.items())
        yield LaunchedApplication(NOTEBOOK, main=path, arguments=words, **about)
    if script:
        yield application_of(script.get("python_file"), "", script.get("parameters"), **about)
    if jar:
        yield application_of(jar.get("jar_uri"), jar.get("main_class_name"), jar.get("parameters"), **about)
    if submit:
        yield from of_words(["spark-submit", *listed(submit.get("parameters"))])
