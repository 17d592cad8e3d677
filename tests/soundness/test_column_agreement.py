"""The comparison of columns finds false statements, and the proof by changed data finds missing edges."""

from __future__ import annotations

from dataclasses import replace

import column_agreement
import pytest
from agreement import TakenStep, differences
from disk import File, Moment, Place

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Field,
    Gap,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

OLD, NEW = "/in/old", "/wh/new"
ROWS = Place({"part-1.parquet": File(3, 90)}, columns=(("id", "bigint"),))
WRITTEN = Place({"part-2.parquet": File(2, 60)}, columns=(("id", "bigint"), ("s", "string")))
MADE = (Moment({OLD: ROWS}), Moment({OLD: ROWS, NEW: WRITTEN}))


def edge(column="id", place=OLD, field="id"):
    return Edge(DatasetId("file", place), field, Kind.IDENTITY, column=column)


def dataset(place, *fields):
    return Dataset(Identity(DatasetId("file", place)), tuple(Field(*field.split()) for field in fields))


def said(*edges, fields=("id bigint", "s string"), inputs=(OLD,)):
    output = Output(
        dataset(NEW, *fields),
        Mode.CREATE,
        edges=edges,
        inputs=tuple(DatasetId("file", name) for name in inputs),
    )
    return Lineage(inputs=tuple(Input(dataset(name)) for name in inputs), outputs=(output,))


RIGHT = said(edge(), edge("s"))
WRONG = {
    "another type": (said(edge(), edge("s"), fields=("id int", "s string")), "id is bigint, said to be int"),
    "a column less": (said(edge(), fields=("id bigint",)), "has the column s, which is not said"),
    "a column that is gone": (
        said(edge(), edge("s"), fields=("id bigint", "s string", "v int")),
        "said to have the column v, and has not",
    ),
    "an edge to a column that is gone": (
        said(edge(), edge("s"), edge("v")),
        "v said to be from /in/old, and is not a column",
    ),
    "an edge from elsewhere": (said(edge(), edge("s", "/in/other")), "from /in/other, which is not an input"),
    "its own input": (
        said(edge(), edge("s"), edge("id", NEW), inputs=(OLD, NEW)),
        "is an input, was not there before, and nothing originates in it",
    ),
}
"""Name -> a lineage of a step that makes a dataset of another, and the expected difference."""


def step(lineage, reads=(OLD,), moments=MADE):
    return TakenStep("write", reads, (), "", *moments, 0, 1, lineage=lineage)


def differing(lineage, step_lineage=RIGHT):
    reads = tuple(source.dataset.id.name for source in lineage.inputs)
    return differences(lineage, [step(step_lineage, reads)], column_agreement.CHECKS)


@pytest.mark.parametrize("name", WRONG)
def test_the_comparison_finds_false_statements_about_columns(name):
    """Each kind of false statement is found, and none that has a gap."""
    lineage, wanted = WRONG[name]
    texts = differing(lineage)
    assert any(wanted in text for text in texts), texts
    assert differing(replace(lineage, gaps=(Gap("x", Reason(GapKind.UNKNOWN, "not known")),))) == []


def test_the_comparison_finds_nothing_in_true_statements_about_columns():
    """Columns, types, edges and inputs agree; a dataset with literals of the program may be an input."""
    assert differing(RIGHT) == []
    with_literals = said(edge(), edge("s", NEW, "s"), inputs=(OLD, NEW))
    assert differing(with_literals, step_lineage=said(edge())) == []


def test_only_literals_originate_in_a_dataset_that_the_program_made():
    """An edge from another column of it is false."""
    lineage = said(edge(), edge("s", NEW, "id"), inputs=(OLD, NEW))
    (text,) = differing(lineage, step_lineage=said(edge()))
    assert "s said to be from /wh/new.id, which was not there before and is computed" in text


def program(seed=0):
    from programs import Program, Source

    source = Source(OLD, "parquet", 2, (("id", "bigint"), ("v", "bigint")))
    return Program(seed, False, (source,), (), (), raises=False, is_wide=True)


def counted(**columns):
    from collections import Counter

    return {NEW: {name: Counter(values) for name, values in columns.items()}}


def test_a_change_is_a_difference_of_values_or_of_their_number():
    """Rows may be in any order; a column that is gone has changed."""
    from perturbation import different

    usual = counted(id="ab", s="xy")
    assert list(different(usual, counted(id="ba", s="xy"))) == []
    assert list(different(usual, counted(id="ac", s="xy"))) == [(NEW, "id")]
    assert list(different(usual, counted(id="ab"))) == [(NEW, "s")]
    assert (NEW, "") in list(different(usual, counted(id="abb", s="xyy")))


def test_only_an_edge_or_a_gap_lets_a_column_change():
    """Its own edge, one of the whole output, or a gap about it; edges of other columns do not count."""
    from perturbation import Claims

    changed = (NEW, "s")
    assert Claims(program(), RIGHT).explained(changed, [f"{OLD}.id"])
    assert not Claims(program(), RIGHT).explained(changed, [f"{OLD}.v"])
    assert not Claims(program(), said(edge("id"))).explained(changed, [f"{OLD}.id"])
    assert Claims(program(), said(edge(""))).explained(changed, [f"{OLD}.id"])
    with_gap = replace(RIGHT, gaps=(Gap("x", Reason(GapKind.UNKNOWN, "y"), DatasetId("file", NEW), "s"),))
    assert Claims(program(), with_gap).admitted(changed)
    assert not Claims(program(), with_gap).admitted((NEW, "id"))


def test_an_edge_that_the_text_does_not_explain_is_listed_unless_a_change_confirms_it():
    """Other edges are listed only if none of their kind is confirmed."""
    import judged
    from perturbation import UNEXPLAINED, Perturbed
    from program_runs import Outcome

    kinds = {
        "a": "identity: {n}",
        "b": "identity: {n}",
        "c": f"identity: {UNEXPLAINED}",
        "d": f"identity: {UNEXPLAINED}",
    }
    outcome = Outcome(program(), [], perturbed=Perturbed(edges=kinds, confirmed={"a", "c"}))
    assert judged.unconfirmed([outcome]) == {f"identity: {UNEXPLAINED}": "seed 0, d"}


@pytest.mark.parametrize("seed", [1000, 1001, 1499])
def test_a_seed_is_one_wide_program(seed):
    """A difference can be repeated by its seed."""
    from wide_programs import wide_of_seed

    assert str(wide_of_seed(seed)) == str(wide_of_seed(seed))
