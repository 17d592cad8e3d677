"""Folder of Spark's pip package: its own scripts do not find it if the path has a space."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def spark_home() -> dict[str, str]:
    """Return environment variables that make `spark-submit` and `spark-sql` use this interpreter."""
    import pyspark

    home = Path(pyspark.__file__).parent
    return {
        "SPARK_HOME": str(home),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
