"""README and the pages below docs/: their links lead somewhere, also from the page of a package index."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.get_provider_info import get_provider_info
from airflow_provider_spark_lineage.spark.gaps.of_programs import PLANNED

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
REPOSITORY = "https://forge.example/team/project"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_a_page_that_is_there(page: Path) -> None:
    """A page that was renamed, or a heading, takes its links with it."""
    for link in LINK.findall(page.read_text()):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_index_of_the_pages_lists_each_page_once() -> None:
    """A page outside of the index is not found."""
    index = ROOT / "docs" / "README.md"
    listed = [link for link in LINK.findall(index.read_text()) if not link.startswith(("..", "zh/"))]
    assert sorted(listed) == sorted(page.name for page in index.parent.glob("*.md") if page != index)


def test_troubleshooting_names_findings_and_options_that_exist() -> None:
    """A reader looks for these words in the output of the doctor and in `airflow.cfg`."""
    text = (ROOT / "docs" / "troubleshooting.md").read_text()
    findings = re.findall(r"`spark-lineage doctor`: ((?:`[a-z-]+`(?:, )?)+)", text)
    names = {name for some in findings for name in re.findall(r"`([a-z-]+)`", some)}
    assert names >= {"openlineage-off", "transport-missing", "listener-missing", "transport-silent"}
    assert all(f"| `{name}` |" in (ROOT / "docs" / "doctor.md").read_text() for name in names)
    assert PLANNED in text
    options = get_provider_info()["config"]["spark_lineage"]["options"]
    named = set(
        re.findall(r"[a-z_]*(?:auto_capture|timeout_seconds|execution_events|repeat_dataset)[a-z_]*", text)
    )
    assert named <= set(options)


TRANSLATED = {"README.md": README, "troubleshooting.md": ROOT / "docs" / "troubleshooting.md"}
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", TRANSLATED)
def test_chinese_page_has_the_code_of_the_english_one(name: str) -> None:
    """Blocks of code are the same in the same order; so are commands, options and names of findings."""
    english, chinese = TRANSLATED[name].read_text(), (ROOT / "docs" / "zh" / name).read_text()
    assert CODE.findall(chinese) == CODE.findall(english)
    words = [set(re.findall(r"`([^`\n]+)`", CODE.sub("", text))) for text in (english, chinese)]
    assert words[0] == words[1]


NUMBERS = {"three": "三", "four": "四", "five": "五", "six": "六", "seven": "七", "eight": "八", "nine": "九"}
"""Numbers that both languages also write as words; one and two are words of other meanings, too."""


def sections(text: str) -> list[str]:
    return re.split(r"^#+ .*$", CODE.sub("", text), flags=re.MULTILINE)


def tables(text: str) -> list[list[int]]:
    """Return the number of cells in each row of each table."""
    found = re.findall(r"(?:^\|.*\n)+", f"{text}\n", re.MULTILINE)
    return [[row.replace("\\|", "").count("|") for row in table.splitlines()] for table in found]


def figures(text: str) -> Counter[str]:
    """Return the numbers of a text, outside of the addresses of links."""
    text = LINK.sub("", text).lower()
    found = Counter(re.findall(r"\d[\d.,]*\d|\d", text))
    for at, (english, chinese) in enumerate(NUMBERS.items(), start=3):
        found[str(at)] += len(re.findall(rf"\b{english}\b|{chinese}", text))
    return +found


@pytest.mark.parametrize("name", TRANSLATED)
def test_chinese_page_says_what_the_english_one_says(name: str) -> None:
    """As far as a test can read both: the same sections, tables, pictures and figures, in the same order."""
    texts = [TRANSLATED[name].read_text(), (ROOT / "docs" / "zh" / name).read_text()]
    english, chinese = map(sections, texts)
    assert len(english) == len(chinese)
    pictures = [re.findall(r"!\[[^\]]*\]\((?:\.\./|docs/)*([^)]+)\)", text) for text in texts]
    assert pictures[0] == pictures[1]
    for ours, theirs in zip(english, chinese, strict=True):
        assert tables(theirs) == tables(ours)
        assert figures(theirs) == figures(ours), ours


COSTS = re.compile(r"^\| `(make [a-z0-9.-]+)` \|.*\| (\d+) \| ([\d.]+ GB) \|$", re.MULTILINE)
"""Row of a command with its minutes and its place on disk."""


def test_a_command_costs_the_same_on_each_page() -> None:
    """docs/develop.md has the figures; README repeats two of them, and no help text has another."""
    known = {name: cost for name, *cost in COSTS.findall((ROOT / "docs" / "develop.md").read_text())}
    assert {*known} == {"make demo", "make test", "make full"}
    pages = [README, ROOT / "docs" / "zh" / "README.md"]
    for page in pages:
        repeated = {name: cost for name, *cost in COSTS.findall(page.read_text())}
        assert repeated == {name: known[name] for name in ("make demo", "make test")}, page
    helped = re.findall(r"^(demo|test|full):.*## (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert len(helped) == len(known)
    assert not [text for _, text in helped if re.search(r"minutes|hours?\b", text)]


def test_readme_has_the_parts_that_a_dag_author_looks_for_in_their_order() -> None:
    """A picture first; then each step of a first hour, and reference tables last."""
    text = README.read_text()
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles == [
        *("Install", "Use it: change one name", "Use it: change only the configuration"),
        *("A first event on your machine", "What you get", "Doctor", "Command line"),
        *("Ask about many jobs", "Test your own lineage"),
        *("Options", "Limits", "More pages"),
    ]
    assert text.index("](docs/lineage.svg)") < text.index("## Install")


def test_readme_shows_the_event_from_which_the_picture_is_drawn() -> None:
    """Event and picture are of one run of README's example."""
    [shown] = map(json.loads, re.findall(r"```json\n(.*?)```", README.read_text(), re.DOTALL))
    event = json.loads((ROOT / "docs" / "lineage.json").read_text())
    assert shown["job"] == event["job"]
    assert {dataset["name"] for dataset in shown["inputs"]} == {
        dataset["name"] for dataset in event["inputs"]
    }
    for ours, theirs in zip(shown["outputs"], event["outputs"], strict=True):
        fields = theirs["facets"]["columnLineage"]["fields"]
        assert set(ours["facets"]["columnLineage"]["fields"]) <= set(fields)


@pytest.mark.parametrize("repository", ["", REPOSITORY], ids=["address unknown", "address known"])
def test_page_of_a_package_index_has_no_relative_link(repository: str) -> None:
    """An index knows no file beside README: a relative link leads nowhere there."""
    pytest.importorskip("hatchling")
    sys.path.insert(0, str(ROOT))
    try:
        from hatch_build import index_page, urls
    finally:
        sys.path.remove(str(ROOT))
    page = index_page(README.read_text(), repository)
    relative = [link for link in LINK.findall(page) if not link.startswith(("https://", "http://"))]
    assert relative == []
    assert (f"({REPOSITORY}/raw/main/docs/lineage.svg)" in page) == bool(repository)
    assert bool(urls(repository)) == bool(repository)


def test_readme_names_the_operators_and_the_decorator() -> None:
    """README lists the same as the provider's description for Airflow."""
    for decorator in get_provider_info()["task-decorators"]:
        assert f"@task.{decorator['name']}" in README.read_text()
