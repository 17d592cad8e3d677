"""Every package that we import is declared: a dependency, or one of the extra whose modules import it."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import sqlglot.expressions

import airflow_provider_spark_lineage

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

PACKAGE = Path(airflow_provider_spark_lineage.__file__).parent
PYPROJECT = PACKAGE.parent / "pyproject.toml"
pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 does not know which distribution many packages are of"
)

EXTRAS = {
    "cli": "cli",
    "openlineage/graph": "graph",
    "openlineage/warehouse": "warehouse",
    "spark/event_log": "event-log",
    **dict.fromkeys(
        ("openlineage/events", "openlineage/testing", "openlineage/transports", "pytest_plugin.py"), "testing"
    ),
}
"""Part of the package -> the extra that it may need; every other part needs none."""

BY_SPARK_LINE = {"grpc", "py4j", "pyarrow", "pyspark"}
"""Brought by the extras `spark-4-2` and so on, or by the environment.

pyspark brings py4j; its Connect client cannot be imported without grpc and pyarrow."""

BY_API_SERVER = {"airflow/ui": {"fastapi", "sqlalchemy"}}
"""Part -> what Airflow's API server hands to it: a version that we ask for could only be another one."""

DISTRIBUTIONS = {"attr": "attrs", "attrs": "attrs", "yaml": "pyyaml", "openlineage": "openlineage-python"}
"""Import name -> distribution, if several have it or no metadata name it."""


def declared(*extras: str) -> set[str]:
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    lines = [*project["dependencies"]]
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return {normal(re.match(r"[\w.-]+", line)[0]) for line in lines}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def airflow_distribution(module: str) -> str:
    """Return the distribution of a module below `airflow`, which many distributions share."""
    parts = module.split(".")
    if parts[:2] != ["airflow", "providers"]:
        return "apache-airflow"
    name = {"apache": "apache-spark", "common": f"common-{'-'.join(parts[3:4])}"}.get(parts[2], parts[2])
    return f"apache-airflow-providers-{name}"


def imported(file: Path) -> set[str]:
    """Return the distributions that a module imports from, inside functions too."""
    distributions = set()
    for node in ast.walk(ast.parse(file.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        for name in names:
            top = name.partition(".")[0]
            if top in sys.stdlib_module_names or top in (PACKAGE.name, *BY_SPARK_LINE):
                continue
            if top == "airflow":
                distributions.add(airflow_distribution(name))
            else:
                distributions.add(DISTRIBUTIONS.get(top) or distribution(top))
    return distributions


@cache
def distribution(top: str) -> str:
    return normal(packages_distributions()[top][0])


FILES = sorted(PACKAGE.rglob("*.py"))
FLOORS = ("airflow", "openlineage", "spark")


def part_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE).parts
    return "/".join(parts[: 2 if parts[0] in FLOORS else 1])


@pytest.mark.parametrize("part", sorted(set(map(part_of, FILES))))
def test_imports_are_declared(part):
    """A distribution that only comes with another package is gone once that package drops it."""
    files = [file for file in FILES if part_of(file) == part]
    needed = set().union(*map(imported, files))
    extra = EXTRAS.get(part)
    needed -= BY_API_SERVER.get(part, set())
    assert needed <= declared(*[extra] if extra else []), part


def test_nothing_is_declared_in_vain():
    """A dependency that nobody imports is a download for nothing."""
    used = set().union(*map(imported, FILES))
    assert declared("cli", "event-log", "testing") <= used


def test_extras_have_names_that_every_pip_finds():
    """Metadata say `spark-4-2` for `spark-4.2`, and pip before 23.3 installs nothing for a dotted name."""
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    assert [name for name in extras if normal(name) != name] == []


def test_pyspark_and_its_client_have_one_version():
    """Both write the same files, so an extra that brings both must bring the same ones."""
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    for name, lines in extras.items():
        if not name.startswith("spark-"):
            continue
        [spark] = [line for line in lines if line.startswith("pyspark==")]
        clients = [line for line in lines if line.startswith("pyspark-client")]
        assert clients in ([], [spark.replace("pyspark==", "pyspark-client==")]), name
        # Without a client of this version, the provider must be one that brings none.
        assert clients or "apache-airflow-providers-apache-spark<6" in lines, name


# ---- sqlglot ----------------------------------------------------------------------------------------


def sqlglot_names() -> tuple[set[str], set[str]]:
    """Return the expression classes that our readers of SQL name, and the arguments that they ask for."""
    classes, arguments = set(), set()
    folders = (PACKAGE / "spark" / "plan" / "database_sql", PACKAGE / "spark" / "planned" / "sql")
    for file in (file for folder in folders for file in folder.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "exp"
            ):
                classes.add(node.attr)
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "get"
                and ast.unparse(node.func.value).endswith(".args")
                and isinstance(node.args[0], ast.Constant)
            ):
                arguments.add(node.args[0].value)
    return classes, arguments


def test_names_from_sqlglot_exist():
    """sqlglot renames classes and arguments between versions; asking for an old argument finds nothing."""
    classes, arguments = sqlglot_names()
    assert len(classes) > 20, classes
    missing = {name for name in classes if not hasattr(sqlglot.expressions, name)}
    assert missing == set()
    known = {
        argument.rstrip("_")
        for value in vars(sqlglot.expressions).values()
        if isinstance(value, type) and issubclass(value, sqlglot.expressions.Expression)
        for argument in value.arg_types
    }
    # `from` is `from_` since 28, and so on: a caller of one name asks for the other too.
    assert {argument.rstrip("_") for argument in arguments} <= known
