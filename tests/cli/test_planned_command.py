"""`spark-lineage planned`: the readable lineage of a text, and one sentence for any other file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from airflow_provider_spark_lineage.cli import main

PLANNED = "gap     text   read from the text of the program; not what ran\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["planned", *map(str, arguments)])


def test_script_with_its_arguments(tmp_path):
    """The arguments behind the script are the script's own, options as well."""
    script = tmp_path / "app.py"
    script.write_text("import sys\nspark.read.parquet(sys.argv[1]).write.parquet(sys.argv[3])\n")
    result = run("--conf", "spark.hadoop.fs.defaultFS=file:///", script, "/in", "--json", "s3://b/out")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"reads   file /in\n\nwrites  s3://b out   create\n\n{PLANNED}"


def test_sql_with_variables(tmp_path):
    """Variables and settings are options."""
    file = tmp_path / "query.SQL"
    file.write_text("insert into parquet.`s3://b/${x}` select * from db.t")
    result = run("--var", "x=out", "--conf", "spark.sql.warehouse.dir=s3://b/w", "--json", file)
    document = json.loads(result.stdout)
    assert [dataset["name"] for dataset in document["outputs"]] == ["out"]
    assert [(dataset["namespace"], dataset["name"]) for dataset in document["inputs"]] == [
        ("s3://b/w", "db.t")
    ]


def test_modules_of_a_script(tmp_path):
    """Modules beside the script are read without an option, others by `--py-files`."""
    script = tmp_path / "jobs" / "app.py"
    (tmp_path / "given").mkdir()
    script.parent.mkdir()
    script.write_text("import beside, given\nbeside.read('s3://b/in')\ngiven.read('s3://b/given')")
    for path in (script.with_name("beside.py"), tmp_path / "given" / "given.py"):
        path.write_text("def read(path): spark.read.csv(path)")
    assert run("--py-files", tmp_path / "given", script).stdout.startswith(
        "reads   s3://b given\nreads   s3://b in\n"
    )
    alone = run(script).stdout
    assert "s3://b given" not in alone
    assert "gap     line 3   the reads and writes of `given.read` are not followed" in alone


def test_relative_paths_are_below_the_folder(tmp_path):
    """A driver resolves them in its working directory: here, unless an option names another."""
    script = tmp_path / "app.py"
    script.write_text("spark.read.parquet('in')")
    assert f"file {Path().absolute()}/in\n" in run(script).stdout
    assert "file /elsewhere/in\n" in run("--directory", "/elsewhere", script).stdout


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("app.py", b"\xef\xbb\xbfspark.read.parquet('/caf\xc3\xa9')"),
        ("app.py", b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\nspark.read.parquet('/caf\xe9')"),
        ("query.sql", b"\xef\xbb\xbfselect * from parquet.`/caf\xc3\xa9`"),
    ],
)
def test_encodings(tmp_path, name, content):
    """A script is read in the encoding that it names, as Python does, and UTF-8's mark is skipped."""
    file = tmp_path / name
    file.write_bytes(content)
    assert run(file).stdout.startswith("reads   file /caf\u00e9\n")


def test_outputs_without_columns_have_no_line_for_them(tmp_path):
    """A text names datasets, not columns: two of them are two headlines."""
    file = tmp_path / "query.sql"
    file.write_text("create table a.t (x int); insert into a.u select 1")
    lines = run("--conf", "spark.sql.warehouse.dir=s3://b/w", file).stdout.splitlines()
    assert lines[:4] == ["writes  s3://b/w a.t   create", "", "writes  s3://b/w a.u   append", ""]


@pytest.mark.parametrize(("name", "content"), [("a.py", ""), ("a.sql", "-- later"), ("a.sql", "select 1")])
def test_a_text_that_names_no_dataset_says_so(tmp_path, name, content):
    """An empty answer would look like a mistake."""
    (tmp_path / name).write_text(content)
    result = run(tmp_path / name)
    assert (result.exit_code, result.stdout) == (0, f"reads nothing, writes nothing\n\n{PLANNED}")


def test_a_function_that_nothing_calls_has_a_gap(tmp_path):
    """Another module may call it, so its reads and writes count; a gap says that it may never run."""
    file = tmp_path / "jobs.py"
    file.write_text("def load():\n    spark.read.parquet('s3://b/in')\n\ndef other():\n    return 1\n")
    assert run(file).stdout == (
        f"reads   s3://b in\n\n{PLANNED}"
        "gap     line 1   the script does not call `load`: it may or may not run\n"
    )


def test_a_text_that_no_parser_accepts_is_a_mistake(tmp_path):
    """Readable statements are printed; one that Spark may know and our parsers do not is only a gap."""
    file = tmp_path / "query.sql"
    file.write_text("selec 1;\nselect * from db.t;\ncall system.clean('db.t');\nnot ((sql;\nset a = b")
    result = run("--conf", "spark.sql.warehouse.dir=s3://b/w", file)
    assert result.exit_code == 2
    assert result.stdout.startswith("reads   s3://b/w db.t\n")
    messages = [f"spark-lineage: {file} cannot be parsed as Spark SQL: line {line}" for line in (1, 4)]
    assert result.stderr.splitlines() == messages


@pytest.mark.parametrize(
    ("name", "content", "more", "sentence"),
    [
        ("app.py", b"x = 1\nspark.read(\n", (), "line 2: the script is not Python: '(' was never closed"),
        ("app.py", b"\xff\xfe", (), "is not UTF-8: byte 0 cannot be decoded; save it as UTF-8"),
        ("app.py", b"x\0", (), "is not Python"),
        ("app.sh", b"", (), "give a PySpark script (.py) or a file of Spark SQL (.sql, .hql)"),
        ("missing.py", None, (), "does not exist: give the path of a script or SQL file"),
        ("folder.py", "folder", (), "cannot be read: Is a directory"),
        ("query.sql", b"", ("x",), "takes no arguments: put options such as --var before the file"),
    ],
)
def test_bad_input(tmp_path, name, content, more, sentence):
    """One sentence, on standard error, and code 2."""
    file = tmp_path / name
    if content == "folder":
        file.mkdir()
    elif content is not None:
        file.write_bytes(content)
    result = run(file, *more)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"spark-lineage: {file}")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_bad_option(tmp_path):
    """A pair without its value is a mistake."""
    file = tmp_path / "query.sql"
    file.write_text("select 1")
    result = run("--var", "x", file)
    assert (result.exit_code, result.stderr) == (2, "spark-lineage: --var x: give it as name=value\n")


def test_the_former_name_of_the_command_still_works(tmp_path: Path) -> None:
    """Scripts call `spark-lineage static`; `--help` lists the command under one name."""
    file = tmp_path / "a.sql"
    file.write_text("insert into parquet.`/out` select * from parquet.`/in`")
    texts = [CliRunner().invoke(main, [name, str(file)]).output for name in ("static", "planned")]
    assert texts[0] == texts[1]
    assert "static" not in CliRunner().invoke(main, ["--help"]).output
