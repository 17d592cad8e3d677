"""README's first event: its lines, in an empty folder, print what README shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SECTION = README.partition("## A first event on your machine")[2].partition("\n## ")[0]
(PROGRAM,) = re.findall(r"```bash\n(.*?)```", SECTION, re.DOTALL)
(SHOWN,) = re.findall(r"```text\n(.*?)```", SECTION, re.DOTALL)


def test_the_lines_print_the_lineage_that_the_page_shows(tmp_path: Path) -> None:
    """Nobody has to edit them, and they write nothing outside of the folder."""
    foreign = ("AIRFLOW", "OPENLINEAGE", "SPARK_")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", PROGRAM],
        cwd=tmp_path,
        env={**variables, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    shown = SHOWN.replace("/home/me/", f"{tmp_path}/")
    # The table of inputs is aligned by its longest row.
    assert re.sub(" +", " ", shown).strip() in re.sub(" +", " ", done.stdout)
    assert not {"AIRFLOW_HOME", "AIRFLOW__CORE__DAGS_FOLDER"} & set(
        re.findall("^export ([A-Z_]+)", PROGRAM, re.M)
    )
    events = [json.loads(line) for line in (tmp_path / "first/events.jsonl").read_text().splitlines()]
    assert [(event["eventType"], event["job"]["name"]) for event in events][-2:] == [
        ("COMPLETE", "shop.totals"),
        ("COMPLETE", "shop"),
    ]
    (removed,) = re.findall("`rm -r ([^`]+)`", SECTION)
    left = {path.name for path in tmp_path.iterdir()} - set(removed.split())
    assert not {
        name for name in left if not name.startswith(("hsperf", "tmp", "spark-", "blockmgr", "liblz4"))
    }
