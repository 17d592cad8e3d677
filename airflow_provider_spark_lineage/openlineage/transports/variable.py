"""Stores OpenLineage events in Airflow Variables, for deployments whose processes share no disk.

    [openlineage]
    transport = {"type": "airflow_provider_spark_lineage.transports.VariableTransport"}

Only for tests: an event is a row in Airflow's metadata database until somebody deletes it. Every event has
its own Variable, which is written once, so tasks that emit at the same time do not overwrite each other.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from openlineage.client.transport import Config, Transport

from airflow_provider_spark_lineage.openlineage.events.model import Event
from airflow_provider_spark_lineage.openlineage.events.variables import KIND, variable_key
from airflow_provider_spark_lineage.openlineage.json_values import json_value

if TYPE_CHECKING:
    from openlineage.client.client import Event as EmittedEvent


DESCRIPTION = "An OpenLineage event"
"""The description of every Variable, in Airflow's list of them."""


class VariableTransport(Transport):
    """Emits each event into an Airflow Variable whose key begins with `<dag_id>.<task_id>.event.<type>`."""

    kind = KIND

    def __init__(self, config: Config | None = None) -> None:
        self.config = config

    def emit(self, event: EmittedEvent) -> None:
        """Store the event; errors of Airflow reach the caller, who logs them."""
        from openlineage.client.serde import Serde

        event = json_value(event)
        document: dict[str, Any] = Serde.to_dict(event)
        _store(variable_key(Event(document)), Serde.to_json(event))


def _store(key: str, value: str) -> None:
    """Write a new Variable, with the API of the task or into the database."""
    comms = getattr(sys.modules.get("airflow.sdk.execution_time.task_runner"), "SUPERVISOR_COMMS", None)
    if comms is None:
        # The scheduler emits the events of DAG runs.
        from airflow.models import Variable
    elif type(comms).__name__ == "InProcessSupervisorComms":
        _insert(key, value)
        return
    else:
        from airflow.sdk import Variable
    Variable.set(key, value, description=DESCRIPTION)


def _insert(key: str, value: str) -> None:
    """Write a new Variable into the database: forked children of `dag.test()` cannot reach its API.

    Over a new connection, because a child shares the parent's open ones.
    """
    from airflow import settings
    from airflow.models import Variable
    from sqlalchemy import NullPool, create_engine
    from sqlalchemy.orm import Session

    engine = create_engine(settings.SQL_ALCHEMY_CONN, poolclass=NullPool)
    with Session(engine) as session, session.begin():
        session.add(Variable(key=key, val=value, description=DESCRIPTION))
