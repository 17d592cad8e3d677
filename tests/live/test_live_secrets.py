"""No secret that a user hands to Spark is written down, and no literal that the option bars."""

from __future__ import annotations

import dataclasses
import gzip
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import attrs
import planted
import pytest
import sql_secrets
from live_session import start_spark
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.airflow.task.answers import reported
from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage
from airflow_provider_spark_lineage.spark.facets.events import RunIdentity
from airflow_provider_spark_lineage.spark.runs import memory
from airflow_provider_spark_lineage.spark.runs.captured import Captured
from airflow_provider_spark_lineage.spark.runs.sender import Sender

pytestmark = pytest.mark.spark

EACH = pytest.mark.parametrize("sql_text", ["full", "masked", "none"])


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    spark = start_spark(tmp_path_factory.mktemp("spark"), **planted.BUILDER)
    yield spark
    spark.stop()


def check(written, sql_text):
    """Fail with the place of the first secret, or of the first literal that the option keeps back."""
    wanted = {**planted.SECRETS, "token": planted.TOKEN}
    if sql_text != "full":
        wanted.update(text=planted.TEXT, number=str(planted.NUMBER), date="2021-02-03", row=planted.ROW)
    for name, text in written.items():
        for door, secret in wanted.items():
            at = text.find(secret)
            assert at < 0, f"{door} in {name}: {text[max(0, at - 300) : at + 100]}"
        # A part of a secret is a secret as well.
        assert "hunter2" not in text, f"{name}: {text[max(0, text.find('hunter2') - 300) :][:400]}"


def check_sql(texts, sql_text):
    """Fail if the option had no effect: a test of an empty record finds no secrets."""
    if sql_text == "none":
        assert set(texts) == {""}
        return
    filtered = [text for text in texts if "like" in text]
    assert filtered
    shown = f"token like '{planted.TEXT}%' limit 7" if sql_text == "full" else "token like ? limit ?"
    assert all(text.endswith(shown) for text in filtered)


def check_assertions(lineage, sql_text):
    """Fail if the checks have no results: of the operators' checks, those in the writes, and the reported."""
    facets = [
        {each.assertion: each for each in dataset.facets["dataQualityAssertions"].assertions}
        for dataset in (*lineage.inputs, *lineage.outputs)
        if "dataQualityAssertions" in dataset.facets
    ]
    read, written = facets
    assert {"lowest", "not_null", "unique", "min", "accepted_values", "matches", "like", "all", "number"} <= {
        *read
    }
    assert {"not_null", "min", "accepted_values", "matches", "like", "all"} <= written.keys()
    shown = f"name like '{planted.TEXT}%' and id < {planted.NUMBER}"
    texts = {"full": shown, "masked": "name like '' and id < 0", "none": None}
    assert read["like"].content == written["like"].content == texts[sql_text]
    assert (read["min"].actual, read["min"].params["withheld"]) == (None, "text")


@EACH
def test_no_planted_secret_is_written_down(spark, sql_text, tmp_path, caplog, monkeypatch):
    """Records, text, model, events of the run and of the task, logs: no byte has one."""
    for name, value in planted.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__SQL_TEXT", sql_text)
    monkeypatch.setattr(memory, "SPILL_BYTES", 0)
    for name in ("py4j", "airflow_provider_spark_lineage"):
        caplog.set_level(logging.DEBUG, name)
    emitted = []
    sender = Sender(RunIdentity("0190a0a0-0000-7000-8000-000000000000", "tests", "dag.task"), emitted.append)
    of_task = Captured(on_execution=sender.put, keep=False, sql_text=sql_text, properties=["*"])
    task = TaskLineage(of_task, sender)
    of_task.start()
    with capture_lineage(spark, sql_text=sql_text) as captured:
        found = planted.run(spark, tmp_path)
    task.add_findings([found])
    task.stop()
    records = [record.to_json() for record in captured.records([])]
    assert len(records) > 40
    # Two of the checked writes fail.
    assert captured.problems == [
        "checks without a name have no result: Spark reported no rows that were written"
    ]
    check_sql([record["sql"] for record in records], sql_text)
    tables = [str(fact["probed"].get("dbtable")) for record in records for fact in record["facts"]]
    assert any("from people where" in text for text in tables), "Derby ran no query"
    messages = [str((record["error"] or {}).get("message")) for record in records]
    quoted = any('connect(user="etl", password=' in message for message in messages)
    assert quoted == (sql_text == "full"), "a traceback quotes its lines of source"
    # The user's own calls are logged by py4j as ever: here, only calls of other threads for capture.
    talk = [entry for entry in caplog.records if entry.threadName != threading.current_thread().name]
    talk += [entry for entry in caplog.records if entry.name.startswith("airflow_provider_spark_lineage")]
    events = captured.events(namespace="tests", job="secrets")
    assert "dataQualityAssertions" in json.dumps(events[-1])
    lineage = reported(task.report)
    assert len(lineage.inputs) > 1
    assert "spark_properties" in lineage.run_facets
    variables = lineage.run_facets["environmentVariables"].environmentVariables
    assert {variable.name for variable in variables} == {"WAREHOUSE_URL", "API_TOKEN", "TEAM"}
    assert len(emitted) > 20
    check_assertions(lineage, sql_text)
    assert ("sql" in {name for event in events for name in event["job"]["facets"]}) == (sql_text != "none")
    check(
        {
            **{f"record {record['number']} ({record['name']})": json.dumps(record) for record in records},
            "log": "\n".join(logging.Formatter().format(entry) for entry in talk),
            "text": captured.text(),
            "repr": repr(captured),
            "model": repr(dataclasses.asdict(captured.lineage)),
            "events": json.dumps(events),
            "events of the task": "\n".join(repr(attrs.asdict(event)) for event in emitted),
            "their bytes": "\n".join(map(Serde.to_json, emitted)),
            "operator lineage": repr(attrs.asdict(lineage)),
        },
        sql_text,
    )


@pytest.mark.parametrize("sql_text", ["masked", "none"])
def test_no_planted_secret_is_in_what_the_command_writes(sql_text, tmp_path):
    """`spark-lineage run`, `explain` and `events`: no file that they leave, and nothing that they print."""
    temporary, records = tmp_path / "tmp", tmp_path / "records"
    temporary.mkdir()
    environment = {**os.environ, **planted.ENVIRONMENT, "TMPDIR": str(temporary)}

    if sql_text == "masked":
        environment["AIRFLOW__SPARK_LINEAGE__SQL_TEXT"] = sql_text

    how = {"capture_output": True, "text": True}

    def command(*args):
        words = [Path(sys.executable).with_name("spark-lineage"), *map(str, args)]
        return subprocess.run(words, env=environment, cwd=tmp_path, check=False, **how)

    option = ["--sql-text", sql_text] if sql_text == "none" else []
    ran = command("run", "--records", records, *option, planted.__file__, tmp_path)
    assert ran.returncode == 0, ran.stderr[-2000:]
    files = {path.name: path for path in records.iterdir()}
    written = {
        name: gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        for name, path in files.items()
    }
    assert len(written) > 40
    check_sql([json.loads(text)["sql"] for name, text in written.items() if name.endswith(".gz")], sql_text)
    for args in (["explain"], ["explain", "--each"], ["explain", "--each", "--json"], ["events"]):
        done = command(*args, records)
        assert done.stdout
        written[" ".join(args)] = done.stdout + done.stderr
    # Spark prints the errors of the program by itself.
    lines = ran.stderr.splitlines()
    ours = [line for line in lines if line.startswith("spark-lineage") or "Spark lineage" in line]
    written["run"] = "\n".join(ours)
    assert "records in" in written["run"]
    written["temporary files"] = "\n".join(_left(temporary))
    check(written, sql_text)


OF_SPARK = ("spark-", "blockmgr-", "hsperfdata", "artifacts-", "liblz4", "libzstd", "snappy", "connection")


def _left(folder):
    """Yield names and contents of temporary files that Spark did not make for itself."""
    for path in Path(folder).rglob("*"):
        first = path.relative_to(folder).parts[0]
        if not first.startswith(OF_SPARK):
            yield str(path)
            if path.is_file():
                yield path.read_bytes().decode("latin-1")


def test_an_unknown_setting_keeps_all_text_back(spark, caplog, monkeypatch):
    """A typing error in an option that keeps text private must not publish the text."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__SQL_TEXT", "mask")
    with capture_lineage(spark) as captured:
        spark.sql("select 4711").collect()
    assert {record.sql for record in captured.records([])} == {""}
    (message,) = [entry.getMessage() for entry in caplog.records if "sql_text" in entry.getMessage()]
    assert message.startswith("Spark lineage: sql_text = 'mask' is not full, masked or none; using none.")


MASKED = {
    "select 1, -2.5e3, 10L, 'a''b', \"c\", r'd\\n', X'1F', true, null": (
        "select ?, -?, ?, ?, ?, ?, X?, true, null"
    ),
    "select /*+ repartition(3) */ `my 7` from t2 -- 8\n where `a` > date '2020-01-01'": (
        "select /*+ repartition(?) */ `my 7` from t2   where `a` > date ?"
    ),
    "select interval '1' day + interval 2 hours": "select interval ? day + interval ? hours",
    "set spark.a.b=c d 9": "set spark.a.b = ?",
    "set time zone 'UTC'": "set time ?",
    "set variable v = 5": "set variable v = ?",
    "add jar /tmp/a b.jar": "add jar ?",
    "begin declare a int default 1; set a = 2; select a; end": (
        "begin declare a int default ?; set a = ?; select a; end"
    ),
    "insert into t partition (p = 'x') values (1, 'y')": "insert into t partition (p = ?) values (?, ?)",
    "select 'torn": "",
    "select 1 ¤ 2": "",
}
"""The user's text -> the text that is handed on."""


def test_literals_are_found_by_sparks_own_lexer(spark):
    """Exactly the statement's words and names stay; text that is not SQL to Spark is left out."""
    from py4j.java_gateway import get_field

    from airflow_provider_spark_lineage.spark.capture import jvm

    reader = jvm._new_reader(spark.sparkContext._gateway, spark.sparkContext._jvm, "masked")
    texts = get_field(reader, "texts")
    assert {text: texts.sql(text) for text in MASKED} == MASKED


def tokens(spark, text):
    """Return the names of the tokens that Spark's lexer reads in a text."""
    java = spark.sparkContext._jvm.org
    stream = java.antlr.v4.runtime.CharStreams.fromString(text)
    parser = java.apache.spark.sql.catalyst.parser
    lexer = parser.SqlBaseLexer(parser.UpperCaseCharStream(stream))
    words = parser.SqlBaseLexer.VOCABULARY
    return [words.getSymbolicName(token.getType()) for token in lexer.getAllTokens()]


def test_every_literal_of_sparks_lexer_has_an_example(spark):
    """A form of literal that a later Spark adds is a row of `sql_secrets.LITERALS`."""
    words = spark.sparkContext._jvm.org.apache.spark.sql.catalyst.parser.SqlBaseLexer.VOCABULARY
    kinds = range(1, words.getMaxTokenType() + 1)
    several = {words.getSymbolicName(kind) for kind in kinds if words.getLiteralName(kind) is None}
    assert several <= sql_secrets.LITERALS.keys() | sql_secrets.NOT_LITERALS
    for name, values in sql_secrets.LITERALS.items():
        for value in values:
            read = tokens(spark, value.removeprefix("-"))
            assert name in read or (name not in several and name.startswith("BEGIN_")), value


def test_no_form_of_a_secret_is_in_an_event(spark):
    """Whatever Spark's own parser takes for the value of an option: events and records have `***`."""
    parser = spark._jsparkSession.sessionState().sqlParser()
    taken, of_lexer = [], {value for values in sql_secrets.LITERALS.values() for value in values}
    for number, value in enumerate(sql_secrets.VALUES):
        place = sql_secrets.PLACES[number % len(sql_secrets.PLACES)]
        statement = f"create table secret_{number} using csv {place.format(value)} as select 1 a"
        try:
            parser.parsePlan(statement)
        except Exception:  # noqa: S112  a form of databases, or of a later Spark
            continue
        taken.append((value, statement))
    assert {value for value, _ in taken} >= {
        *(value for value in of_lexer if not value.startswith("$")),
        *sql_secrets.EXPRESSIONS,
    }
    with capture_lineage(spark) as captured:
        for _, statement in taken:
            # Some expressions are refused later.
            planted.attempt(spark.sql, statement)
    statements = [record.sql for record in captured.records([]) if "create table" in record.sql]
    assert len(statements) >= sum(value in of_lexer for value, _ in taken)
    assert all("***" in statement and "as select 1 a" in statement for statement in statements)
    written = json.dumps([record.to_json() for record in captured.records([])])
    written += json.dumps(captured.events(namespace="tests", job="secrets"))
    assert [value for value, _ in taken if value in written] == []
    assert sql_secrets.SECRET not in written
    assert captured.problems == []


LOCATIONS = {
    "InMemoryFileIndex(1 paths)[file:/t/p=x]": "InMemoryFileIndex(1 paths)[file:/t/p=_]",
    "InMemoryFileIndex(1 paths)[file:/t/p=x, .y], z]": "InMemoryFileIndex(1 paths)[file:/t/p=_]",
    "InMemoryFileIndex(1 paths)[file:/t/p,q=x/r]s=y]": "InMemoryFileIndex(1 paths)[file:/t/p,q=_/r]s=_]",
    "InMemoryFileIndex(2 paths)[s3a://b/t, u/p=x, y, s3a://b/p=z]": (
        "InMemoryFileIndex(2 paths)[s3a://b/t, u/p=_, s3a://b/p=_]"
    ),
    "InMemoryFileIndex(9 paths)[file:/t/p=x, file:/t/p=y, ...]": (
        "InMemoryFileIndex(9 paths)[file:/t/p=_, file:/t/p=_, ...]"
    ),
}
"""Spark's text for a scan's paths -> the text that is handed on."""


def test_values_of_partition_folders_are_masked_whatever_characters_they_have(spark):
    """A comma or a bracket does not end a value, and may be part of a folder's name."""
    from py4j.java_gateway import get_field

    from airflow_provider_spark_lineage.spark.capture import jvm

    reader = jvm._new_reader(spark.sparkContext._gateway, spark.sparkContext._jvm, "masked")
    texts = get_field(reader, "texts")
    assert {text: texts.location(text) for text in LOCATIONS} == LOCATIONS
