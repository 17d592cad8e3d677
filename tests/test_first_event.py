"""README's first event: its lines, in an empty folder, print the event that README shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
SECTION = README.partition("## A first event on your machine")[2].partition("\n## ")[0]
(PROGRAM,) = re.findall(r"```bash\n(.*?)```", SECTION, re.DOTALL)


def test_the_lines_print_the_complete_event_of_the_task(tmp_path: Path) -> None:
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
    event = json.loads(done.stdout[done.stdout.rindex("\n{\n") :])
    assert (event["eventType"], event["job"]["name"]) == ("COMPLETE", "shop.totals")
    (output,) = event["outputs"]
    assert output["name"] == f"{tmp_path}/first/totals"
    assert output["facets"]["columnLineage"]["fields"].keys() == {"country", "sum(amount)"}
    assert [dataset["name"] for dataset in event["inputs"]] == [f"{tmp_path}/first/orders.csv"]
