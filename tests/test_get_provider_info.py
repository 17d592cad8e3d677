"""The package's description for Airflow: it is valid, and Airflow's own manager takes it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import jsonschema
import pytest

from airflow_provider_spark_lineage.get_provider_info import get_provider_info

ASK_AIRFLOW = """
import json
from airflow.providers_manager import ProvidersManager
from airflow.sdk import task

PACKAGE = "airflow-provider-spark-lineage"
manager = ProvidersManager()
print("ANSWER" + json.dumps({
    "version": manager.providers[PACKAGE].version,
    "decorator": task.pyspark_lineage.__name__,
    "plugins": [[plugin.name, plugin.plugin_class] for plugin in manager.plugins],
    "options": sorted(dict(manager.provider_configs)[PACKAGE]["spark_lineage"]["options"]),
}))
"""


def _airflow_folder() -> Path:
    # `find_spec` of a top-level package does not import it, and Airflow takes seconds to import.
    spec = importlib.util.find_spec("airflow")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def test_provider_info_follows_airflows_schema():
    """Airflow drops a provider whose description does not validate, and with it decorator and options."""
    schema = json.loads((_airflow_folder() / "provider_info.schema.json").read_text())
    jsonschema.validate(get_provider_info(), schema)


def test_options_follow_the_schema_to_the_letter():
    """The schema misspells `additional_properties`, so a misspelt key of an option would pass it."""
    schema = json.loads((_airflow_folder() / "provider_info.schema.json").read_text())
    keys = set(schema["definitions"]["option"]["properties"])
    for name, option in get_provider_info()["config"]["spark_lineage"]["options"].items():
        assert set(option) <= keys, name
        assert option["description"].endswith(".\n"), name


@pytest.mark.airflow
def test_airflow_lists_the_provider_and_its_decorator(tmp_path):
    """Real Airflow finds the entry point, resolves the decorator's class and knows the options."""
    done = subprocess.run(
        [sys.executable, "-c", ASK_AIRFLOW],
        env={**os.environ, "AIRFLOW_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout.rpartition("ANSWER")[2])
    assert answer["version"] == version("airflow-provider-spark-lineage")
    assert answer["decorator"] == "pyspark_lineage_task"
    assert answer["options"] == sorted(get_provider_info()["config"]["spark_lineage"]["options"])
    assert [name for name, _ in answer["plugins"] if name == "spark_lineage"] == []


def test_the_plugin_is_registered_once():
    """Airflow loads it by its entry point, and would refuse it where the provider names it as well."""
    (plugin,) = [entry for entry in entry_points(group="airflow.plugins") if entry.name == "spark_lineage"]
    assert plugin.value == "airflow_provider_spark_lineage.airflow.plugins.auto_capture:SparkLineagePlugin"
    assert "plugins" not in get_provider_info()
