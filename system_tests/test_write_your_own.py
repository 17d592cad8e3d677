"""`docs/write-your-own.md` is run as it is: its DAG has the events that it shows."""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.testing import DagRun

PAGE = Path(__file__).parents[1] / "docs" / "write-your-own.md"
FILE = re.compile(r"^`(\w+\.\w+)`[^`]*:\n\n```(?:python|yaml)\n(.*?)```", re.DOTALL | re.MULTILINE)
INI = re.compile(r"```ini\n(.*?)```", re.DOTALL)


def settings_of(text: str) -> dict[str, str]:
    """Return the options that the page sets, as environment variables."""
    options = configparser.ConfigParser()
    options.read_string("\n".join(INI.findall(text)))
    return {
        f"AIRFLOW__{section}__{option}".upper(): value
        for section in options.sections()
        for option, value in options[section].items()
    }


def test_the_page_is_true(
    tmp_path: Path, run_dag: Callable[..., DagRun], assert_lineage: Callable[..., Any]
) -> None:
    """Copying an example of the page gives the page's result."""
    text = PAGE.read_text()
    files = dict(FILE.findall(text))
    assert list(files) == [
        *("company_operators.py", "platform_operators.py", "platform_lineage.py"),
        *("script.py", "own.py", "own.yaml"),
    ]
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    data = tmp_path / ("long-" * 20)  # Spark cuts paths in plans, unless it is told not to.
    (data / "logs").mkdir(parents=True)
    orders = [("a", 5), ("a", 15), ("b", 25)]
    lines = [json.dumps({"customer": customer, "amount": amount}) for customer, amount in orders]
    (data / "orders.json").write_text("\n".join(lines))
    run = run_dag(tmp_path / "own.py", settings={"DATA": str(data), **settings_of(text)})
    assert_lineage(tmp_path / "own.yaml", run, variables={"DATA": str(data)}, scope="keys")
