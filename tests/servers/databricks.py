"""A local stand-in for the Jobs API of Databricks: takes runs, and ends them according to their names."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from servers.http_api import Answer, Request, http_api

_FIRST_RUN, _FIRST_TASK = 700, 1700
_ANSWERS_BEFORE_THE_END = 4
"""How often a run whose name says `deferred` is asked for while it runs: more than an operator asks before it
leaves the run to its trigger."""


class Databricks:
    """The runs that a server has taken. A run's only task has an id of its own."""

    def __init__(self, driver: Callable[[Any], bool]) -> None:
        self.runs: list[dict[str, Any]] = []
        self.ids: dict[str, str] = {}
        """Name of a run -> its id; with `/task` behind the name, the id of its task."""

        self.port = 0
        self._driver = driver
        self._ended_well: list[bool] = []
        self._asked: Counter[str] = Counter()

    def answer(self, request: Request) -> Answer:
        """Answer one request."""
        name = request.path.removeprefix("/api/2.2/jobs/runs/")
        if (request.method, name) == ("POST", "submit"):
            return self._submit(request.document)
        # Triggers send their question as JSON, operators as a query.
        number = int((request.document or request.query)["run_id"])
        return Answer({"get": self._run, "get-output": _output}[name](number))

    def _submit(self, run: dict[str, Any]) -> Answer:
        if not any(key == "tasks" or key.endswith("_task") for key in run):
            return Answer({"error_code": "INVALID_PARAMETER_VALUE", "message": "a run needs a task"}, 400)
        number = _FIRST_RUN + len(self.runs)
        self.runs.append(run)
        self.ids[run["run_name"]] = str(number)
        self.ids[f"{run['run_name']}/task"] = str(_FIRST_TASK + len(self.runs) - 1)
        self._ended_well.append(self._driver(run))
        return Answer({"run_id": number})

    def _run(self, number: int) -> dict[str, Any]:
        position = number - (_FIRST_TASK if number >= _FIRST_TASK else _FIRST_RUN)
        name = self.runs[position]["run_name"]
        self._asked[name] += 1
        state = {"life_cycle_state": "RUNNING"}
        if "deferred" not in name or self._asked[name] > _ANSWERS_BEFORE_THE_END:
            result = "SUCCESS" if self._ended_well[position] else "FAILED"
            state = {"life_cycle_state": "TERMINATED", "result_state": result, "state_message": ""}
        task = {"run_id": _FIRST_TASK + position, "task_key": name, "start_time": 1, "state": state}
        return {
            "job_id": 1,
            "run_id": number,
            "run_page_url": f"http://127.0.0.1:{self.port}/#job/1/run/{number}",
            "state": state,
            "tasks": [task],
        }


def _output(number: int) -> dict[str, Any]:
    return {"error": f"the code of {number} raised"}


@contextlib.contextmanager
def databricks(driver: Callable[[Any], bool]) -> Iterator[Databricks]:
    """Serve on a free port of this machine; `driver` acts as the driver of a run, and decides how it ends."""
    known = Databricks(driver)
    with http_api(known.answer) as port:
        known.port = port
        yield known
