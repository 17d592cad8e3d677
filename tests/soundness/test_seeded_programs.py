"""A seeded part of the proof that datasets of a lineage agree with the disk and the catalog."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from agreement import TakenStep, differences
from disk import File, Moment, Place, Table, of_delta
from programs import ALL, of_seed
from wide_programs import WIDE, wide_of_seed

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Gap,
    Input,
    Lineage,
    Mode,
    Output,
    Statistics,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity, Symlink

QUICK = 12
CHOSEN = sorted(random.Random(11).sample(ALL, QUICK), key=lambda seed: (of_seed(seed).lakes, seed))
CHANGED = (0, 2, 1005, 1007)
"""Those that also run on changed data, the last two with lakes."""

COPIED = 1007
"""A program that computes structs and windows, on lakes."""


@pytest.fixture(scope="module")
def runners():
    """Yield the runner of programs in the running session: at most one, with lakes or without."""
    running = []
    yield running
    for runner in running:
        runner.spark.stop()


@pytest.mark.spark
@pytest.mark.parametrize("seed", CHOSEN)
def test_lineage_of_datasets_is_true(runners, seed, tmp_path_factory):
    """Datasets that exist, were read, made, renamed or dropped, and the counts of rows, files and bytes."""
    outcome = runner(runners, of_seed(seed).lakes, tmp_path_factory).outcome(of_seed(seed), perturb=False)
    assert outcome.differences == [], str(outcome)


@pytest.mark.spark
@pytest.mark.parametrize("seed", CHANGED)
def test_lineage_of_columns_is_true(runners, seed, tmp_path_factory):
    """Also the columns of datasets, and the sources of all outputs of the program."""
    program = wide_of_seed(seed) if seed in WIDE else of_seed(seed)
    outcome = runner(runners, program.lakes, tmp_path_factory).outcome(program)
    assert outcome.differences == [], str(outcome)
    assert outcome.perturbed.confirmed
    assert outcome.perturbed.runs > len(outcome.perturbed.refused)


@pytest.mark.spark
def test_changed_data_find_missing_edges(runners, tmp_path_factory):
    """A lineage without its edges is found to be false, the same lineage with them is not."""
    from perturbation import perturbed

    program = wide_of_seed(COPIED)
    with runner(runners, program.lakes, tmp_path_factory).captured(program) as (stage, captured, steps):
        assert perturbed(stage, captured.lineage, steps).missing == []
        outputs = tuple(replace(output, edges=()) for output in captured.lineage.outputs)
        assert perturbed(stage, replace(captured.lineage, outputs=outputs), steps).missing


def test_a_table_of_delta_begins_with_its_first_commit(tmp_path):
    """What a failed CREATE TABLE ... AS SELECT leaves is no change: a file, and a log without a commit."""
    (tmp_path / "_delta_log" / "_staged_commits").mkdir(parents=True)
    (tmp_path / "part-0.parquet").touch()
    assert of_delta(tmp_path) == Place({})


def runner(runners, lakes, tmp_path_factory):
    """Return the runner of programs with lakes or without; another one is stopped."""
    import session
    from program_runs import Runner

    if lakes and not session.has_lakes():
        pytest.skip("no Delta or Iceberg for this Spark")
    if runners and runners[0].lakes is not lakes:
        runners.pop().spark.stop()
    if not runners:
        folder = tmp_path_factory.mktemp("programs")
        runners.append(Runner(session.start(folder, lakes), folder, lakes))
    return runners[0]


PLACE, FORMER = "/wh/t", "/wh/old"
ROWS = Place({"part-1": File(3, 90)})
MORE = Place({**ROWS.files, "part-2": File(2, 60)})


def output(mode=Mode.APPEND, rows=None, name=PLACE, **more):
    identity = Identity(DatasetId("file", name), symlinks=more.pop("symlinks", ()))
    return Output(Dataset(identity), mode, Statistics(rows), **more)


def step(before, after, reads=()):
    return TakenStep("insert into t", reads, reads, "", before, after, 0, 1)


def there(place=ROWS, name=PLACE, table="db.t"):
    return Moment({name: place}, {table: Table(name)})


WRONG = {
    "nothing said": (Lineage(), there(), there(MORE), "changed, and is not an output"),
    "too many rows": (Lineage(outputs=(output(rows=5),)), there(), there(MORE), "5 rows said"),
    "made": (Lineage(outputs=(output(Mode.CREATE),)), there(), there(MORE), "had data before"),
    "dropped": (Lineage(outputs=(output(Mode.DROP),)), there(), there(), "dropped, and there"),
    "never made": (Lineage(outputs=(output(Mode.CREATE),)), Moment(), Moment(), "and not there"),
    "not dropped": (Lineage(), there(), Moment(), "is a table no more, and not said"),
    "not read": (Lineage(), there(), there(), "read, and is not an input"),
    "another name": (
        Lineage(outputs=(output(symlinks=(Symlink("file:/wh", "db.u"),)),)),
        there(),
        there(MORE),
        "the table db.u, which is not there",
    ),
    "never called so": (
        Lineage(outputs=(output(Mode.RENAME, previous=DatasetId("file", FORMER)),)),
        there(),
        there(),
        "which was never there",
    ),
}
"""Name -> a lineage, the moments before and after a step, and the expected difference."""


@pytest.mark.parametrize("name", WRONG)
def test_the_comparison_finds_false_statements(name):
    """Each kind of false statement is found, and none that has a gap."""
    lineage, before, after, wanted = WRONG[name]
    steps = [step(before, after, (PLACE,) if name == "not read" else ())]
    texts = differences(lineage, steps)
    assert any(wanted in text for text in texts), texts
    assert differences(replace(lineage, gaps=(Gap("x", Reason(GapKind.UNKNOWN, "not known")),)), steps) == []


def test_the_comparison_finds_nothing_in_true_statements():
    """An append of two rows, with its name, its read and its counts."""
    link = Symlink("file:/wh", "db.t")
    read = Input(Dataset(Identity(DatasetId("file", PLACE))), Statistics(rows=3, files=1))
    lineage = Lineage(inputs=(read,), outputs=(output(rows=2, symlinks=(link,)),))
    assert differences(lineage, [step(there(), there(MORE), (PLACE,))]) == []


def test_a_seed_is_one_program():
    """A difference can be repeated by its seed."""
    assert [str(of_seed(seed)) for seed in CHOSEN] == [str(of_seed(seed)) for seed in CHOSEN]
