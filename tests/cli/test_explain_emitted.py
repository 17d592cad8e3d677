"""`spark-lineage explain` of OpenLineage events: of a file, a folder, and of one column through all tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from airflow_provider_spark_lineage.cli import main

EMITTED = Path(__file__).resolve().parents[1] / "testing" / "emitted" / "nycflights.jsonl"


def explain(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["explain", *map(str, arguments)])


def dataset(name: str, **facets: Any) -> dict[str, Any]:
    return {"namespace": "file", "name": f"/lake/{name}", "facets": facets}


def step(run: str, source: str, target: str, field: str, *, parent: str = "", kind: str = "IDENTITY") -> str:
    """Return the COMPLETE event of a task that copies `field` of a dataset to `value` of another."""
    how = [{"type": "DIRECT", "subtype": kind}, {"type": "INDIRECT", "subtype": "CONDITIONAL"}]
    read = {"namespace": "file", "name": f"/lake/{source}", "field": field, "transformations": how}
    written = dataset(target, columnLineage={"fields": {"value": {"inputFields": [read]}}})
    facets = {"parent": {"run": {"runId": parent}, "job": {"name": "j"}}} if parent else {}
    event = {
        "eventType": "COMPLETE",
        "run": {"runId": run, "facets": facets},
        "job": {"namespace": "ns", "name": f"shop.{run}"},
        "inputs": [dataset(source)],
        "outputs": [written],
    }
    return json.dumps(event) + "\n"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Two tasks, one after the other, and an execution of the second."""
    file = tmp_path / "events.jsonl"
    file.write_text(
        step("bronze", "raw/orders.csv", "bronze/orders", "amount")
        + step("child", "bronze/orders", "gold/totals", "value", parent="gold")
        + step("gold", "bronze/orders", "gold/totals", "value", kind="AGGREGATION"),
        encoding="utf-8",
    )
    return file


def test_each_task_is_explained(lake: Path) -> None:
    """The executions of a task repeat the task's lineage, and appear under `--each` alone."""
    result = explain(lake)
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
run     shop.bronze   complete
reads   file /lake/raw/orders.csv

writes  file /lake/bronze/orders
  value <- orders.csv.amount   direct identity, indirect conditional

run     shop.gold   complete
reads   file /lake/bronze/orders

writes  file /lake/gold/totals
  value <- orders.value   direct aggregation, indirect conditional
"""
    )
    assert explain("--events", lake).stdout == explain(lake.parent).stdout == result.stdout
    assert "shop.child   complete" in explain(lake, "--each").stdout
    runs = json.loads(explain(lake, "--json").stdout)["runs"]
    assert [(run["job"], len(run["outputs"])) for run in runs] == [("shop.bronze", 1), ("shop.gold", 1)]


@pytest.mark.parametrize("name", ["value", "totals.value", "/lake/gold/totals.value"])
def test_a_column_is_followed_through_all_tasks(lake: Path, name: str) -> None:
    """A person asks about a column of the last table, and the answer is the first file."""
    result = explain("--events", lake, "--column", name)
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
names are relative to file /lake

value  gold/totals  by shop.gold
└── value  bronze/orders  aggregation, conditional  by shop.bronze
    └── amount  raw/orders.csv  identity, conditional
"""
    )


def test_a_column_is_followed_through_thousands_of_tasks(tmp_path: Path) -> None:
    """A chain of any length has a trace; of columns with one name, only the last one has its own."""
    file = tmp_path / "events.jsonl"
    tasks = range(1, 3001)
    file.write_text("".join(step(f"{n}", f"t{n - 1}", f"t{n}", "value") for n in tasks), encoding="utf-8")
    lines = explain("--events", file, "--column", "value").stdout.splitlines()
    traced = [line.strip(" └─").split("  ")[1] for line in lines[2:]]
    assert traced == [f"t{n}" for n in range(3000, -1, -1)]
    result = explain("--events", file, "--column", "value", "--json")
    assert result.exit_code == 0
    assert result.stdout.count('"origins": [') == 3001
    assert result.stdout.count("{") == result.stdout.count("}") == 3002


def test_deep_json_is_the_same_json(lake: Path) -> None:
    """A trace is written as all other documents are."""
    text = explain("--events", lake, "--column", "value", "--json").stdout
    assert text == json.dumps(json.loads(text), indent=2) + "\n"


def test_a_column_that_is_not_there_has_a_hint(lake: Path) -> None:
    """As for records."""
    result = explain(lake, "--column", "valeu")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "spark-lineage: no output has a column `valeu`: did you mean `value`?\n"


def test_a_failed_task_has_its_reason_and_its_finished_work() -> None:
    """Gaps and failures of our own events are on the page; `*` is explained once for all tasks."""
    text = explain(EMITTED).stdout
    failed = text[text.index("run     nycflights_fails.delay_per_mile   fail") :]
    assert failed.index("writes  file /data/failed/airlines") < failed.index("failed  execution 2 (command)")
    assert text.count("*  every column") == 1


BAD = {
    "torn": (b'{"eventType": "COMPLETE", "run', "not JSON"),
    "other": (b'{"level": "info"}', "not an OpenLineage event"),
    "empty": (b"", "has no OpenLineage event"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_file_without_events_is_one_sentence(tmp_path: Path, case: str) -> None:
    """Code 2, and the cause."""
    content, cause = BAD[case]
    file = tmp_path / "events.jsonl"
    file.write_bytes(content)
    result = explain("--events", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("spark-lineage: ")
    assert cause in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_torn_end_does_not_hide_the_events_before_it(lake: Path) -> None:
    """Readable events are explained, and the unreadable rest is reported."""
    lake.write_text(lake.read_text() + '{"eventType": "COMPLETE", "run', encoding="utf-8")
    result = explain(lake)
    assert result.exit_code == 2
    assert "run     shop.gold   complete" in result.stdout
    assert "the file ends in the middle of an event" in result.stderr


@pytest.mark.parametrize("value", [None, 7, "x", [7], {"fields": 7}])
@pytest.mark.parametrize("path", ["facets", "columnLineage", "fields", "inputFields", "transformations"])
def test_a_value_of_the_wrong_type_counts_as_absent(tmp_path: Path, path: str, value: Any) -> None:
    """Events come from any producer."""

    def changed(document: Any) -> Any:
        if isinstance(document, dict):
            return {key: value if key == path else changed(item) for key, item in document.items()}
        return [changed(item) for item in document] if isinstance(document, list) else document

    file = tmp_path / "events.jsonl"
    file.write_text(json.dumps(changed(json.loads(step("a", "in", "out", "x")))), encoding="utf-8")
    result = explain(file)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "writes  file /lake/out" in result.stdout
    assert isinstance(explain(file, "--column", "value").exception, SystemExit | None)


def assertion(name: str, *, success: bool, **values: Any) -> dict[str, Any]:
    return {"assertion": name, "name": name, "success": success, "severity": "error", **values}


ASSERTIONS = [
    assertion("id.not_null", success=True, column="id", expected="0", actual="0"),
    assertion("positive", success=False, severity="warn", expected="0", actual="3"),
    assertion("age.min", success=False, column="age", params={"not_evaluated": "UNRESOLVED_COLUMN"}),
]


def checked(path: Path, *places: str, facets: dict[str, Any] | None = None) -> Path:
    """Write the FAIL event of a task that checked the dataset that it read."""
    facet = {"dataQualityAssertions": {"assertions": ASSERTIONS}}
    read = {"namespace": "file", "name": "/lake/orders", **dict.fromkeys(places, facet)}
    event = {
        "eventType": "FAIL",
        "run": {"runId": "1", "facets": facets or {}},
        "job": {"namespace": "ns", "name": "shop.check"},
        "inputs": [read, {"namespace": "file", "name": "/lake/other"}],
    }
    path.write_text(json.dumps(event), encoding="utf-8")
    return path


@pytest.mark.parametrize("places", [("inputFacets",), ("facets",), ("inputFacets", "facets")])
def test_checks_are_below_their_dataset_failed_ones_first(tmp_path: Path, places: tuple[str, ...]) -> None:
    """A producer may write the facet at one place or at two: each check is one line."""
    result = explain("--events", checked(tmp_path / "events.jsonl", *places))
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
run     shop.check   fail
reads   file /lake/orders
  failed  positive            warn    expected 0, found 3
  failed  age.min       age   error   not evaluated: UNRESOLVED_COLUMN
  passed  id.not_null   id    error   expected 0, found 0
reads   file /lake/other
"""
    )


def test_checks_are_in_the_json_of_the_dataset_that_has_them(tmp_path: Path) -> None:
    """A program gets the same; a dataset without checks has no such key."""
    file = checked(tmp_path / "events.jsonl", "inputFacets")
    [run] = json.loads(explain(file, "--json").stdout)["runs"]
    first, second = run["inputs"]
    assert [(check["status"], check["name"], check["actual"]) for check in first["checks"]] == [
        ("failed", "positive", "3"),
        ("failed", "age.min", ""),
        ("passed", "id.not_null", "0"),
    ]
    assert "checks" not in second


def test_tests_of_no_single_dataset_are_below_the_page(tmp_path: Path) -> None:
    """The run facet `test` has checks over several tables, and those of a table that is missing."""
    tests = [
        {"name": "totals", "status": "pass", "severity": "error", "expected": "4", "actual": "4"},
        {"name": "late", "status": "fail", "severity": "warn", "expected": "<5", "actual": "9\n\x1b"},
        {"name": "id.min", "status": "skip", "params": {"tested_column": "id"}},
        {"name": "x.min", "status": "skip", "params": {"tested_column": "x", "absent": "x"}},
    ]
    text = explain(checked(tmp_path / "events.jsonl", facets={"test": {"tests": tests}})).stdout
    assert text.endswith("""\
test    failed  late          warn    expected <5, found 9 \\x1b
test    skipped id.min   id
test    passed  totals        error   expected 4, found 4
test    absent  x.min    x            no column x
""")


@pytest.mark.parametrize("value", [None, 7, "x", [7], [[]], {"assertions": 7}])
@pytest.mark.parametrize("path", ["dataQualityAssertions", "assertions", "success", "severity", "params"])
def test_assertions_of_the_wrong_type_count_as_absent(tmp_path: Path, path: str, value: Any) -> None:
    """Events come from any producer."""
    file = checked(tmp_path / "events.jsonl", "inputFacets", facets={"test": value})

    def changed(document: Any) -> Any:
        if isinstance(document, dict):
            return {key: value if key == path else changed(item) for key, item in document.items()}
        return [changed(item) for item in document] if isinstance(document, list) else document

    file.write_text(json.dumps(changed(json.loads(file.read_text()))), encoding="utf-8")
    result = explain(file)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "reads   file /lake/orders" in result.stdout
    assert ("failed" in result.stdout) == (path in ("severity", "params"))


def test_one_place_is_given() -> None:
    """Neither and both are mistakes."""
    for arguments in ((), (EMITTED, "--events", EMITTED)):
        assert explain(*arguments).stderr == "spark-lineage: give one place: DIRECTORY, or --events FILE\n"


@pytest.mark.parametrize("name", ["db.totals.value", "totals.value", "value", "/lake/gold/totals.value"])
def test_a_trace_goes_on_behind_the_name_of_a_table(tmp_path: Path, name: str) -> None:
    """A task may write a table by its name, and the other events say which location it has."""
    second, third = (
        json.loads(step(*words, "value"))
        for words in (
            ("gold", "bronze/orders", "gold/totals"),
            ("read", "gold/totals", "last"),
        )
    )
    identifiers = [{"namespace": "hive", "name": "db.totals", "type": "TABLE"}]
    third["inputs"][0]["facets"]["symlinks"] = {"identifiers": identifiers}
    third["outputs"][0]["facets"] = {}
    second["outputs"][0] |= {"namespace": "hive", "name": "db.totals"}
    file = tmp_path / "events.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in (second, third)))
    [column] = json.loads(explain(file, "--column", name, "--json").stdout)["columns"]
    assert (column["name"], column["by"]) == ("/lake/gold/totals", "shop.gold")
    assert [above["name"] for above in column["origins"]] == ["/lake/bronze/orders"]


@pytest.mark.parametrize("options", [(), ("--json",), ("--column", "value"), ("--column", "value", "--json")])
def test_half_of_a_surrogate_pair_is_an_escape(tmp_path: Path, options: tuple[str, ...]) -> None:
    """JSON allows it in a name, and no encoding has it."""
    file = tmp_path / "events.jsonl"
    file.write_text(step("load", "raw", "gold", "odd\ud800"))
    result = explain(file, *options)
    assert (result.exit_code, "odd\\ud800" in result.stdout) == (0, True)
