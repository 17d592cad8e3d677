"""A warehouse that a standalone cluster of two workers loads."""

from __future__ import annotations

import pytest
from servers.standalone import standalone_cluster
from warehouse.histories import history
from warehouse.test_command import load_in_own_process
from warehouse.test_load import assert_same, written

pytestmark = pytest.mark.spark


def test_a_cluster_loads_the_tables_that_one_machine_loads(tmp_path):
    """From two files of events: each worker reads and writes files of its own."""
    events = history(0, days=2, jobs=3)
    for number in range(2):
        written(tmp_path / "events" / f"{number}.jsonl", events[number::2])
    with standalone_cluster() as cluster:
        masters = {"one": "local[2]", "two": cluster.master}
        for name, master in masters.items():
            arguments = ["--events", str(tmp_path / "events"), "--warehouse", str(tmp_path / name)]
            done = load_in_own_process(
                arguments,
                tmp_path,
                f"spark.master {master}\nspark.driver.host 127.0.0.1\nspark.executor.memory 512m\n"
                "spark.sql.shuffle.partitions 2\n",
            )
            assert done.returncode == 0, done.stderr
    assert_same(tmp_path / "one", tmp_path / "two")
