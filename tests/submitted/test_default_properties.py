"""Property files that `spark-submit` reads: ours must not replace a user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_provider_spark_lineage.airflow.submitted.properties import default_properties

TEXT = """
# a comment
spark.submit.pyFiles    /jobs/a.zip,/jobs/b.zip
spark.eventLog.enabled=true
spark.eventLog.dir : hdfs://logs/spark
! spark.not = this
broken
"""
EXPECTED = {
    "spark.submit.pyFiles": "/jobs/a.zip,/jobs/b.zip",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.dir": "hdfs://logs/spark",
}


def installed(home: Path) -> Path:
    """Make a Spark with a configuration; return its command."""
    for name in ("bin", "conf"):
        (home / name).mkdir(parents=True)
    (home / "conf" / "spark-defaults.conf").write_text(TEXT)
    command = home / "bin" / "spark-submit"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    return command


@pytest.mark.parametrize("way", ["properties file", "SPARK_CONF_DIR", "SPARK_HOME", "PATH", "link on PATH"])
def test_a_users_defaults_are_found_in_each_way_that_spark_finds_them(tmp_path: Path, way: str):
    """Spark needs none of the variables: its command knows where it is."""
    home = tmp_path / "spark"
    command = installed(home)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spark-submit").symlink_to(command)
    environment = {
        "properties file": {},
        "SPARK_CONF_DIR": {"SPARK_CONF_DIR": str(home / "conf")},
        "SPARK_HOME": {"SPARK_HOME": str(home), "PATH": ""},
        "PATH": {"PATH": str(home / "bin")},
        "link on PATH": {"PATH": str(tmp_path / "bin")},
    }[way]
    file = str(home / "conf" / "spark-defaults.conf") if way == "properties file" else None
    assert default_properties("spark-submit", file, environment) == EXPECTED


def test_an_installed_pyspark_has_its_settings_in_its_package(tmp_path: Path):
    """Its command is in `bin` of Python, which has no `conf`."""
    command = installed(tmp_path / "spark")
    package = tmp_path / "venv" / "lib" / "python3.11" / "site-packages" / "pyspark"
    package.mkdir(parents=True)
    (tmp_path / "venv" / "bin").mkdir()
    (tmp_path / "spark" / "conf").rename(package / "conf")
    command.rename(tmp_path / "venv" / "bin" / "spark-submit")
    assert default_properties("spark-submit", None, {"PATH": str(tmp_path / "venv" / "bin")}) == EXPECTED


def test_a_properties_file_replaces_the_defaults(tmp_path: Path):
    """As for `spark-submit --properties-file`."""
    command = installed(tmp_path / "spark")
    own = tmp_path / "own.conf"
    own.write_text("spark.app.name x\n")
    properties = default_properties("spark-submit", str(own), {"PATH": str(command.parent)})
    assert properties == {"spark.app.name": "x"}
