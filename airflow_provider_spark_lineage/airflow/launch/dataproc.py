"""Jobs and batches of Google's Dataproc."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import (
    JAR,
    PYTHON,
    SQL,
    Launch,
    LaunchedApplication,
    R,
    listed,
    member,
    table,
    text,
    texts,
)

SERVICE = "Dataproc"
_CONSOLE = "https://console.cloud.google.com/dataproc"

_KINDS = {"pyspark": PYTHON, "spark_r": R, "spark_sql": SQL, "spark": JAR}
_MAIN = ("main_python_file_uri", "main_jar_file_uri", "main_r_file_uri", "query_file_uri")


def of_job(operator: Any) -> Launch | None:
    """Return the launch of a `DataprocSubmitJobOperator`; None for a job of Hive, Pig or Hadoop."""
    job = _plain(operator.job)
    application = _application(job, "job")
    if application is None:
        return None
    project = operator.project_id or text(table(job.get("reference")).get("project_id"))
    page = f"{_CONSOLE}/jobs/{{}}?region={operator.region}&project={project}" if project else ""
    return Launch((application,), SERVICE, text(operator.job_id), page, "job_id")


def of_batch(operator: Any) -> Launch | None:
    """Return the launch of a `DataprocCreateBatchOperator`."""
    batch = _plain(operator.batch)
    application = _application(batch, "batch")
    if application is None:
        return None
    run_id = text(getattr(getattr(operator.operation, "metadata", None), "batch", "")).rpartition("/")[2]
    project = operator.project_id
    page = f"{_CONSOLE}/batches/{operator.region}/{{}}/monitoring?project={project}" if project else ""
    return Launch((application,), SERVICE, run_id, page, "batch_id")


def _application(given: Mapping[str, Any], ending: str) -> LaunchedApplication | None:
    """Return the application of a job (`pyspark_job`) or a batch (`pyspark_batch`)."""
    kind = next((kind for kind in _KINDS if given.get(f"{kind}_{ending}")), None)
    if kind is None:
        return None
    job = member(given, f"{kind}_{ending}")
    queries = [str(query) for query in listed(table(job.get("query_list")).get("queries"))]
    return LaunchedApplication(
        kind=_KINDS[kind],
        main=next((str(job[name]) for name in _MAIN if job.get(name)), ""),
        main_class=text(job.get("main_class")),
        statements=";\n".join(queries),
        arguments=tuple(str(argument) for argument in listed(job.get("args"))),
        conf={**texts(table(given.get("runtime_config")).get("properties")), **texts(job.get("properties"))},
        variables=texts(job.get("script_variables") or job.get("query_variables")),
    )


def _plain(given: Any) -> dict[str, Any]:
    """Return a job or a batch as a dict; operators also accept messages of Google's client."""
    if isinstance(given, Mapping):
        return dict(given)
    to_dict = getattr(type(given), "to_dict", None)
    return table(to_dict(given)) if callable(to_dict) else {}
