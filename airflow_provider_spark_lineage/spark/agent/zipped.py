"""Builds the zip of the agent for `spark-submit --py-files`.

Its package has another name than this one, so that a driver may have this one installed, in any version.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import airflow_provider_spark_lineage
from airflow_provider_spark_lineage.spark.records.record import write_file

PACKAGE = "spark_lineage_agent"

_OURS = "airflow_provider_spark_lineage"
_MODULES = ("guard.py",)
_PACKAGES = ("agent", "capture", "gaps", "records", "sources")
_STAYS = ("agent/zipped.py", "agent/sitecustomize.py")
_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of every file in the zip, so that equal sources give an equal zip."""


def write_agent(path: Path) -> Path:
    """Write the agent's zip, unless it exists; return its path. Readers never see an incomplete file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _files():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    content = buffer.getvalue()
    if not path.is_file() or path.read_bytes() != content:
        os.makedirs(path.parent, exist_ok=True)
        write_file(path, content)
    return path


def _files() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file in the zip."""
    root = Path(__file__).parents[1]
    yield "sitecustomize.py", _renamed(root / "agent" / "sitecustomize.py")
    version = airflow_provider_spark_lineage.__version__
    about = f'"""The agent of airflow-provider-spark-lineage."""\n\n__version__ = "{version}"\n'
    yield f"{PACKAGE}/__init__.py", about
    paths = [root / module for module in _MODULES]
    for package in _PACKAGES:
        paths += sorted(path for path in (root / package).rglob("*") if path.suffix in (".py", ".java"))
    for path in paths:
        name = path.relative_to(root).as_posix()
        if name not in _STAYS:
            yield f"{PACKAGE}/{name}", _renamed(path)


def _renamed(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace(f"{_OURS}.spark", PACKAGE).replace(_OURS, PACKAGE)
