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
    from airflow_provider_spark_lineage.capture.arrival import Arrival
    from airflow_provider_spark_lineage.captured import Captured

    captured = Captured()
    begun = []
    def begin():
        begun.append(1)
        captured.start()
    arrival = Arrival(begin)

    def ends():
        arrival.disarm()
        captured.finish()
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
"""What a task before this one did, which is not recorded."""

USES = "session().range(3).collect()\nsession().range(4).collect()\nsession().stop()\n"


@pytest.mark.parametrize(
    "parts",
    [
        ("arrival.arm()\n", CLASSIC, USES),
        (CLASSIC, "arrival.arm()\n", USES),
        (CLASSIC, BEFORE, "arrival.arm()\n", USES),
    ],
    ids=["before the import", "before the session", "after the session"],
)
def test_a_classic_session_is_captured_from_its_first_query_on(parts):
    """And to its end: the context stops inside the function, before anyone asks for the lineage."""
    assert python(WAIT, *parts, "ends()\n") == "1 2 []"


@pytest.mark.parametrize(
    "parts",
    [
        ("arrival.arm()\n", REMOTE, USES),
        (REMOTE, "arrival.arm()\n", USES),
        (REMOTE, BEFORE, "arrival.arm()\n", USES),
    ],
    ids=["before the import", "before the session", "after the session"],
)
def test_a_session_of_spark_connect_is_captured_as_well(url, parts):
    """It has no context in this process."""
    assert python(WAIT, *parts, "ends()\n", url=url) == "1 2 []"


def test_importing_pyspark_begins_nothing():
    """Functions import types; capture would cost them what it costs a session."""
    assert python(WAIT, "arrival.arm()\n", CLASSIC, REMOTE, "ends()\n") == "0 0 []"
