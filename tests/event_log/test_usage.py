"""Sums of a log: what counts as failed or killed, and tasks that end after their stage."""

from __future__ import annotations

import json

from airflow_provider_spark_lineage.spark.event_log.usage import LoggedUsage


def submitted(stage, at, tasks=2):
    info = {"Stage ID": stage, "Stage Attempt ID": 0, "Submission Time": at, "Number of Tasks": tasks}
    return json.dumps({"Event": "SparkListenerStageSubmitted", "Stage Info": info}).encode()


def ended(stage, reason, took=100):
    event = {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Stage Attempt ID": 0,
        "Task Type": "ResultTask",
        "Task End Reason": {"Reason": reason},
        "Task Info": {
            "Launch Time": 1000,
            "Executor ID": "1",
            "Speculative": False,
            "Finish Time": 1000 + took,
        },
        "Task Metrics": {"Peak Execution Memory": 7, "Input Metrics": {"Bytes Read": 9, "Records Read": 3}},
    }
    return json.dumps(event, separators=(",", ":")).encode()


def completed(usage, stage, began, at):
    info = {"Stage ID": stage, "Number of Tasks": 2, "Submission Time": began, "Completion Time": at}
    usage.stage_completed(info, None)


def test_outcomes_are_those_of_sparks_interface():
    """A commit that Spark refused to a speculative task is no failure; a lost result is no success."""
    usage = LoggedUsage()
    usage.stage_submitted(submitted(0, 1000))
    for reason in ("Success", "TaskKilled", "TaskCommitDenied", "ExceptionFailure", "Resubmitted"):
        usage.task_ended(ended(0, reason))
    completed(usage, 0, 1000, 2000)
    sums = usage.usage()
    assert (sums.tasks, sums.failed_tasks, sums.killed_tasks) == (5, 2, 2)
    assert (sums.longest_stages[0].tasks, sums.longest_stages[0].rows) == (5, 3)


def test_a_task_that_ends_after_its_stage_counts_once():
    """Speculative tasks are killed when their stage is over: nothing is kept for them."""
    usage = LoggedUsage()
    usage.stage_submitted(submitted(0, 1000))
    usage.task_ended(ended(0, "Success"))
    completed(usage, 0, 1000, 2000)
    usage.task_ended(ended(0, "TaskKilled"))
    assert (usage.usage().tasks, usage.usage().killed_tasks) == (2, 1)
    assert not usage._tasks


def test_idle_time_is_between_stages():
    """Stages that overlap leave no time between them."""
    usage = LoggedUsage()
    usage.stage_submitted(submitted(0, 1000))
    usage.stage_submitted(submitted(1, 1500))
    completed(usage, 0, 1000, 2000)
    completed(usage, 1, 1500, 3000)
    usage.stage_submitted(submitted(2, 10_000))
    completed(usage, 2, 10_000, 11_000)
    assert (usage.usage().idle_ms, usage.usage().span_ms) == (7_000, 10_000)


def test_a_compacted_log_has_the_number_of_tasks():
    """Spark removes the tasks of ended jobs from a compacted log: zero tasks would be wrong."""
    usage = LoggedUsage()
    completed(usage, 0, 1000, 2000)
    assert usage.usage().tasks == 2
