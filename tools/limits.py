"""Counts places to improve, in the package and its tests, and compares each count with its limit.

python tools/limits.py           prints each count with its limit; exits with 1 unless all are equal
python tools/limits.py words     also lists the places of one of them

Limits are in `[tool.limits]` of `pyproject.toml`. They only fall: the commit that
removes a place lowers them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "airflow_provider_spark_lineage"

Places = Iterator[str]
Trees = Mapping[Path, ast.Module]

QUESTION = re.compile(r"(What|Which|Where|How|Whether|Who|When|Why)\b")
HARD_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:is|are|was|were|be) no (?!longer|more|other\b)[a-z]\w*",
        r"\b(?:is|are|as|to|than|and|or|by|from|with|like|of|in) (?:that|those) of\b",
        r"\b(?:of|by|with|from|in|on|to) which\b",
        r"\bwhat (?:is|was|it|they|these|those|a|the)\b",
        r"\bwithout a word\b|\bsays? of\b|\btold (?:by|of)\b|\bstands? (?:there|in|for)\b",
    )
)
"""Forms of sentences that many readers read twice."""

VAGUE = frozenset("asked born found kept made meant one said taken told".split())
"""Names that say nothing of their value."""

SENTENCES = frozenset(("reason", "note"))
"""Names of attributes and keys that have the sentence of a gap."""

ABOUT_SENTENCES = (
    *(f"tests/{name}/" for name in "architecture cli docs gaps viewer".split()),
    *(f"tests/{name}/" for name in "checks soundness testing ui".split()),
    "tests/plan/test_observed_rows.py",
    "system_tests/standalone/",
)
"""Tests whose subject is a sentence (rows of `gaps/`, output, pages), or the reason of something else."""

COMMON_FILES = frozenset({"__init__.py"})
DEFINING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def words(trees: Trees) -> Places:
    """Yield the sentences that a reader may have to read twice, and the vague names."""
    for file, tree in trees.items():
        titles = {id(text) for node in ast.walk(tree) if (text := _docstring(node))}
        for node in ast.walk(tree):
            name = node.arg if isinstance(node, ast.arg) else node.id if _is_stored(node) else ""
            if name in VAGUE:
                yield f"{file}:{node.lineno}: a name: {name}"
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value):
                continue
            if id(node) in titles and QUESTION.match(node.value):
                yield f"{file}:{node.lineno}: a question: {node.value.splitlines()[0]}"
            for form in HARD_FORMS:
                for hit in form.finditer(node.value):
                    line = node.lineno + node.value.count("\n", 0, hit.start())
                    text = " ".join(node.value[max(0, hit.start() - 30) : hit.end() + 40].split())
                    yield f"{file}:{line}: {text}"


def words_in_pages(_: Trees) -> Places:
    """Yield the same sentences of the pages for people."""
    for page in sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            for form in HARD_FORMS:
                for hit in form.finditer(line):
                    text = line[max(0, hit.start() - 30) : hit.end() + 40].strip()
                    yield f"{page.relative_to(ROOT)}:{number}: {text}"


def class_names(trees: Trees) -> Places:
    """Yield the names that several classes have."""
    by_name = defaultdict(list)
    for file, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                by_name[node.name].append(str(file))
    yield from (f"{name}: {', '.join(files)}" for name, files in by_name.items() if len(files) > 1)


def file_names(trees: Trees) -> Places:
    """Yield the names that more than two modules have, besides those that only forward a public path."""
    by_name = defaultdict(list)
    for file, tree in trees.items():
        if any(isinstance(node, DEFINING[1:]) for node in tree.body):
            by_name[file.name].append(str(file.parent))
    for name, folders in by_name.items():
        if len(folders) > 2 and name not in COMMON_FILES:
            yield f"{name}: {', '.join(folders)}"


def imports_in_functions(trees: Trees) -> Places:
    """Yield the imports inside functions: they hide the needs of a module."""
    for file, tree in trees.items():
        functions = (
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        inside = {part for each in functions for part in ast.walk(each)}
        for node in inside:
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield f"{file}:{node.lineno}: {ast.unparse(node)}"


def sentences_in_tests(trees: Trees) -> Places:
    """Yield the lines of tests that read the sentence of a gap: they should compare its kind."""
    for file, tree in trees.items():
        if str(file).startswith(ABOUT_SENTENCES):
            continue
        others = _other_uses(tree)
        read = (node for node in ast.walk(tree) if _is_sentence(node) and node not in others)
        yield from sorted({f"{file}:{node.lineno}" for node in read})


PACKAGED, TESTED = ("airflow_provider_spark_lineage",), ("tests", "system_tests")
COUNTS: Mapping[str, tuple[Callable[[Trees], Places], tuple[str, ...]]] = {
    "words": (words, PACKAGED),
    "words_in_pages": (words_in_pages, ()),
    "class_names": (class_names, PACKAGED),
    "file_names": (file_names, PACKAGED),
    "imports_in_functions": (imports_in_functions, PACKAGED),
    "sentences_in_tests": (sentences_in_tests, TESTED),
}
"""Key of `[tool.limits]` -> what yields the places, and folders of the files that it reads."""


def _docstring(node: ast.AST) -> ast.Constant | None:
    first = node.body[0] if isinstance(node, DEFINING) and node.body else None
    return first.value if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else None


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _is_sentence(node: ast.AST) -> bool:
    """Return whether an expression is a sentence: `gap.reason`, `gap["reason"]`, `identity.note`."""
    if isinstance(node, ast.Attribute):
        return node.attr in SENTENCES
    is_key = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    return is_key and node.slice.value in SENTENCES


def _other_uses(tree: ast.AST) -> set[ast.AST]:
    """Return the expressions that are read for their kind, their length or their absence alone."""
    others: set[ast.AST] = set()
    for node in ast.walk(tree):
        if (isinstance(node, ast.Attribute) and node.attr == "kind") or isinstance(node, ast.Subscript):
            others.add(node.value)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "len":
            others.update(node.args)
        elif isinstance(node, ast.Compare):
            sides = [part for side in node.comparators for part in (side, *getattr(side, "elts", ()))]
            if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
                others.update(ast.walk(node))
    return others


def trees_of(folders: tuple[str, ...]) -> Trees:
    """Return the parsed files of folders of the checkout."""
    files = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    return {file.relative_to(ROOT): ast.parse(file.read_text(encoding="utf-8")) for file in files}


def main(shown: list[str]) -> int:
    """Return the exit code."""
    limits = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["limits"]
    trees = {folders: trees_of(folders) for _, folders in COUNTS.values()}
    failed = False
    for name, (places, folders) in COUNTS.items():
        listed = sorted(places(trees[folders]))
        advice = "" if len(listed) == limits[name] else f": lower the limit {limits[name]} in pyproject.toml"
        if len(listed) > limits[name]:
            advice = f": more than the limit {limits[name]}"
        failed |= bool(advice)
        for place in listed if name in shown else ():
            print(place)
        print(f"{name} {len(listed)}{advice}")
    if failed:
        print("python tools/limits.py NAME lists the places of one of them")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
