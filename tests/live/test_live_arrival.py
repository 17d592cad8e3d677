"""Capture that begins with the first session of a process has all that the session does, of either kind."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from servers.connect import connect

pytestmark = pytest.mark.spark

WAIT = """
    import sys
    from airflow_provider_spark_lineage.spark.capture.arrival import Arrival
    from airflow_provider_spark_lineage.spark.runs.captured import Captured

    captured = Captured()
    begun = []
    def begin():
        begun.append(1)
        captured.start()
    arrival = Arrival(begin)

    def ends():
        arrival.disarm()
        captured.stop()
        print(len(begun), len([*captured.records([])]), captured.problems)
    """
CLASSIC = """
    from pyspark.sql import SparkSession
    def session():
        return SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    """
REMOTE = """
    from pyspark.sql.connect.session import SparkSession
    def session():
        return SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    """


def python(*parts: str, url: str = "") -> str:
    program = "".join(textwrap.dedent(part) for part in parts)
    done = subprocess.run(
        [sys.executable, "-c", program, url], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("connect")) as url:
        yield url


BEFORE = "session().range(3).collect()\n"
"""Work of an earlier task, which is not recorded."""

USES = "session().range(3).collect()\nsession().range(4).collect()\nsession().stop()\n"


@pytest.mark.parametrize("kind", [CLASSIC, REMOTE], ids=["classic", "connect"])
@pytest.mark.parametrize(
    "program",
    [
        lambda kind: ("arrival.arm()\n", kind, USES),
        lambda kind: (kind, "arrival.arm()\n", USES),
        lambda kind: (kind, BEFORE, "arrival.arm()\n", USES),
    ],
    ids=["before the import", "before the session", "after the session"],
)
def test_a_session_is_captured_from_its_first_query_on(url, program, kind):
    """And to its end: the session stops inside the function, before anyone asks for the lineage."""
    assert python(WAIT, *program(kind), "ends()\n", url=url) == "1 2 []"


def test_importing_pyspark_begins_nothing():
    """Functions import types of pyspark; starting capture for that would cost them as much as a session."""
    assert python(WAIT, "arrival.arm()\n", CLASSIC, REMOTE, "ends()\n") == "0 0 []"
