"""Runs one DAG to its end; the only place that knows in which order things are started.

A run is `dag.test()`, which differs from a deployment in two points: there is no START event of the DAG, and
all its tasks share one process. In the mode `"standalone"`, an API server and a LocalExecutor give every task
a process as in a deployment, at some ten seconds more per task.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any, Literal, get_args

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing.runs.home import environment, make_metadata
from airflow_provider_spark_lineage.testing.runs.processes import RunError, api_server, progress_lines, tail
from airflow_provider_spark_lineage.testing.runs.progress import DagRun, Show, follow, ignore

Mode = Literal["test", "standalone"]
"""All tasks in one process (`dag.test()`), or each in its own."""


def run_dag(
    dag: Any,
    *,
    conf: Mapping[str, Any] | None = None,
    mode: Mode = "test",
    dag_id: str | None = None,
    home: Path | None = None,
    metadata: Path | None = None,
    settings: Mapping[str, str | None] | None = None,
    show: Show = ignore,
    timeout_s: float = 600,
) -> DagRun:
    """Run a DAG, given as its file or as the object, in a process of its own.

    `dag_id` chooses where a file has several. `home` becomes the AIRFLOW_HOME (by default a new folder), with
    a copy of `metadata` (of `make_metadata`) when one is given; it keeps the events and the logs. `settings`
    are more environment variables; `AIRFLOW__...` configures Airflow, and none in place of a value removes
    a variable. `show` is told of every task. Raises BadInputError where there is no such DAG to run, and
    RunError where it does not run to its end; one whose tasks fail does, and says so in its `state`.
    """
    if mode not in get_args(Mode):
        raise BadInputError(f'run_dag: mode is "test" or "standalone", not {mode!r}.')
    file, dag_id, is_object = _found(dag, dag_id)
    home = Path(tempfile.mkdtemp(prefix="airflow-")) if home is None else home.absolute()
    home.mkdir(parents=True, exist_ok=True)
    if metadata is None:
        make_metadata(home)
    else:
        shutil.copyfile(metadata, home / "airflow.db")
    events, log = home / f"{file.stem}.events.jsonl", home / f"{file.stem}.log"
    events.unlink(missing_ok=True)

    transport = {"type": "file", "log_file_path": str(events), "append": True}
    variables = environment(
        home,
        {
            # Not its folder: Airflow would import every file there, the tests and what they left included.
            "AIRFLOW__CORE__DAGS_FOLDER": str(file),
            # The file was named by a person: it need not look like a DAG file.
            "AIRFLOW__CORE__DAG_DISCOVERY_SAFE_MODE": "False",
            # DAG files may import their neighbours.
            "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(file.parent)])),
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
            **(settings or {}),
        },
    )
    options = {"dag_id": dag_id, "conf": dict(conf or {}), "executor": mode == "standalone"}
    began = monotonic()
    with contextlib.ExitStack() as stack:
        if mode == "standalone":
            variables |= stack.enter_context(api_server(variables, home, timeout_s))
        lines = progress_lines([str(file), json.dumps(options)], variables, home, log, timeout_s)
        # Whatever `show` raises may be kept with its traceback, in which the generator would live on.
        ended = follow(stack.enter_context(contextlib.closing(lines)), show)
    # A process that is killed cannot tidy up after itself.
    shutil.rmtree(home / "tmp", ignore_errors=True)
    if "not_found" in ended:
        raise BadInputError(_not_found(file, dag_id, ended["not_found"], is_object=is_object))
    if not ended:
        raise RunError(f"{file.name} did not run to its end; the end of {log}:\n{tail(log)}")
    return DagRun(ended["dag_id"], ended["state"], ended["tasks"], events, log, monotonic() - began)


def _found(dag: Any, dag_id: str | None) -> tuple[Path, str | None, bool]:
    """The file of the DAG, its id where it is known, and whether the DAG itself was given."""
    is_object = not isinstance(dag, str | Path)
    if is_object:
        if not (hasattr(dag, "fileloc") and hasattr(dag, "dag_id")):
            cure = (
                "call it, as in `run_dag(my_dag())`"
                if callable(dag)
                else "pass a DAG or the path of its file"
            )
            raise BadInputError(f"run_dag: {dag!r} is no DAG; {cure}.")
        dag, dag_id = dag.fileloc, dag.dag_id
    file = Path(dag).absolute()
    if not file.is_file():
        raise BadInputError(f"{file}: no such DAG file.")
    return file, dag_id, is_object


def _not_found(file: Path, dag_id: str | None, known: list[str], *, is_object: bool) -> str:
    if is_object:
        return (
            f"The DAG `{dag_id}` is not at module level of {file}, so the process that runs it "
            "cannot find it; make it there and keep it in a variable of the module, as in `dag = my_dag()`."
        )
    names = ", ".join(f"`{name}`" for name in known)
    if dag_id:
        return f"{file} has no DAG `{dag_id}`; it has {names or 'none'}."
    if not known:
        return f"{file} has no DAG at module level."
    return f"{file} has several DAGs, {names}; say which one with `dag_id=`."
