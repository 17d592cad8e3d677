"""Sentences about what slowed an application down, each from the figures of one stage."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.facets.resources import bottlenecks, bottlenecks_facets
from airflow_provider_spark_lineage.spark.lineage.model import ExecutionSummary, Join
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.usage import StageUsage, Usage

EVEN = {
    "partitions": 200,
    "tasks": 200,
    "elapsed_ms": 60_000,
    "slowest_ms": 1_000,
    "median_ms": 900,
    "run_ms": 180_000,
}


def entries(**fields):
    stage = StageUsage(7, execution=2, name="save at /jobs/load.py:12", **{**EVEN, **fields})
    return [entry for _, entry in bottlenecks(Usage(cores=4, longest_stages=(stage,)))]


def test_an_even_stage_is_no_bottleneck():
    """A facet that complains about healthy stages is not read any more."""
    assert entries() == []


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        (
            {"slowest_ms": 95_000, "rows": 100, "rows_of_slowest": 61},
            "skew",
            "The slowest of 200 tasks of stage 7 took 95 s and read 61% of the rows;"
            " the median is about 0.9 s.",
        ),
        (
            {"disk_spilled_bytes": 3 << 30},
            "spill",
            "Stage 7 wrote 3.0 GiB to local disks, because its tasks had too little memory.",
        ),
        ({"gc_ms": 45_000}, "garbage collection", "Garbage collection took 25% of the time of stage 7."),
        ({"python_ms": 135_000}, "python", "Python workers ran for 75% of the time of stage 7."),
        (
            {"python_ms": 400_000},
            "python",
            "Python workers ran for 100% of the time of stage 7.",
        ),
        (
            {"partitions": 1, "input_bytes": 5 << 30},
            "too few partitions",
            "Stage 7 had 1 task for 4 cores, 5.0 GiB for each.",
        ),
        (
            {"tasks": 20_000, "median_ms": 12},
            "too many partitions",
            "The median of the 20,000 tasks of stage 7 is about 12 ms.",
        ),
        ({"failed_tasks": 60}, "failed tasks", "60 tasks of stage 7 failed, and Spark repeated the work."),
        (
            {"is_failed": True},
            "failed stage",
            "Attempt 1 of stage 7 was not completed; it ran for 60 s.",
        ),
    ],
)
def test_each_bottleneck_has_figures_and_its_stage(fields, kind, message):
    """Each sentence has the figures that it follows from, and says where to look."""
    assert entries(**fields) == [
        {
            "kind": kind,
            "message": message,
            "stage": 7,
            "execution": 2,
            "callSite": "save at /jobs/load.py:12",
        }
    ]


def test_a_retry_of_one_partition_is_not_a_lack_of_partitions():
    """After a lost executor, Spark computes only the missing partitions again."""
    assert entries(attempt=1, partitions=1, input_bytes=5 << 30) == []


def test_short_stages_are_no_bottlenecks():
    """A stage of a second costs nobody a night."""
    assert entries(elapsed_ms=1_900, slowest_ms=1_900, median_ms=1, disk_spilled_bytes=1) == []
    assert entries(elapsed_ms=10, is_failed=True) == []
    assert entries(run_ms=0, gc_ms=5) == []


ORDINARY = {
    "garbage collection of 0.4 s": {"elapsed_ms": 4_100, "run_ms": 4_000, "gc_ms": 410},
    "first tasks, which load classes": {
        "elapsed_ms": 3_900,
        "slowest_ms": 3_600,
        "median_ms": 400,
        "tasks": 8,
    },
    "workers of Python that start": {"elapsed_ms": 6_000, "run_ms": 5_600, "python_ms": 4_900},
    "a spill of a small sort": {"elapsed_ms": 7_000, "run_ms": 9_000, "disk_spilled_bytes": 3 << 20},
    "one task that was repeated": {"elapsed_ms": 5_000, "failed_tasks": 1, "median_ms": 2_000},
    "many tiny tasks": {"elapsed_ms": 8_000, "tasks": 2_000, "median_ms": 3, "run_ms": 7_000},
    "a failed attempt of 3 s": {"elapsed_ms": 3_000, "is_failed": True},
}


@pytest.mark.parametrize("case", ORDINARY)
def test_ordinary_tasks_have_no_bottleneck(case):
    """Tasks of a minute on a loaded machine: what costs some seconds is not worth a person's time."""
    assert entries(**ORDINARY[case]) == []


def test_a_small_share_of_a_long_application_is_no_bottleneck():
    """Ten seconds matter in a minute, and not in an hour."""
    stage = StageUsage(7, **{**EVEN, "slowest_ms": 12_000})
    assert [*bottlenecks(Usage(cores=4, span_ms=60_000, longest_stages=(stage,)))]
    assert not [*bottlenecks(Usage(cores=4, span_ms=3_600_000, longest_stages=(stage,)))]


def test_time_without_tasks():
    """A driver that works alone, or waits, shows in no stage."""
    [(_, entry)] = bottlenecks(Usage(span_ms=160_000, idle_ms=95_000))
    assert entry == {
        "kind": "idle",
        "message": "No task ran for 95 s of 160 s: the program was busy elsewhere, or it waited.",
    }
    assert not [*bottlenecks(Usage(span_ms=1_600_000, idle_ms=95_000))]


@pytest.mark.parametrize(
    ("operator", "counts", "message"),
    [
        (
            "CartesianProduct",
            {"rows": 40_000_000},
            "A cartesian product in execution 4 compared every row of one side with every row of the other;"
            " it returned 40,000,000 rows.",
        ),
        (
            "CartesianProduct",
            {},
            "A cartesian product in execution 4 compared every row of one side with every row of the other.",
        ),
        (
            "BroadcastNestedLoopJoin",
            {"rows": 1, "left_rows": 2_000_000, "right_rows": 30_000},
            "A nested loop join in execution 4 compared 2,000,000 rows with 30,000 rows; it returned 1 row.",
        ),
    ],
)
def test_a_join_without_an_equality(operator, counts, message):
    """The plan tells what no stage shows: how many pairs of rows were compared."""
    [entry] = joined(operator, **counts)
    kind = "cartesian product" if operator == "CartesianProduct" else "nested loop join"
    assert entry == {"applicationId": "a", "kind": kind, "message": message, "execution": 4}


def test_a_join_with_few_pairs_or_of_a_second_is_no_bottleneck():
    """A join with one row of totals is how Spark runs a scalar subquery."""
    assert joined("BroadcastNestedLoopJoin", left_rows=2_000_000, right_rows=1) == []
    assert joined("CartesianProduct", elapsed_ms=1_900) == []


def joined(operator, elapsed_ms=60_000, **counts):
    join = Join("a", operator, 4, elapsed_ms, **counts)
    summary = ExecutionSummary(1, "count", "2026-01-01", "2026-01-01", failed=False, joins=(join,))
    facets = bottlenecks_facets([Application("a", "n", "4", usage=Usage(cores=4))], [summary])
    return facets["sparkLineage_bottlenecks"].bottlenecks if facets else []


def test_an_event_has_the_five_costliest():
    """The costliest first, whatever the order of the stages."""
    stages = [StageUsage(n, **{**EVEN, "slowest_ms": n * 10_000}) for n in (3, 9, 1, 7, 2, 8, 4)]
    application = Application("a", "n", "4", usage=Usage(longest_stages=tuple(stages)))
    facet = bottlenecks_facets([application])["sparkLineage_bottlenecks"]
    assert [entry["stage"] for entry in facet.bottlenecks] == [9, 8, 7, 4, 3]
