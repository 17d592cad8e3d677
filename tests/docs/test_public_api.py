"""The public names: `docs/public-api.md` promises them, and pages tell users to import nothing else."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import airflow_provider_spark_lineage

ROOT = Path(__file__).resolve().parents[2]
OURS = "airflow_provider_spark_lineage"
IMPORT = re.compile(rf"^ *from ({OURS}[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def tool() -> Any:
    specification = importlib.util.spec_from_file_location("public_api", ROOT / "tools" / "public_api.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def listed(tool: Any) -> dict[str, Any]:
    return json.loads(tool.STORED.read_text())


def test_public_names_are_those_of_the_list(tool: Any, listed: dict[str, Any]) -> None:
    """A name that is gone, and a call that was right and is wrong, is a decision; a new name is a promise."""
    pytest.importorskip("airflow.sdk")
    promised = {kind: names for kind, names in listed.items() if kind != "since"}
    now = tool.current()
    assert tool.breaks(promised, now) == [], "docs/public-api.md says how a public name ends"
    assert now == promised, "python tools/public_api.py adds what is new to the list"


def test_page_has_the_names_of_the_list(tool: Any, listed: dict[str, Any]) -> None:
    """The table of the page is written, not typed."""
    page = tool.PAGE.read_text()
    assert page == tool.page_with(page, listed), "python tools/public_api.py writes the page"
    assert sorted(listed["since"]) == sorted(tool.names_of(listed))


BEFORE = "(text, *, language, path='', **more)"


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (None, "`f` is gone"),
        ("", "`f`: it cannot be called any more"),
        ("(words='', *, language, path='', **more)", "`f`: parameter `text` is gone"),
        ("(*, text, language, path='', **more)", "`f`: parameter `text` has another position"),
        ("(text, *, language, path='.', **more)", "`f`: the default of `path` was '' and is '.'"),
        ("(text, *, language, path, **more)", "`f`: the default of `path` was '' and is None"),
        ("(text, *, language, path='', strict, **more)", "`f`: parameter `strict` is new and has no default"),
        ("(text, *, language, path='')", "`f`: parameter `**more` is gone"),
        ("(text, *, strict=False, language, path='', **more)", ""),
        ("(text, language, path='', **more)", ""),
    ],
)
def test_change_of_a_signature_is_judged_by_the_calls_that_it_breaks(
    tool: Any, now: str | None, reason: str
) -> None:
    """What every former call survives is no break."""
    found = tool.breaks({"python": {"f": BEFORE}}, {"python": {} if now is None else {"f": now}})
    assert found == ([f"python: {reason}"] if reason else [])


@pytest.mark.parametrize(
    ("kind", "before", "now", "sentence"),
    [
        ("python", {"C": {"()": "(a)", "run": "()"}}, {"C": {"()": "(a)"}}, "python: `C.run` is gone"),
        (
            "python",
            {"C": {"()": "(a)"}},
            {"C": {"()": "()"}},
            "python: `C()`: parameter `a` is gone",
        ),
        (
            "options",
            {"store": "string, 'xcom'"},
            {"store": "string, 'none'"},
            """options: `store` was "string, 'xcom'" and is "string, 'none'\"""",
        ),
        (
            "commands",
            {"spark-lineage run": ["--records"]},
            {"spark-lineage run": []},
            "commands: `spark-lineage run` has no `--records` any more",
        ),
        (
            "facets",
            {"f": {"version": "1-0-0", "keys": ["a"]}},
            {"f": {"version": "1-0-0", "keys": []}},
            "facets: `f.keys` has no `a` any more",
        ),
        ("facets", {"f": {"version": "1-0-0", "keys": ["a"]}}, {"f": {"version": "2-0-0", "keys": []}}, ""),
        ("formats", {"record": 1}, {"record": 2}, "formats: `record` was 1 and is 2"),
    ],
)
def test_what_is_gone_is_said_in_one_sentence(
    tool: Any, kind: str, before: Any, now: Any, sentence: str
) -> None:
    """A new version of a schema is how its keys may go."""
    assert tool.breaks({kind: before}, {kind: now}) == ([sentence] if sentence else [])


@pytest.mark.parametrize(
    "page",
    [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "dags").glob("*.py")),
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_pages_and_example_dags_import_public_names_alone(page: Path, listed: dict[str, Any]) -> None:
    """What a page shows is copied."""
    inner = {
        f"{module}.{name}"
        for module, names in IMPORT.findall(page.read_text())
        for name in re.findall(r"(?:^|[(,])\s*(\w+)", names)
        if f"{module}.{name}" not in listed["python"]
    }
    assert inner == set()


@pytest.mark.parametrize(
    ("former", "name"), [("runs.pipeline", "RecordedFolder"), ("planned.texts", "planned_lineage")]
)
def test_a_former_path_leads_to_the_present_name_and_says_so(former: str, name: str) -> None:
    """Pages told users to import from it; it stays for one release."""
    sys.modules.pop(f"{OURS}.{former}", None)
    with pytest.warns(DeprecationWarning, match=f"import {name} from {OURS}"):
        module = importlib.import_module(f"{OURS}.{former}")
    assert getattr(module, name) is getattr(airflow_provider_spark_lineage, name)
