"""Builds the site of `make docs` from the pages of the repository and the docstrings of public names.

python tools/build_site.py FOLDER    writes the site; fails at a warning, such as a broken link

The pages are copied into `.cache/docs`, in the folders that they have here, so that their links stay right.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PREPARED = ROOT / ".cache" / "docs"
SETTINGS = ROOT / ".cache" / "mkdocs.yml"
LISTED = ROOT / "tests" / "docs" / "public_api.json"
PACKAGE = "airflow_provider_spark_lineage"
ENTRY = re.compile(r"\[[^\]]*\]\(([^)#]+\.md)\)")

Nav = list[dict[str, Any]]


def prepare() -> Nav:
    """Copy the pages, write the reference, and return the navigation."""
    shutil.rmtree(PREPARED, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PREPARED / "docs")
    for page in ROOT.glob("*.md"):
        shutil.copy(page, PREPARED)
    for page in PREPARED.rglob("*.md"):
        page.write_text(indented(page.read_text(encoding="utf-8")), encoding="utf-8")
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    sections = re.split(r"^## (.*)\n", index, flags=re.MULTILINE)
    nav: Nav = [{"Start": ["README.md", "docs/README.md"]}]
    nav += [{title: [*pages(text)]} for title, text in zip(sections[1::2], sections[2::2], strict=True)]
    nav += [
        {"Reference": reference()},
        {"中文": [*pages(sections[0])]},
        {"Project": ["CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]},
    ]
    return nav


def pages(text: str) -> Iterator[str]:
    """Yield the pages that a part of `docs/README.md` links, without README, which comes first."""
    for link in dict.fromkeys(ENTRY.findall(text)):
        if link != "../README.md":
            yield link.removeprefix("../") if link.startswith("../") else f"docs/{link}"


def reference() -> list[str]:
    """Write a page of the reference for each public part of the package; return the pages."""
    modules: dict[str, dict[str, Any]] = {}
    for name, described in json.loads(LISTED.read_text(encoding="utf-8"))["python"].items():
        modules.setdefault(name.rpartition(".")[0], {})[name] = described
    texts: dict[str, str] = {}
    for module, names in modules.items():
        below = module.removeprefix(f"{PACKAGE}.")
        part = below.partition(".")[0]
        imported = ", ".join(name.rpartition(".")[2] for name in names)
        texts.setdefault(part, f"# {part}\n")
        texts[part] += f"\n## {below}\n\n```python\nfrom {module} import {imported}\n```\n"
        texts[part] += "".join(_entry(name, described) for name, described in names.items())
    (PREPARED / "reference").mkdir()
    for part, text in texts.items():
        (PREPARED / "reference" / f"{part}.md").write_text(text, encoding="utf-8")
    return [f"reference/{part}.md" for part in texts]


def _entry(name: str, described: Any) -> str:
    """Return the line that mkdocstrings replaces by a signature, a docstring and public members."""
    members = [member for member in described if member != "()"] if isinstance(described, dict) else []
    options = {
        "members": members or False,
        "inherited_members": members or False,
        "merge_init_into_class": "()" in described,
    }
    return f"\n::: {name}\n    options: {json.dumps(options)}\n"


ITEM = re.compile(r"( *)([-*]|\d+\.)( +)(?=\S)")


def indented(text: str) -> str:
    """Return a page whose lists are indented by four spaces a level, as Python-Markdown reads them.

    >>> print(indented("1. a\\n   b\\n   - c\\n\\nd"))
    1. a
        b
        - c
    <BLANKLINE>
    d
    """
    lines, levels, in_code = [], [], False
    for line in text.splitlines():
        width = len(line) - len(line.lstrip())
        item = None if in_code else ITEM.match(line)
        if line.strip() and not in_code:
            # A line ends the lists whose items have their text further to the right.
            levels = [level for level in levels if level <= width]
        depth = len(levels)
        base = levels[-1] if levels else 0
        lines.append(" " * 4 * depth + line[min(base, width) :] if line.strip() else "")
        if item is not None:
            levels.append(len(item[0]))
        if line.lstrip().startswith("```"):
            in_code = not in_code
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Return the exit code."""
    (folder,) = arguments
    settings = {
        "INHERIT": "../mkdocs.yml",
        "docs_dir": "docs",
        "site_dir": str(Path(folder).resolve()),
        "nav": prepare(),
    }
    SETTINGS.write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")  # JSON is YAML.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(SETTINGS)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
