"""The options of `[spark_lineage]`: the documented ones are read, and no value can fail a job."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.get_provider_info import OPTIONS, get_provider_info

ROOT = Path(__file__).parents[1]
CONF = Path(inspect.getfile(get_provider_info)).with_name("airflow") / "conf.py"

GOOD = [
    ("assertion_names", "Class", "class"),
    ("asset_events", "True", True),
    ("auto_capture", "True", True),
    ("auto_capture", "t", True),
    ("auto_capture", "0 # off for now", False),
    ("auto_capture_commands", "True", True),
    ("auto_capture_exclude", "payroll; sandbox_*;", ["payroll", "sandbox_*"]),
    ("auto_capture_include", "[a-d]?.task.in_group", ["[a-d]?.task.in_group"]),
    ("auto_capture_include", "", []),
    ("disabled", "true", True),
    ("drain_timeout_seconds", "2.5", 2.5),
    ("drain_timeout_seconds", "0", 0.0),
    ("emit_timeout_seconds", "0.5", 0.5),
    ("execution_events", "False", "none"),
    ("execution_events", "true", "all"),
    ("execution_events", "Writes", "writes"),
    ("extra_operators", "a.B = in process;c.d.E=spark-sql", {"a.B": "in process", "c.d.E": "spark-sql"}),
    ("max_event_bytes", "1000", 1000),
    ("progress_interval_seconds", "60", 60.0),
    ("max_plan_bytes", "1000", 1000),
    ("repeat_dataset_edges", "1", True),
    ("spark_environment", "TEAM; SPARK_HOME", ["TEAM", "SPARK_HOME"]),
    ("spark_properties", "spark.*.memory", ["spark.*.memory"]),
    ("start_outputs", "False", False),
    ("store", "None", "none"),
    ("store", "XCOM", "xcom"),
    ("store", "s3://aws@Bucket/lineage", "s3://aws@Bucket/lineage"),
    ("store", "file:///mnt/lineage", "file:///mnt/lineage"),
    ("task_datasets", "False", False),
    ("sql_text", "Masked", "masked"),
    ("sql_text", "none # for now", "none"),
]
BAD = [
    ("assertion_names", "type"),
    ("asset_events", "s3"),
    ("auto_capture", "yes please"),
    ("auto_capture_exclude", "payroll, sandbox"),
    ("auto_capture_include", "'shop'"),
    ("drain_timeout_seconds", "-1"),
    ("drain_timeout_seconds", "nan"),
    ("drain_timeout_seconds", "soon"),
    ("emit_timeout_seconds", "-2"),
    ("max_event_bytes", "1 MB"),
    ("progress_interval_seconds", "1m"),
    ("progress_interval_seconds", "0.5"),
    ("max_plan_bytes", "0"),
    ("max_plan_bytes", "5MB"),
    ("execution_events", ""),
    ("execution_events", "some"),
    ("spark_properties", "spark.a, spark.b"),
    ("spark_environment", "A=B"),
    ("spark_environment", "SPARK_*"),
    ("sql_text", "mask"),
    ("store", ""),
    ("store", "/mnt/lineage"),
    ("store", "xcoms"),
    ("store", "s3://a b"),
    ("sql_text", ""),
]
WRONG_ENTRIES = [
    "Submit = spark-submit",
    "a.B",
    "a.B = spark submit",
    "a.B = in process, c.D = python",
    "= python",
]

OTHERWISE = {
    "auto_capture_exclude": ["*"],
    "auto_capture_include": [],
    "sql_text": "none",
    "store": "none",
    "spark_properties": [],
}
"""Option -> the meaning of a wrong value, if it is not the default: the value that reveals least."""

# One process for all cases: importing Airflow's configuration takes seconds.
READ_ALL = """
import json, logging, os, sys
from airflow_provider_spark_lineage.airflow import conf

lines = []
class Keep(logging.Handler):
    def emit(self, record):
        lines.append(f"{record.levelname}: {record.getMessage()}")
conf.log.addHandler(Keep())

answers = []
for option, value in json.loads(sys.argv[1]):
    lines.clear()
    name = f"AIRFLOW__SPARK_LINEAGE__{option.upper()}"
    if value is not None:
        os.environ[name] = value
    result = getattr(conf, option)()
    getattr(conf, option)()
    os.environ.pop(name, None)
    answers.append([result, list(lines)])
print("ANSWERS" + json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[tuple[str, str | None], tuple[object, list[str]]]:
    """(option, value) -> its function's result and its log lines, in a process of its own."""
    cases = [(option, None) for option in OPTIONS]
    cases += [(option, value) for option, value, _ in GOOD] + BAD
    cases += [("extra_operators", f"{entry}; x.Y = python") for entry in WRONG_ENTRIES]
    environment = {name: value for name, value in os.environ.items() if "SPARK_LINEAGE" not in name}
    environment["AIRFLOW_HOME"] = str(tmp_path_factory.mktemp("airflow"))
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, json.dumps(cases)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    results = json.loads(done.stdout.rpartition("ANSWERS")[2])
    return {case: (result, lines) for case, (result, lines) in zip(cases, results, strict=True)}


def test_every_option_has_a_function_and_every_function_an_option():
    """An option that is documented and never read, or read and never documented, misleads the user."""
    read = {}
    for node in ast.parse(CONF.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            name, arguments = ast.unparse(node.targets[0]), node.value.args
            if ast.unparse(node.value.func) in ("_reader", "_switch"):
                read[name] = ast.literal_eval(arguments[0])
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            read[node.name] = node.name
    assert read == {name: name for name in OPTIONS}


def listed(page: Path) -> dict[str, tuple[str, str]]:
    """Return the rows of a page's table of options: name -> default and sentence, without links."""
    rows = re.findall(r"^\| `(\w+)` \| `?([\w*.;]*)`? ?\| (.*) \|$", page.read_text(), flags=re.MULTILINE)
    return {name: (default, re.sub(r" \(\[.*\)", "", sentence)) for name, default, sentence in rows}


def test_readme_lists_every_option_with_its_default_and_its_sentence():
    """Whoever reads README alone knows all options, and what happens without them."""
    page = listed(ROOT / "README.md")
    assert {name: (default, text[0].upper() + text[1:]) for name, (default, text) in page.items()} == {
        name: (option.default, option.description.partition(". ")[0]) for name, option in OPTIONS.items()
    }


def test_translated_readme_lists_every_option_with_its_default():
    """A translation that is behind says so here."""
    page = listed(ROOT / "docs" / "zh" / "README.md")
    assert {name: default for name, (default, _) in page.items()} == {
        name: option.default for name, option in OPTIONS.items()
    }


def test_description_in_airflows_reference_is_the_tables():
    """The reference is reStructuredText, with lines for a file of settings."""
    options = get_provider_info()["config"]["spark_lineage"]["options"]
    assert options.keys() == OPTIONS.keys()
    for name, entry in options.items():
        assert " ".join(entry["description"].split()) == OPTIONS[name].description.replace("`", "``")
        assert entry["version_added"] == OPTIONS[name].since


@pytest.mark.airflow
@pytest.mark.parametrize("option", sorted(OPTIONS))
def test_default_is_the_documented_one(option, answers):
    """Without a value, the function returns the default of Airflow's configuration reference."""
    result, lines = answers[option, None]
    documented = OPTIONS[option].default
    kinds = {"boolean": bool, "integer": int, "float": float, "string": str}
    if type(result) in (list, dict):
        result = ";".join(result)
    assert type(result) is kinds[OPTIONS[option].type]
    value = documented if type(result) is str else type(result)(json.loads(documented.lower()))
    assert str(value) == str(result)
    assert lines == []


@pytest.mark.airflow
@pytest.mark.parametrize(("option", "value", "expected"), GOOD)
def test_value_is_read(option, value, expected, answers):
    """A value that Airflow's own getters would take is taken."""
    assert answers[option, value] == (expected, [])


@pytest.mark.airflow
@pytest.mark.parametrize(("option", "value"), BAD)
def test_bad_value_falls_back_with_one_warning(option, value, answers):
    """A typing error in an option of lineage must not fail a job; it is logged once, with the value."""
    result, lines = answers[option, value]
    assert result == OTHERWISE.get(option, answers[option, None][0])
    assert len(lines) == 1
    assert lines[0].startswith(f"WARNING: [spark_lineage] {option} = {value!r} is not ")


@pytest.mark.airflow
@pytest.mark.parametrize("entry", WRONG_ENTRIES)
def test_one_wrong_entry_costs_no_other(entry, answers):
    """Each operator is named for itself; the warning has the correct form."""
    result, lines = answers["extra_operators", f"{entry}; x.Y = python"]
    assert result == {"x.Y": "python"}
    assert len(lines) == 1
    assert f"{entry!r} is left out. Write package.module.Class = KIND" in lines[0]


def test_a_slow_backend_holds_a_task_for_less_time_than_airflow_gives_it():
    """With `auto_capture`, the waits come after the success of a task: then Airflow ends the process."""
    pytest.importorskip("airflow")
    from airflow.configuration import AirflowConfigParser

    from airflow_provider_spark_lineage.airflow.task.store import MAX_SECONDS

    defaults = AirflowConfigParser()
    overtime = float(defaults.get_default_value("core", "task_success_overtime"))
    # The provider ends its process for an event three seconds after its `execution_timeout` of 10.
    provider = 10 + 3
    assert float(OPTIONS["emit_timeout_seconds"].default) + provider + MAX_SECONDS < overtime
