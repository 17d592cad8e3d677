"""The example DAGs, their settings, and the variable for the place of their data in expected files."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from urllib.parse import quote

CHECKOUT = Path(__file__).resolve().parent.parent
DAGS = CHECKOUT / "dags"
EXPECTED = Path(__file__).parent / "expected"


def settings_of(data: Path, home: Path) -> dict[str, str | None]:
    """Environment variables of a run on data under `data`; Spark and the JVM write nothing outside `home`."""
    temporary = home / "tmp"
    pyspark = importlib.util.find_spec("pyspark")
    assert pyspark
    assert pyspark.origin
    return {
        "AIRFLOW__OPENLINEAGE__NAMESPACE": "nyc",
        "AIRFLOW_CONN_SPARK_CLUSTER": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "NYCFLIGHTS_HOME": str(data),
        "SPARK_CONF_DIR": None,
        # The scripts of the pip package do not find it where the path has a space.
        "SPARK_HOME": str(Path(pyspark.origin).parent),
        "SPARK_LOCAL_DIRS": str(temporary),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_TOOL_OPTIONS": f'"-Djava.io.tmpdir={temporary}" -XX:-UsePerfData '
        + os.environ.get("JAVA_TOOL_OPTIONS", ""),
    }


def variables_of(data: Path) -> dict[str, str]:
    """The place of the data as a path, and as a part of a URI."""
    return {"DATA": str(data), "DATA_URI": quote(str(data))}
