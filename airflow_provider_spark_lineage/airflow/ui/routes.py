"""The routes of the viewer: its modules, which are open, and lineage, for users who may see the DAG's XComs.

Run and task ids are query parameters, because they may contain a slash. The DAG id is a path parameter:
Airflow's permission check looks for it there.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.common.db.common import SessionDep
from airflow.api_fastapi.core_api.security import requires_access_dag
from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Query, Request, Response

from airflow_provider_spark_lineage import __version__
from airflow_provider_spark_lineage.airflow.ui import answers
from airflow_provider_spark_lineage.airflow.ui.stores import store_of
from airflow_provider_spark_lineage.errors import StoredLineageError
from airflow_provider_spark_lineage.openlineage import viewer

STATIC = Path(viewer.__file__).parent / "static"

_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

data = APIRouter(
    prefix="/v1/dags/{dag_id}",
    dependencies=[
        Depends(requires_access_dag("GET", DagAccessEntity.TASK_INSTANCE)),
        Depends(requires_access_dag("GET", DagAccessEntity.XCOM)),
    ],
)
static = APIRouter(prefix="/static")

# What databases refuse is not asked for: numbers above their integers, and texts with NUL.
MapIndex = Annotated[int, Query(ge=-1, le=2**31 - 1)]
TryNumber = Annotated[int | None, Query(ge=0, le=2**31 - 1)]
Id = Annotated[str, Query(min_length=1, max_length=250, pattern=r"^[^\x00]+$")]
"""A run or a task; 250 is the limit of Airflow's database."""


def application() -> FastAPI:
    """Return the application that Airflow's API server mounts."""
    app = FastAPI(title="Spark lineage", openapi_url=None)
    app.add_exception_handler(StoredLineageError, _unreadable)
    app.include_router(data)
    app.include_router(static)
    return app


@data.get("/task")
def of_task(
    *,
    dag_id: str,
    run_id: Id,
    task_id: Id,
    session: SessionDep,
    map_index: MapIndex = -1,
    try_number: TryNumber = None,
) -> Response:
    """Answer with the lineage of one task instance."""
    answer = answers.of_task(store_of(session), session, (dag_id, run_id, task_id, map_index), try_number)
    return _response(answer, "This task instance does not exist.")


@data.get("/run")
def of_run(dag_id: str, run_id: Id, session: SessionDep) -> Response:
    """Answer with the lineage of all tasks of a DAG run."""
    return _response(
        answers.of_run(store_of(session), session, dag_id, run_id), "This DAG run does not exist."
    )


@data.get("/history")
def history(dag_id: str, task_id: Id, session: SessionDep, map_index: MapIndex = -1) -> Response:
    """Answer with the newest runs of a task, and the newest lineage."""
    answer = answers.history(store_of(session), session, dag_id, task_id, map_index)
    return _response(answer, "This task has no runs.")


@data.get("/latest")
def latest(dag_id: str, session: SessionDep) -> Response:
    """Answer with the lineage of the DAG's newest run that has any."""
    return _response(answers.latest(store_of(session), session, dag_id), "This DAG has no runs.")


@static.get("/{version}/{name}")
def module(version: str, name: str, if_none_match: Annotated[str | None, Header()] = None) -> Response:
    """Answer with a module of the viewer; an address of another version does not exist."""
    content = _modules().get(name) if version == __version__ else None
    if content is None:
        raise HTTPException(404, "No such file in this version; reload the page.")
    etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"Cache-Control": "no-cache", "ETag": etag}
    if if_none_match == etag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_MEDIA_TYPES[Path(name).suffix])


@cache
def _modules() -> dict[str, bytes]:
    """Return the files of the viewer by name; a name with a folder is not among them."""
    return {file.name: file.read_bytes() for file in STATIC.iterdir() if file.suffix in _MEDIA_TYPES}


async def _unreadable(request: Request, error: Exception) -> Response:
    """Answer that the store cannot be read."""
    return Response(json.dumps({"detail": str(error)}), 404, media_type="application/json")


def _response(answer: dict[str, Any] | None, otherwise: str) -> Response:
    if answer is None:
        raise HTTPException(404, otherwise)
    # Escaped: a name may have halves of characters, which UTF-8 cannot encode.
    return Response(json.dumps(answer), media_type="application/json")
