"""Tasks with every possible ending, with a working backend and with a failing one."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from system_tests.standalone.backend import Backend, Mode
from system_tests.standalone.deployment import FINISHED, Airflow, wait_for
from system_tests.standalone.truth import (
    ENDINGS,
    Try,
    marks_of,
    missing,
    parent_of,
    story_of,
    tries_of,
    wrong,
)

RUN_TIMEOUT_S = 1800
ARRIVAL_TIMEOUT_S = 60
"""Seconds that a task's last event may need after its DAG run has ended."""

PROVIDER_LIMIT_S = 13
"""Seconds that OpenLineage's provider has for its own event: `execution_timeout`, and three to end it."""

OUR_LIMIT_S = 5
"""`[spark_lineage] emit_timeout_seconds`."""

SLACK_S = 15
"""For stopping Spark on a machine that does other things too."""

FAILURES: tuple[tuple[int, Mode], ...] = ((9, "answers"), (6, "gone"), (3, "errors"), (0, "hangs"))
"""Number of ended task instances -> mode of the backend from then on."""


class Watch:
    """Follows one DAG run to its end, and ends its tasks as users and kernels do."""

    def __init__(self, airflow: Airflow, backend: Backend, home: Path, run_id: str) -> None:
        self._airflow, self._backend, self._home, self.run_id = airflow, backend, home, run_id
        self._done: set[str] = set()

    def until_end(self, each_time: Callable[[list[dict[str, Any]]], None] = lambda tasks: None) -> None:
        """Start the run and return when it has ended; `each_time` is shown the task instances."""
        self._airflow.trigger(self.run_id)

        def has_ended() -> bool:
            self._intervene()
            each_time(self._airflow.tasks(self.run_id))
            return self._airflow.state(self.run_id) in FINISHED

        wait_for(has_ended, lambda: f"{self.run_id} did not end: {self.states()}", RUN_TIMEOUT_S, pause_s=2)

    def states(self) -> dict[str, str]:
        """State of each task; of a mapped one, of one of its instances."""
        return {task["task_id"]: task["state"] for task in self._airflow.tasks(self.run_id)}

    def marks(self) -> list[dict[str, Any]]:
        return marks_of(self._home, self.run_id)

    def tries(self) -> list[Try]:
        return tries_of(self.marks())

    def _intervene(self) -> None:
        marks = self.marks()
        for mark in marks:
            name = mark["task"]
            if mark["what"] != "waits" or name in self._done:
                continue
            if name.endswith("killed") and not self._may_die(mark["run"]):
                continue
            self._done.add(name)
            if name.endswith("killed"):
                (pid,) = (
                    each["pid"] for each in marks if (each["task"], each["what"]) == (name, "may be killed")
                )
                os.kill(pid, signal.SIGKILL)
            elif name.endswith("marked_failed"):
                self._airflow.mark_failed(self.run_id, name)
            elif name == "cleared":
                self._airflow.clear(self.run_id, name)

    def _may_die(self, run_id: str) -> bool:
        """Work of a killed task is known if its events were sent in time: as its executions end."""
        if self._backend.mode != "answers":
            return True
        ends = (event for event in self._backend.events() if event["eventType"] == "COMPLETE")
        return any(parent_of(event) == run_id for event in ends)


def falsehoods(watch: Watch, backend: Backend, home: Path) -> list[str]:
    """Whatever is not true in any event that was sent, whether it was accepted or not."""
    events = backend.events()
    return [line for attempt in watch.tries() for line in wrong(attempt, events, str(home / "orders"))]


def held_s(attempt: Try, home: Path, run_id: str) -> tuple[float, float]:
    """Seconds from the task's parsing until its operator executes, and from its function's end on.

    Read in the task's log, the only place that knows when the process was done.
    """
    folder = home / "airflow" / "logs" / "dag_id=endings" / f"run_id={run_id}" / f"task_id={attempt.task}"
    if attempt.map_index >= 0:
        folder /= f"map_index={attempt.map_index}"
    lines = (folder / f"attempt={attempt.number}.log").read_text().splitlines()
    entries = [json.loads(line) for line in lines if line.startswith("{")]
    times = [datetime.fromisoformat(entry["timestamp"].replace("Z", "+00:00")) for entry in entries]

    def first(event: str) -> datetime:
        return next(at for at, entry in zip(times, entries, strict=True) if entry["event"] == event)

    before = first("::endgroup::") - first("Worker startup parse complete")
    return before.total_seconds(), times[-1].timestamp() - attempt.last_mark


def held_too_long(watch: Watch, home: Path) -> list[str]:
    """The tries that ended by themselves, and waited for the backend longer than they should."""
    held = [
        (attempt, *held_s(attempt, home, watch.run_id))
        for attempt in watch.tries()
        if "all" in attempt.tells.values()
    ]
    return [
        f"{attempt}: {at_start:.0f} s before it executed, {at_end:.0f} s after it had"
        for attempt, at_start, at_end in held
        if at_start > PROVIDER_LIMIT_S + SLACK_S or at_end > PROVIDER_LIMIT_S + OUR_LIMIT_S + SLACK_S
    ]


def unseen(watch: Watch, airflow: Airflow) -> list[str]:
    """The last tries of which the viewer does not show what they wrote, a sentence each.

    Those are their finished writes; of one that got SIGKILL, nothing.
    """
    last = {(attempt.task, attempt.map_index): attempt for attempt in watch.tries()}
    lines = []
    for (task, map_index), attempt in last.items():
        answer = airflow.lineage(run_id=watch.run_id, task_id=task, map_index=map_index)
        datasets = (answer["document"] or {"datasets": []})["datasets"]
        shown = {dataset["name"] for dataset in datasets if dataset["written"]}
        if shown != (set(attempt.wrote) if attempt.tells else set()):
            lines.append(f"{attempt}: the viewer shows {sorted(shown)}, {answer['reason']}")
    return lines


def test_every_ending_is_reported(airflow: Airflow, backend: Backend, home: Path) -> None:
    """A task's outputs, and nothing else, are in its event, its stop's event or its executions' events.

    The viewer shows them, too. Events of a task that gets SIGTERM or SIGKILL say the same with an operator of
    this package and with auto-capture.
    """
    backend.become("answers")
    watch = Watch(airflow, backend, home, "answers")
    watch.until_end()
    assert watch.states() == {name: ending.state for name, ending in ENDINGS.items()}
    (package,) = (mark["package"] for mark in watch.marks() if "package" in mark)
    assert "site-packages" in package

    def unsaid() -> list[str]:
        return [line for attempt in watch.tries() for line in missing(attempt, backend.events(accepted=True))]

    wait_for(lambda: not unsaid(), lambda: "\n".join(unsaid()), ARRIVAL_TIMEOUT_S)
    assert falsehoods(watch, backend, home) == []
    assert unseen(watch, airflow) == []
    events, tries = backend.events(accepted=True), {attempt.task: attempt for attempt in watch.tries()}
    for name in ("killed", "told_to_stop"):
        by_operator = story_of(tries[name], events)
        assert by_operator
        for captured in (f"plain_{name}", f"function_{name}"):
            assert story_of(tries[captured], events) == by_operator
    (skewed,) = (attempt.run_id for attempt in watch.tries() if attempt.task == "skewed")
    (end,) = (
        event
        for event in backend.events()
        if (event["run"]["runId"], event["eventType"]) == (skewed, "COMPLETE")
    )
    slow = end["run"]["facets"]["sparkLineage_bottlenecks"]["bottlenecks"]
    assert "skew" in [each["kind"] for each in slow if "stage" in each]


def test_a_backend_that_fails_changes_no_task(airflow: Airflow, backend: Backend, home: Path) -> None:
    """Every task ends as it does without lineage, held for no longer than README allows.

    The backend fails in all ways, one after another, and comes back: events sent before and after are
    true, and tasks that start after it are reported in full.
    """
    backend.forget()
    backend.become("hangs")
    watch = Watch(airflow, backend, home, "fails")
    returned_at: list[float] = []

    def fail_in_turns(tasks: list[dict[str, Any]]) -> None:
        ended = sum(task["state"] in ("success", "failed", "skipped") for task in tasks)
        mode = next(mode for least, mode in FAILURES if ended >= least)
        if mode != backend.mode:
            backend.become(mode)
            if mode == "answers":
                returned_at.append(time.time())

    watch.until_end(fail_in_turns)
    assert watch.states() == {name: ending.state for name, ending in ENDINGS.items()}
    assert held_too_long(watch, home) == []

    # START comes before the first mark, so the two that ran at that moment may have lost theirs.
    new = sorted(watch.tries(), key=lambda attempt: attempt.first_mark)
    new = [attempt for attempt in new if attempt.first_mark > returned_at[0]][2:]
    assert len(new) >= 2

    def unsaid() -> list[str]:
        return [line for attempt in new for line in missing(attempt, backend.events(accepted=True))]

    wait_for(lambda: not unsaid(), lambda: "\n".join(unsaid()), ARRIVAL_TIMEOUT_S)
    assert falsehoods(watch, backend, home) == []
