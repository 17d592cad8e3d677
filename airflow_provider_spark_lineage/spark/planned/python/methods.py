"""Methods of Spark that read or write, and the arguments that name their data."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass

At = tuple[int, str]
"""Position and name of an argument; the position is negative if it can only be given by name."""


@dataclass(frozen=True)
class MethodReader:
    """The read or write of a method, and the arguments that name its data."""

    change: str = ""
    """The change, empty for a read; if there is a `mode`, the change without that argument."""

    format: str | At = ""
    path: At | None = None
    table: At | None = None
    mode: At | None = None
    is_partial: bool = False


FILES = ("csv", "json", "orc", "parquet", "text", "xml")
_NAMED: At = (-1, "")

ROWS: Mapping[tuple[str, str], MethodReader] = {
    ("context", "textFile"): MethodReader(format="text", path=(0, "name")),
    ("delta", "delete"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("delta", "execute"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("delta", "toDF"): MethodReader(table=_NAMED),
    ("delta", "update"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("read", "jdbc"): MethodReader(format="jdbc"),
    ("read", "load"): MethodReader(format=(1, "format"), path=(0, "path")),
    ("read", "table"): MethodReader(table=(0, "tableName")),
    ("session", "table"): MethodReader(table=(0, "tableName")),
    ("writeStream", "start"): MethodReader("append", (1, "format"), path=(0, "path"), mode=(2, "outputMode")),
    ("writeStream", "toTable"): MethodReader("append", table=(0, "tableName"), mode=(2, "outputMode")),
    ("writeTo", "append"): MethodReader("append", table=_NAMED),
    ("writeTo", "create"): MethodReader("create", table=_NAMED),
    ("writeTo", "createOrReplace"): MethodReader("overwrite", table=_NAMED),
    ("writeTo", "overwrite"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("writeTo", "overwritePartitions"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("writeTo", "replace"): MethodReader("overwrite", table=_NAMED),
    ("write", "insertInto"): MethodReader(
        "append", table=(0, "tableName"), mode=(1, "overwrite"), is_partial=True
    ),
    ("write", "jdbc"): MethodReader("create", "jdbc", mode=(2, "mode")),
    ("write", "save"): MethodReader("create", (1, "format"), path=(0, "path"), mode=(2, "mode")),
    ("write", "saveAsTable"): MethodReader("create", (1, "format"), (-1, "path"), (0, "name"), (2, "mode")),
    **{("read", name): MethodReader(format=name, path=(0, "path")) for name in FILES},
    **{("write", name): MethodReader("create", name, path=(0, "path"), mode=(1, "mode")) for name in FILES},
    ("write", "text"): MethodReader("create", "text", path=(0, "path"), mode=_NAMED),
    ("", "saveAsTextFile"): MethodReader("create", "text", path=(0, "path")),
}
"""(kind of the object, method) -> read or write; the kind is "" for methods that no other library has."""

CHANGE_THEMSELVES = frozenset({"read", "readStream", "write", "writeStream", "writeTo"})
"""Kinds whose methods change the object itself: `writer.mode("append")` needs no assignment."""

VIEW = re.compile(r"create(?:OrReplace)?(?:Global)?TempView|registerTempTable")

NOT_FOLLOWED = re.compile(
    r"""
    context\.(?:binary|hadoop|newAPIHadoop|pickle|sequence|wholeText)\w+
    | catalog\.create\w*Table | model\.save | delta\.(?:clone|restore)\w*
    | .*\.(?:mergeInto|pandas_api|to_(?:koalas|pandas_on_spark))
    | .*\.(?:saveAs(?:Hadoop|NewAPIHadoop|Pickle|Sequence)\w+|(?:text|binary)\w+Stream)
    | glue\.from_\w+ | .*\.(?:create|write)_dynamic_frame_\w+
    | (?:.*\.)?DeltaTable\.(?:convert|create|replace)\w*
    | pyspark\.pandas\.(?:DataFrame|Series|from_pandas|range|read_\w+|sql)
    | pyspark\.ml(?:lib)?\..*\.(?:load|save)\w*
    """,
    re.VERBOSE,
)
"""Methods and functions that read or write, or return objects that do: each is a gap."""

_CHANGE_NOTHING = re.compile(
    r"(?:awsglue|builtins|collections|contextlib|copy|dataclasses|datetime|delta|functools|itertools|json|logging"
    r"|math|os|pathlib|pprint|pyspark|re|string|sys|textwrap|time|typing|warnings)\."
)
"""Packages whose functions change no list."""

_KNOWN = {*sys.stdlib_module_names, "awsglue", "delta", "pyspark"}
"""Packages whose functions that read or write are all listed above."""

UNRELATED = frozenset(
    """
    absl airflow alembic attr attrs azure botocore bs4 cattrs certifi chardet click cloudpickle colorama
    coloredlogs colorlog confluent_kafka croniter cryptography databricks datadog dateutil dbutils
    ddtrace decouple deepdiff dotenv dynaconf environs faker fastapi filelock fire flask fsspec gcsfs
    git google grpc h5py humanize hvac hydra isodate jinja2 joblib jsonschema jwt kafka keyring loguru
    lxml markdown marshmallow matplotlib more_itertools msgpack multidict mypy_boto3 networkx newrelic
    nltk omegaconf openpyxl opentelemetry orjson packaging paramiko pendulum pip pkg_resources plotly
    prometheus_client psutil py4j pydantic pydantic_settings pymongo pymysql pyodbc pytest
    python_json_logger pythonjsonlogger pytz redis regex rich ruamel s3fs schedule scipy seaborn
    sentry_sdk setuptools shapely simplejson six slack_sdk smart_open spacy statsd statsmodels structlog
    tabulate tenacity tensorflow termcolor tldextract toml tomli tomlkit toolz torch tqdm transformers
    typeguard typer typing_extensions tzlocal ujson urllib3 uvicorn validators watchtower wheel xgboost
    xmltodict yaml
    """.split()
)
"""Packages whose functions read or write with Spark only if they get a frame or a session."""

LOGS = frozenset({"critical", "debug", "error", "exception", "info", "log", "warn", "warning"})

LOOKS = frozenset(
    """
    builtins.callable builtins.hasattr builtins.id builtins.isinstance builtins.issubclass builtins.len
    builtins.print builtins.repr builtins.str builtins.type functools.update_wrapper functools.wraps
    """.split()
)
"""Functions that call no method that reads or writes."""


def is_harmless(function: str, method: str) -> bool:
    """Return whether a function, by its full name, or a method never changes a list among its arguments."""
    return bool(_CHANGE_NOTHING.match(function)) or method in LOGS


def is_known(function: str) -> bool:
    """Return whether all reads and writes of a function's package are listed above."""
    return function.partition(".")[0] in _KNOWN
