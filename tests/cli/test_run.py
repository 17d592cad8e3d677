"""`spark-lineage run` in real processes: a script behaves as under `python SCRIPT`, and Spark is recorded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.records.record import (
    SUFFIX,
    RecordError,
    read_records,
    record_paths,
)
from airflow_provider_spark_lineage.spark.records.status import read_notes
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

COMMAND = [sys.executable, "-c", "from airflow_provider_spark_lineage.cli import main; main()"]


def lineage_command(*arguments: object, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        **options,
    )


def script(folder: Path, text: str, name: str = "job.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


# Scripts that never touch Spark: as they behave under Python, so they do here.
SAME = {
    "ends": "print('done')",
    "names": """
        import sys
        print(__name__, __file__, sys.argv, sys.path[0], __package__, __spec__, __doc__)
        print(sys.modules['__main__'].__dict__ is globals())
        """,
    "docstring and future": '''
        """What the script does."""
        from __future__ import annotations
        def f(x: Undefined): ...
        print(__doc__, f.__annotations__)
        ''',
    "annotations are the script's own": "def f(x: int): ...\nprint(f.__annotations__)",
    "code": "import sys; sys.exit(3)",
    "code above 255": "import sys; sys.exit(259)",
    "no code": "import sys; sys.exit()",
    "text": "import sys; print('out'); sys.exit('text')",
    "object": "import sys; sys.exit(('a', 1))",
    "sibling": "import sibling; print(sibling.VALUE)",
    "standard input": "import sys; print(sys.stdin.read().upper())",
    "chdir": "import os; os.chdir('/'); print(os.getcwd())",
    "exception": """
        def inner():
            raise ValueError('no such customer')
        def outer():
            inner()
        outer()
        """,
    "chained exception": """
        try:
            {}['a']
        except KeyError as error:
            raise RuntimeError('lost') from error
        """,
    "hook of its own": """
        import sys
        sys.excepthook = lambda kind, error, trace: print('mine', error, file=sys.stderr)
        1 / 0
        """,
    "syntax error": "print('never')\nif",
    "pool and thread": """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        first, second = threading.Event(), threading.Event()
        ThreadPoolExecutor(2).submit(lambda: (first.wait(), print('pool'), second.set()))
        threading.Thread(target=lambda: (second.wait(), print('thread'))).start()
        print('main')
        first.set()
        """,
    "exit handler": """
        import atexit
        VALUE = 3
        atexit.register(lambda: print('exit handler', VALUE))
        """,
    "pickles its own classes": """
        import pickle
        class Customer: pass
        print(type(pickle.loads(pickle.dumps(Customer()))) is Customer)
        """,
    "child processes": """
        import multiprocessing
        def double(x): return x * 2
        if __name__ == '__main__':
            with multiprocessing.get_context('spawn').Pool(1) as pool:
                print(pool.map(double, [1, 2]))
        """,
}


@pytest.mark.parametrize("case", SAME)
def test_a_script_behaves_as_under_python(tmp_path, case):
    """Exit code, standard output and error, arguments, names and tracebacks match `python SCRIPT`."""
    folder = tmp_path / "my jobs"
    folder.mkdir()
    text = textwrap.dedent(SAME[case])
    (folder / "the job.py").write_text(text)
    (folder / "sibling.py").write_text("VALUE = 'from beside'")
    arguments = ["my jobs/the job.py", "--records", "x", "--", "-h", "a b", ""]
    python = subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, input="in", check=False
    )
    ours = lineage_command("run", "--records", "kept records", *arguments, cwd=tmp_path, input="in")
    assert ours.stdout == python.stdout
    assert ours.returncode == python.returncode
    lines = ours.stderr.splitlines()
    last = lines.pop()
    assert lines == python.stderr.splitlines()
    if python.returncode:
        assert last == (
            "spark-lineage: the script failed before it executed anything on Spark, so nothing was recorded"
        )
        assert not (tmp_path / "kept records").exists()
        return
    assert last == "spark-lineage: 0 records in kept records: the script executed nothing on Spark"
    about = json.loads((tmp_path / "kept records" / "spark-lineage-run.json").read_text())
    assert about["job"] == "the job"
    assert about["exit_code"] == 0


def test_other_files_in_the_folder_of_a_failed_script_stay(tmp_path):
    """Only a folder that holds nothing else is removed."""
    script(tmp_path, "raise SystemExit(3)")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "notes.txt").write_text("mine")
    done = lineage_command("run", "--records", "kept", "job.py", cwd=tmp_path)
    assert done.returncode == 3
    assert (tmp_path / "kept" / "notes.txt").read_text() == "mine"


def test_a_missing_script_is_reported(tmp_path):
    """One sentence and code 2; no folder is made for records."""
    done = lineage_command("run", "nowhere.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "spark-lineage: nowhere.py does not exist: give the path of a PySpark script\n"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_hold_records_is_reported(tmp_path):
    """A file where the folder should be: one sentence, code 2, and the script is not started."""
    script(tmp_path, "print('started')")
    (tmp_path / "taken").write_text("x")
    done = lineage_command("run", "--records", "taken", "job.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "spark-lineage: taken cannot be used for records: File exists\n"


def test_connect_without_a_session_costs_nothing(tmp_path):
    """A script that does not use the server of `SPARK_REMOTE` runs as ever, without its client."""
    script(tmp_path, "import sys; print('grpc' in sys.modules)")
    environment = {**os.environ, "SPARK_REMOTE": "sc://localhost:1"}
    done = lineage_command("run", "job.py", cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout) == (0, "False\n")
    assert "the script executed nothing on Spark" in done.stderr


JOB = """
    import os, sys, time
    from pyspark.sql import SparkSession, functions as F

    spark = (
        SparkSession.builder.master("local[1]").appName("night job")
        .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "1").config("spark.log.level", "OFF")
        .getOrCreate()
    )
    folder, then = sys.argv[1:]
    os.chdir("/")
    spark.createDataFrame([("a", 1.0), ("a", 2.0)], ["customer", "amount"]).write.parquet(folder + "/orders")
    orders = spark.read.parquet(folder + "/orders")
    orders.groupBy("customer").agg(F.sum("amount").alias("total")).write.parquet(folder + "/totals")
    print("total", orders.count())
    if then == "fail":
        spark.read.parquet(folder + "/orders").selectExpr("raise_error('no such order')").collect()
    if then == "wait":
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(30000)
        print("waiting", flush=True)
        time.sleep(120)
    """


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A script that ran Spark to its end, in a folder that held the records of another run."""
    folder = tmp_path_factory.mktemp("finished")
    script(folder, JOB)
    (folder / "records").mkdir()
    (folder / "records" / "old-000001.record.json.gz").write_bytes(b"old")
    (folder / "records" / "old.driver.json").write_bytes(b"old")
    (folder / "records" / "notes.txt").write_text("mine")
    return folder, lineage_command("run", "--records", "records", "job.py", folder, "", cwd=folder)


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """A script that Spark failed."""
    folder = tmp_path_factory.mktemp("failed")
    script(folder, JOB)
    return folder, lineage_command("run", "job.py", folder, "fail", cwd=folder)


@pytest.mark.spark
def test_a_spark_script_is_recorded(finished):
    """Records lie where they were asked for, those of earlier runs are gone, other files are not."""
    folder, done = finished
    assert done.returncode == 0, done.stderr
    assert done.stdout == "total 2\n"
    assert done.stderr.endswith("spark-lineage: 3 records in records: see `spark-lineage explain records`\n")
    assert "This has no impact" not in done.stderr
    assert len(list(read_records(record_paths(folder / "records"), []))) == 3
    (note,) = read_notes(folder / "records", [])
    others = {path.name for path in (folder / "records").iterdir() if "record." not in path.name}
    assert others == {"notes.txt", "spark-lineage-run.json", note.encode()[0]}


@pytest.mark.spark
def test_explain_shows_the_run(finished):
    """The run's reads and writes, one of its columns, and every execution by itself."""
    folder, _ = finished
    whole = lineage_command("explain", "records", cwd=folder)
    assert (whole.returncode, whole.stderr) == (0, "")
    assert f"file {folder}/totals" in whole.stdout
    column = lineage_command("explain", "records", "--column", "total", cwd=folder)
    assert column.returncode == 0
    assert "aggregation" in column.stdout
    assert len(column.stdout) < len(whole.stdout)
    wrong = lineage_command("explain", "records", "--column", "totl", cwd=folder)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "spark-lineage: no output has a column `totl`: did you mean `total`?\n"
    each = lineage_command("explain", "records", "--each", cwd=folder)
    assert each.stdout.endswith(whole.stdout)
    assert each.stdout.count("\nexecution ") + each.stdout.startswith("execution ") == 3


@pytest.mark.spark
def test_explain_json_is_one_object(finished):
    """The same lineage for programs."""
    folder, _ = finished
    whole = json.loads(lineage_command("explain", "records", "--json", cwd=folder).stdout)
    assert {"inputs", "outputs"} <= set(whole)
    each = json.loads(lineage_command("explain", "records", "--json", "--each", cwd=folder).stdout)
    assert [execution["number"] for execution in each.pop("executions")] == [1, 2, 3]
    assert each == whole


@pytest.mark.spark
def test_events_are_valid_and_those_of_the_library(finished):
    """Every event follows its schemas; the library gives the same for the same records."""
    folder, _ = finished
    done = lineage_command("events", "records", "--namespace", "tests", "--job", "night", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [problems_of(event) for event in events] == [[]] * len(events)
    assert events == RecordedFolder(folder / "records").events(namespace="tests", job="night", failed=False)
    facets = ("spark_applicationDetails", "spark_properties", "sparkLineage_resources")
    assert all(facet in events[-1]["run"]["facets"] for facet in facets)
    runs = [(event["eventType"], event["job"]["name"]) for event in events]
    assert ("START", "night") in runs
    assert ("COMPLETE", "night") in runs
    assert {event["job"]["namespace"] for event in events} == {"tests"}
    again = lineage_command("events", "records", cwd=folder)
    assert {event["job"]["name"].split(".")[0] for event in map(json.loads, again.stdout.splitlines())} == {
        "job"
    }


@pytest.mark.spark
def test_a_failed_script_keeps_its_traceback_and_its_records(failed):
    """Code 1, Python's traceback without our frames, the failure in lineage and events."""
    folder, done = failed
    assert done.returncode == 1
    assert done.stdout == "total 2\n"
    trace = done.stderr[done.stderr.index("Traceback") :]
    assert f'File "{folder}/job.py"' in trace.splitlines()[1]
    assert "airflow_provider_spark_lineage" not in trace
    explained = lineage_command("explain", "spark-lineage-records", cwd=folder)
    assert explained.returncode == 0
    assert "no such order" in explained.stdout
    events = [
        json.loads(line)
        for line in lineage_command("events", "spark-lineage-records", cwd=folder).stdout.splitlines()
    ]
    assert [problems_of(event) for event in events] == [[]] * len(events)
    (end,) = (e for e in events if e["job"]["name"] == "job" and e["eventType"] != "START")
    assert end["eventType"] == "FAIL"


@pytest.mark.spark
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_records_survive_whatever_ends_the_script(tmp_path, ending):
    """Ctrl-C is Python's own, with its traceback and code 130; a killed driver leaves its records."""
    script(tmp_path, JOB)
    running = subprocess.Popen(
        [*COMMAND, "run", "job.py", str(tmp_path), "wait"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in running.stdout:
        if line == "waiting\n":
            break
    # Spark's bus is behind the script, and so are the records.
    deadline = time.monotonic() + 300
    while len(list(tmp_path.glob(f"spark-lineage-records/*{SUFFIX}"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(ending)
    _, stderr = running.communicate(timeout=300)
    if ending == signal.SIGINT:
        assert running.returncode == 130
        assert "KeyboardInterrupt" in stderr
        assert "airflow_provider_spark_lineage" not in stderr
    assert len(list(read_records(record_paths(tmp_path / "spark-lineage-records"), []))) == 3
    explained = lineage_command("explain", "spark-lineage-records", cwd=tmp_path)
    assert explained.returncode == 0
    assert "totals" in explained.stdout


BROKEN = ["truncated", "foreign", "version", "not gzip"]


@pytest.mark.spark
@pytest.mark.parametrize("command", ["explain", "events"])
def test_bad_records_are_reported_and_the_others_used(finished, tmp_path, command):
    """A sentence for each bad file with its name and cause, code 2, and everything else as ever."""
    import gzip
    import shutil

    folder = tmp_path / "records"
    shutil.copytree(finished[0] / "records", folder)
    whole = lineage_command(command, "records", cwd=tmp_path).stdout
    good = record_paths(folder)[0].read_bytes()
    content = {
        "truncated": good[: len(good) // 2],
        "foreign": gzip.compress(b'{"format": "other"}'),
        "version": gzip.compress(gzip.decompress(good).replace(b'"version":1', b'"version":99')),
        "not gzip": b"x",
    }
    for case in BROKEN:
        (folder / f"zz {case}-000001.record.json.gz").write_bytes(content[case])
    done = lineage_command(command, "records", cwd=tmp_path)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == len(BROKEN)
    for case in BROKEN:
        (sentence,) = (line for line in lines if f"zz {case}" in line)
        assert sentence.startswith("spark-lineage: ")
    assert "Traceback" not in done.stderr
    assert all(line in done.stdout for line in whole.splitlines() if line.startswith(("reads", "writes")))
    assert len(done.stdout.splitlines()) >= len(whole.splitlines())


@pytest.mark.parametrize("command", ["explain", "events"])
@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("nowhere", "nowhere does not exist: give a folder written by `spark-lineage run`"),
        ("empty", "empty has no records: no Spark execution was captured there"),
        ("bad", "is truncated or damaged: it is empty"),
    ],
)
def test_a_folder_without_usable_records_is_refused(tmp_path, command, place, sentence):
    """One sentence with folder and cause, code 2, nothing on standard output, no traceback."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a-000001.record.json.gz").write_bytes(b"")
    done = lineage_command(command, place, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("spark-lineage: ")
    assert sentence in line


def test_the_library_refuses_a_folder_without_records_in_the_same_words(tmp_path):
    """Code that reads a folder gets the sentence that the command prints."""
    from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

    with pytest.raises(RecordError, match="has no records"):
        RecordedFolder(tmp_path).run()
