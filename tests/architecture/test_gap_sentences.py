"""No program reads a sentence of a gap: code decides by the kind, and makes sentences in `gaps/` alone.

Tests compare kinds, too (`gap_kinds.py`); `tools/limits.py` counts those that read a sentence, and their
number only falls.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import airflow_provider_spark_lineage

ROOT = Path(airflow_provider_spark_lineage.__file__).parent
READS = {"startswith", "endswith", "removeprefix", "removesuffix", "find", "index", "partition", "split"}
"""Methods that look into a text."""

NAMES = {"reason", "note"}
"""Names of attributes and keys that have a sentence of a gap."""

VARIABLES = {"problem", "problems"}
"""Names of variables for losses, which become gaps."""

OTHERS = ("openlineage/testing/", "cli/recorded.py")
"""Code with other problems, which never become gaps: of matchers, of files without events."""


def is_sentence(node: ast.AST) -> bool:
    """Return whether an expression is a sentence: `gap.reason`, `gap["reason"]`, `problem`."""
    if isinstance(node, ast.Attribute):
        return node.attr in NAMES
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value in NAMES
    if isinstance(node, ast.SetComp | ast.ListComp | ast.GeneratorExp):
        return is_sentence(node.elt)
    return isinstance(node, ast.Name) and node.id in VARIABLES


def is_truth(node: ast.AST) -> bool:
    """Return whether a value says only whether there is a sentence: None or an empty text."""
    return isinstance(node, ast.Constant) and node.value in (None, "")


def comparisons(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and code of each place that looks into a sentence."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(each, ast.Tuple | ast.List | ast.Set) for each in sides):
                sides += [item for each in sides if hasattr(each, "elts") for item in each.elts]
            is_membership = isinstance(node.ops[0], ast.In | ast.NotIn) and is_list(node.comparators[0])
            if any(map(is_sentence, sides)) and not any(map(is_truth, sides)) and not is_membership:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_method = node.func.attr in READS and is_sentence(node.func.value)
            is_pattern = node.func.attr in ("match", "search", "fullmatch") and any(
                map(is_sentence, node.args)
            )
            if is_method or is_pattern:
                yield node.lineno, ast.unparse(node)


def is_list(node: ast.AST) -> bool:
    """Return whether it is a list of sentences, where `in` asks whether a sentence is there a second time."""
    return is_sentence(node) and ast.unparse(node).endswith("s")


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def test_no_program_reads_a_sentence():
    """A plainer sentence would silently change what the program does."""
    found = {name: list(comparisons(tree)) for name, tree in trees() if not name.startswith(OTHERS)}
    assert {name: places for name, places in found.items() if places} == {}


@pytest.mark.parametrize(
    ("code", "is_read"),
    [
        ("gap.reason == PLANNED", True),
        ("PLANNED != gap.reason", True),
        ("gap['reason'].startswith(X)", True),
        ("any(X in problem for problem in problems)", True),
        ("_UNREAD.match(gap.reason)", True),
        ("gap.reason in (A, B)", True),
        ("{gap.reason for gap in gaps} == {A}", True),
        ("gap.kind is GapKind.PLANNED", False),
        ("problem in problems", False),
        ("note is None", False),
    ],
)
def test_it_sees_each_way_to_read_a_sentence(code: str, is_read: bool):
    assert bool(list(comparisons(ast.parse(code)))) == is_read


def test_sentences_are_made_in_one_place():
    """Elsewhere, a `Reason` is a row of `gaps/` with its values, or another wording of one."""
    makers = {
        name
        for name, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Reason", "Sentence")
    }
    assert {name for name in makers if not name.startswith("spark/gaps/")} == set()


@pytest.fixture(scope="module")
def limits() -> Any:
    path = ROOT.parent / "tools" / "limits.py"
    specification = importlib.util.spec_from_file_location("limits", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("code", "is_counted"),
    [
        ("assert [gap.reason for gap in gaps] == ['a']", True),
        ("assert gap['reason'].startswith('a')", True),
        ("assert 'a' in gap.reason", True),
        ("reasons = {gap.reason for gap in gaps}", True),
        ("assert (identity.id, identity.note) == ('/in', X)", True),
        ("assert gap.reason.kind is GapKind.PLANNED", False),
        ("assert identity.note is None", False),
        ("assert (identity.id, identity.note) == ('/in', None)", False),
        ("assert len(gap.reason) < 2_000", False),
        ("assert answer['reason']['sentence']", False),
        ("pytest.skip(reason='needs Spark')", False),
    ],
)
def test_tests_that_read_a_sentence_are_counted(limits: Any, code: str, is_counted: bool):
    """With a limit in `pyproject.toml`; those whose rule is the sentence itself are left."""
    tree = ast.parse(code)
    assert bool(list(limits.sentences_in_tests({Path("tests/lineage/test_a.py"): tree}))) is is_counted
    assert list(limits.sentences_in_tests({Path("tests/gaps/test_a.py"): tree})) == []
