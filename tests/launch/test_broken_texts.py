"""A text that no parser understands is one gap and one warning, without a quotation of it."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from gap_kinds import gap_kinds

from airflow_provider_spark_lineage.airflow.launch.collector import Launched
from airflow_provider_spark_lineage.airflow.launch.planned_applications import planned_of
from airflow_provider_spark_lineage.airflow.launch.table import launch_of

SECRET = "hunter2"  # noqa: S105  alone it looks like any other word


def manifest(text: str) -> Any:
    return operator("SparkKubernetesOperator", application_file=text, template_spec=None, pod=None)


def command(text: str) -> Any:
    return operator("BashOperator", bash_command=text, env=None, cwd=None)


def run(text: Any) -> Any:
    return operator("DatabricksSubmitRunOperator", json=text, run_id=None)


def steps(text: str) -> Any:
    return operator("EmrAddStepsOperator", steps=text)


def parameters(text: str) -> Any:
    driver = {"sparkSubmit": {"entryPoint": "s3://a.py", "sparkSubmitParameters": text}}
    return operator(
        "EmrServerlessStartJobOperator", job_driver=driver, configuration_overrides=None, job_id=None
    )


def operator(name: str, **attributes: Any) -> Any:
    return type(name, (SimpleNamespace,), {})(**attributes)


BROKEN = {
    "YAML: a quote": (manifest(f"spec:\n  password: '{SECRET}\n  main: a.py\n"), "ScannerError in line 4"),
    "YAML: a mapping": (manifest(f"spec:\n  password: {SECRET}: x: [\n"), "ScannerError in line 2"),
    "YAML: an alias": (manifest(f"spec:\n  password: *{SECRET}\n"), "ComposerError in line 2"),
    "YAML: a tag": (manifest(f"spec:\n  password: !{SECRET} x\n"), "ConstructorError in line 2"),
    "YAML: a number": (manifest(f"spec:\n  password: !!int {SECRET}\n"), "ValueError"),
    "YAML: a truth": (manifest(f"spec:\n  password: !!bool {SECRET}\n"), "KeyError"),
    "YAML: no object": (manifest(f"password {SECRET}\nspec"), "neither a file"),
    "JSON in one line": (
        manifest(json.dumps({"password": SECRET + "x" * 300})[:-1]),
        "ParserError in line 1",
    ),
    "JSON or Python": (run(f"{{'password': {SECRET!r}, 'spark_jar_task': "), "SyntaxError in line 1"),
    "Python's code": (run(f"{{'password': print({SECRET!r})}}"), "malformed node"),
    "another shape": (run({"tasks": [{"spark_python_task": f"--password {SECRET}"}]}), "is not an object"),
    "steps": (steps(f"[{{'password': {SECRET!r}"), "JSONDecodeError in line 1"),
    "parameters": (parameters(f"--conf 'spark.password={SECRET}"), "No closing quotation"),
    "shell: a quote": (command(f"set -e\nspark-submit a.py --password '{SECRET}"), "line 2: a quote"),
    "shell: a bracket": (command(f"spark-submit a.py $(echo {SECRET}"), "line 1: a quote or a bracket"),
    "shell: a here-document": (command(f"ls\nspark-submit a.py <<{SECRET}\nx"), "line 2: a here-document"),
    "shell: two of them": (command(f"spark-submit a.py <<A <<{SECRET}\nA\nx\ny"), "line 1: a here-document"),
    "shell: on the last line": (
        command(f"spark-submit a.py <<'password={SECRET}'"),
        "line 1: a here-document",
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_text_is_one_gap_and_one_warning_that_quotes_nothing(broken, caplog):
    """Also at debug level, and a secret that no rule of masking would know."""
    subject, reason = BROKEN[broken]
    caplog.set_level(logging.DEBUG)
    launch = launch_of(subject)
    assert launch is not None
    collector = Launched(launch, "", None)
    collector.stop()
    [gap] = collector.run().lineage.gaps
    assert reason in gap.reason
    assert [record.levelname for record in caplog.records if gap.reason in record.getMessage()] == ["WARNING"]
    assert collector.planned is None
    assert SECRET not in f"{launch} {collector.run()} {caplog.text}"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", f"password = '{SECRET}\n", "unread_program"),
        ("a.py", f"spark = 1\n{SECRET} {SECRET}\n", "unread_program"),
        ("a.sql", f"create view {SECRET} identified by {SECRET}", "unread_text"),
        ("a.sql", f"{SECRET} {SECRET} {SECRET};", "unread_text"),
        ("a.sql", f"password: {SECRET}\nspec:\n", "unread_text"),
    ],
)
def test_a_broken_file_of_an_application_is_a_gap_that_quotes_nothing(name, text, expected, tmp_path, caplog):
    """Nothing to warn of: the lineage of a text always has a gap."""
    caplog.set_level(logging.DEBUG)
    (tmp_path / name).write_text(text)
    launch = launch_of(command(f"{'spark-sql -f' if name == 'a.sql' else 'spark-submit'} {tmp_path}/{name}"))
    lineage, _ = planned_of(launch.applications)
    assert gap_kinds(lineage) == ["planned", expected]
    assert SECRET not in f"{lineage} {caplog.text}"


def test_a_manifest_that_is_not_utf_8_has_its_own_sentence(tmp_path):
    """Python's own words show the place, and no apostrophe in them is the end of a quotation."""
    (tmp_path / "app.yaml").write_bytes("spec: {name: caf\u00e9}".encode("latin-1"))
    launch = launch_of(manifest(str(tmp_path / "app.yaml")))
    collector = Launched(launch, "", None)
    collector.stop()
    [gap] = collector.run().lineage.gaps
    assert gap.reason.endswith("UnicodeDecodeError: it is not UTF-8")


def test_a_long_manifest_in_one_line_is_not_a_file_name():
    """A name of that length is an error of the operating system, which quotes it."""
    spec = {"arguments": ["x" * 300], "mainApplicationFile": "a.py"}
    [application] = launch_of(manifest(json.dumps({"spec": spec}))).applications
    assert application.main == "a.py"
