"""The sentences of gaps: each is a row with a kind, and each use gives the values that it names."""

from __future__ import annotations

import ast
import string
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import airflow_provider_spark_lineage
from airflow_provider_spark_lineage.spark.gaps import of_datasets, of_plans, of_programs, of_tasks
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason, Sentence

ROOT = Path(airflow_provider_spark_lineage.__file__).parent
MODULES = {
    path.stem: import_module(f"airflow_provider_spark_lineage.spark.gaps.{path.stem}")
    for path in sorted((ROOT / "spark" / "gaps").glob("of_*.py"))
}


def rows(module: ModuleType) -> dict[str, Sentence | Reason]:
    return {name: each for name, each in vars(module).items() if isinstance(each, Sentence | Reason)}


def uses() -> list[tuple[str, str, str, set[str] | None]]:
    """Return place, module, row and names of the values of each use; None for a row that is not called."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                for each in ast.walk(node.func):
                    called[each] = {str(keyword.arg) for keyword in node.keywords}
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in MODULES
            ):
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                found.append((place, node.value.id, node.attr, called.get(node)))
    return found


USES = uses()


@pytest.mark.parametrize("name", MODULES)
def test_each_sentence_is_used(name):
    """A row that nothing uses is left over."""
    assert rows(MODULES[name]).keys() <= {row for _, module, row, _ in USES if module == name}


def test_each_use_gives_the_values_of_its_sentence():
    """A missing value would be an exception in the middle of a lineage."""
    for place, module, name, given in USES:
        row = getattr(MODULES[module], name)
        if isinstance(row, Sentence) and given is not None:
            wanted = {field for _, field, _, _ in string.Formatter().parse(row.text) if field}
            assert wanted <= given, f"{place} gives {sorted(given)} to {name}"


def test_no_two_rows_are_one_sentence():
    """One of them could be changed without the other."""
    all_rows = [row for module in MODULES.values() for row in rows(module).values()]
    texts = [(row.kind, row.text) for row in all_rows if isinstance(row, Sentence)]
    assert sorted(texts) == sorted(set(texts))


def test_every_kind_is_used():
    """UNKNOWN has no row: only gaps of earlier releases are of it."""
    used = {row.kind for module in MODULES.values() for row in rows(module).values()}
    assert {kind for kind in GapKind if kind not in used} == {GapKind.UNKNOWN}


@pytest.mark.parametrize(
    ("reason", "kind", "words"),
    [
        (of_programs.PLANNED, "planned", "read from the text of the program; not what ran"),
        (
            of_tasks.STOPPED(),
            "task_stopped",
            "Airflow asked the task to stop: its later work is not in this event",
        ),
        (
            of_tasks.SWITCHED_OFF(),
            "not_captured",
            "operators of other packages are not captured: set [spark_lineage] auto_capture to True",
        ),
        (
            of_tasks.NOT_STARTED(),
            "not_captured",
            "auto-capture did not start in this task: the task's log may say why",
        ),
        (of_tasks.NOT_LISTED(count=2, names="gaps"), "limit_reached", "2 more gaps are not listed"),
        (of_plans.SOME_ROWS(), "failed_write", "the write failed; some of its rows may have been written"),
        (
            of_plans.UNKNOWN_NODE(name="{Future}", rest=""),
            "unknown_node",
            "{Future} is not known: the columns of its input are passed through",
        ),
        (
            of_datasets.UNKNOWN_SOURCE(name="orders"),
            "unknown_source",
            "unknown data source; orders is the name that Spark reports",
        ),
    ],
)
def test_the_words_of_sentences_that_many_users_see(reason, kind, words):
    """Their values may have any characters."""
    assert (str(reason), reason.kind.value) == (words, kind)
