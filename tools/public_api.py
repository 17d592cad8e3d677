"""Lists the public names of the package with their signatures, and compares them with the stored list.

python tools/public_api.py               adds new names to the list
python tools/public_api.py --breaking    also takes over removals and changes: a decision about users

The list is `tests/docs/public_api.json`, and a part of `docs/public-api.md`, which says what may change when.
`tests/docs/test_public_api.py` fails until both are right.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "airflow_provider_spark_lineage"
STORED = ROOT / "tests" / "docs" / "public_api.json"
PAGE = ROOT / "docs" / "public-api.md"
BEGIN, END = "<!-- names: tools/public_api.py -->\n", "<!-- end of names -->\n"

Names = dict[str, Any]
"""Name -> the part of it that users rely on, as JSON."""


class Module(NamedTuple):
    """A module that users import from, or name in a configuration."""

    path: str
    names: tuple[str, ...] = ()
    """The public ones; without any, those in `__all__`."""

    purpose: str = ""


MODULES = (
    Module(PACKAGE, (), "Lineage without an Airflow operator"),
    Module(f"{PACKAGE}.operators.pyspark", ("PySparkLineageOperator",), "Operators"),
    Module(f"{PACKAGE}.operators.spark_submit", ("SparkSubmitLineageOperator",), "Operators"),
    Module(f"{PACKAGE}.operators.spark_jdbc", ("SparkJDBCLineageOperator",), "Operators"),
    Module(f"{PACKAGE}.operators.spark_sql", ("SparkSqlLineageOperator",), "Operators"),
    Module(f"{PACKAGE}.operators.spark_pipelines", ("SparkPipelinesLineageOperator",), "Operators"),
    Module(
        f"{PACKAGE}.operators.checks",
        (
            *("SparkCheckOperator", "SparkColumnCheckOperator", "SparkIntervalCheckOperator"),
            *("SparkTableCheckOperator", "SparkThresholdCheckOperator", "SparkValueCheckOperator"),
        ),
        "Operators that check data",
    ),
    Module(f"{PACKAGE}.operators.lineage_policy", ("LineagePolicyOperator",), "Operators that check lineage"),
    Module(f"{PACKAGE}.operators.reporting", ("ReportsLineage",), "Operators of your own"),
    Module(f"{PACKAGE}.checks", (), "Checks in a program"),
    Module(f"{PACKAGE}.extractors", (), "`[openlineage] extractors`, and extractors of your own"),
    Module(f"{PACKAGE}.extractors.launchers", ("LauncherExtractor",), "`[openlineage] extractors`"),
    Module(f"{PACKAGE}.extractors.checks", ("SqlCheckExtractor",), "`[openlineage] extractors`"),
    Module(f"{PACKAGE}.run_facets", (), "`[openlineage] custom_run_facets`"),
    Module(f"{PACKAGE}.testing", (), "Tests of events"),
    Module(f"{PACKAGE}.testing.in_dag", ("OpenLineageTestOperator",), "Tests of events, as a task of a DAG"),
    Module(f"{PACKAGE}.transports", (), "`[openlineage] transport`"),
    Module(f"{PACKAGE}.warehouse", (), "Tables of lineage"),
    Module(f"{PACKAGE}.errors", ("BadInputError", "MissingExtraError", "SparkLineageError"), "Errors"),
)

MEMBERS: Mapping[str, str] = {
    f"{PACKAGE}.Captured": "checks events lineage text",
    f"{PACKAGE}.RecordedFolder": "events lineage text",
    f"{PACKAGE}.operators.reporting.ReportsLineage": "capture_lineage",
    f"{PACKAGE}.checks.Assertion": "actual assertion check_type column expected name severity success",
    f"{PACKAGE}.testing.DagRun": "dag_id events log seconds state tasks",
    f"{PACKAGE}.testing.Difference": "actual as_dict event expected key kind path reason rule where",
    f"{PACKAGE}.testing.Event": "at document key name run_id text type",
    f"{PACKAGE}.testing.Events": "items of problems",
    f"{PACKAGE}.testing.Expected": "keys of scope",
    f"{PACKAGE}.testing.Kind": "CHANGED MISSING RELATION UNEXPECTED",
    f"{PACKAGE}.testing.LineageDiffersError": "report",
    f"{PACKAGE}.testing.Report": "as_dict differences emitted lines ok passed problems skipped summary text",
    f"{PACKAGE}.testing.Update": "added changed created path refreshed removed text",
    f"{PACKAGE}.warehouse.LoadSummary": "bad_lines dates events files load_id new_events new_versions"
    " rejected runs seconds",
}
"""Class -> its public attributes and methods; other classes have none."""

RESULTS = frozenset(
    f"{PACKAGE}.{name}"
    for name in (
        *("Captured", "testing.DagRun", "testing.Difference", "testing.Event", "testing.Events"),
        *("testing.Expected", "testing.LineageDiffersError", "testing.Report", "testing.Update"),
        *("warehouse.LoadSummary", "warehouse.Picture"),
    )
)
"""Classes that users get and do not create."""

LINEAGE = {
    "Lineage": "inputs outputs gaps failures",
    "Input": "dataset statistics",
    "Output": "dataset statistics mode edges",
    "Dataset": "id fields",
    "Field": "name type",
    "Statistics": "rows size_bytes files",
    "Edge": "source field kind column masking",
    "Gap": "where kind reason output column",
    "Failure": "error_class message sql_state",
}
"""Class of `Captured.lineage` -> its public attributes."""


def current() -> Names:
    """Return the public names of the code as it stands."""
    return {
        "python": dict(_python()),
        "lineage": _lineage(),
        "options": _options(),
        "commands": dict(_commands()),
        "entry points": _entry_points(),
        "decorators": _decorators(),
        "pytest": _pytest(),
        "facets": _facets(),
        "formats": _formats(),
    }


def _python() -> Iterator[tuple[str, Any]]:
    for path, names, _ in MODULES:
        module = importlib.import_module(path)
        for name in names or sorted(module.__all__):
            value = getattr(module, name, None)
            if value is not None:
                yield f"{path}.{name}", _described(f"{path}.{name}", value)


def _described(path: str, value: Any) -> Any:
    if not inspect.isclass(value):
        return _signature(value) if inspect.isroutine(value) else ""
    described: Names = {}
    constructor = _defined(value, "__init__")
    if path not in RESULTS and constructor is not None:
        described["()"] = _signature(constructor)
    for name in MEMBERS.get(path, "").split():
        if _has(value, name):
            member = _defined(value, name)
            described[name] = _signature(member) if inspect.isroutine(member) else ""
    return described


def _has(value: type, name: str) -> bool:
    """Return whether a class has an attribute, also one that only its objects have."""
    fields = {field for base in value.__mro__ for field in vars(base).get("__annotations__", ())}
    assigned = f"self.{name} = " in inspect.getsource(value)
    return name in fields or hasattr(value, name) or assigned


def _defined(value: type, name: str) -> Any:
    """Return a member if this package defines it: those of Airflow differ between its releases."""
    member = next((vars(base)[name] for base in value.__mro__ if name in vars(base)), None)
    member = inspect.unwrap(getattr(member, "__func__", member))  # a class method, a wrapped method
    is_ours = str(getattr(member, "__module__", "")).startswith(PACKAGE)
    return member if is_ours else None


def _signature(function: Any) -> str:
    """Return the parameters with their defaults, without types."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(
            annotation=parameter.empty,
            default=parameter.default if _is_literal(parameter.default) else ...,
        )
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty)).replace(
        "Ellipsis", "..."
    )


def _is_literal(value: Any) -> bool:
    return value is inspect.Parameter.empty or type(value) in (type(None), bool, int, float, str, tuple)


def _lineage() -> Names:
    from airflow_provider_spark_lineage.spark.lineage import model

    return {
        name: [member for member in members.split() if _has(getattr(model, name), member)]
        for name, members in LINEAGE.items()
        if hasattr(model, name)
    }


def _options() -> Names:
    from airflow_provider_spark_lineage.get_provider_info import OPTIONS

    return {name: f"{option.type}, {option.default!r}" for name, option in sorted(OPTIONS.items())}


def _commands() -> Iterator[tuple[str, list[str]]]:
    from airflow_provider_spark_lineage.cli import COMMANDS, OTHER_NAMES

    for name in sorted([*COMMANDS, *OTHER_NAMES]):
        command = importlib.import_module(f"{PACKAGE}.cli.{OTHER_NAMES.get(name, name)}").command
        for below, each in getattr(command, "commands", {"": command}).items():
            title = f"spark-lineage {name} {below}".rstrip()
            yield title, sorted(text for parameter in each.params for text in _texts(parameter))


def _texts(parameter: Any) -> list[str]:
    is_option = parameter.param_type_name == "option"
    return [*parameter.opts, *parameter.secondary_opts] if is_option else [str(parameter.name).upper()]


def _entry_points() -> Names:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    extras = {"extra": dict.fromkeys(project["optional-dependencies"])}
    return {f"{group}: {name}": "" for group, names in {**groups, **extras}.items() for name in sorted(names)}


def _decorators() -> Names:
    from airflow_provider_spark_lineage.get_provider_info import get_provider_info

    described = get_provider_info()["task-decorators"]
    return {
        f"@task.{decorator['name']}": _signature(_object(decorator["class-name"])) for decorator in described
    }


def _object(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _pytest() -> Names:
    """Return the fixtures and options of the pytest plugin, from its text: it is loaded in this process."""
    tree = ast.parse((ROOT / PACKAGE / "pytest_plugin.py").read_text(encoding="utf-8"))
    fixtures = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any("pytest.fixture" in ast.unparse(each) for each in node.decorator_list)
    ]
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    options = {text for text in texts if isinstance(text, str) and re.fullmatch(r"--[a-z-]+", text)}
    return dict.fromkeys([*sorted(fixtures), *sorted(options)], "")


def _facets() -> Names:
    """Return facet -> version of its schema and the keys of its objects."""
    described: Names = {}
    for file in sorted((ROOT / PACKAGE).rglob("schemas/*.json")):
        schema = json.loads(file.read_text(encoding="utf-8"))
        version = re.search(r"spark-lineage[^/]*/schemas/([^/]+)/", schema["$id"])
        # Schemas of OpenLineage's own facets are here, too.
        for name in schema["properties"] if version else ():
            described[name] = {"version": version[1], "keys": sorted(set(_keys(schema["$defs"])))}
    return described


def _keys(schema: Any) -> Iterator[str]:
    """Yield the names of the properties of a schema, and of the objects in it."""
    if isinstance(schema, list):
        for part in schema:
            yield from _keys(part)
    elif isinstance(schema, dict):
        for name, part in schema.items():
            if name == "properties":
                yield from part
                part = [*part.values()]  # noqa: PLW2901  a property may be called `properties`
            yield from _keys(part)


def _formats() -> Names:
    from airflow_provider_spark_lineage.airflow import stored_form
    from airflow_provider_spark_lineage.openlineage.viewer import document
    from airflow_provider_spark_lineage.spark.records import record, status

    return {
        "record": record.VERSION,
        "status file of a driver": status.VERSION,
        "stored lineage": stored_form.VERSION,
        "view document": document.VERSION,
    }


# Comparison


def breaks(before: Names, now: Names) -> list[str]:
    """Return sentences about public names that are gone, or that programs of users may no longer call."""
    return [sentence for kind in before for sentence in _broken(kind, before[kind], now.get(kind, {}))]


def _broken(kind: str, before: Names, now: Names) -> Iterator[str]:
    for name, old in before.items():
        if name not in now:
            yield f"{kind}: `{name}` is gone"
        elif isinstance(old, dict):
            if kind == "facets" and old["version"] != now[name]["version"]:
                continue  # A new version of a schema says so itself.
            for sentence in _broken(kind, old, now[name]):
                yield sentence.replace("`", f"`{name}.", 1).replace(".()", "()")
        elif isinstance(old, list):
            yield from (f"{kind}: `{name}` has no `{each}` any more" for each in old if each not in now[name])
        elif isinstance(old, str) and old.startswith("("):
            yield from (f"{kind}: `{name}`: {reason}" for reason in _incompatible(old, now[name]))
        elif old != now[name]:
            yield f"{kind}: `{name}` was {old!r} and is {now[name]!r}"


def _incompatible(before: str, now: str) -> Iterator[str]:
    """Yield the reasons why a call that was right may now be wrong."""
    if not now.startswith("("):
        yield "it cannot be called any more"
        return
    old, new = _parameters(before), _parameters(now)
    for name, parameter in old.items():
        if name not in new:
            yield f"parameter `{name}` is gone"
        elif parameter.default != new[name].default:
            yield f"the default of `{name}` was {parameter.default} and is {new[name].default}"
        elif parameter.position is not None and parameter.position != new[name].position:
            yield f"parameter `{name}` has another position"
    for name, parameter in new.items():
        if name not in old and parameter.default is None and not name.startswith("*"):
            yield f"parameter `{name}` is new and has no default"


class _Parameter(NamedTuple):
    position: int | None
    default: str | None


def _parameters(signature: str) -> dict[str, _Parameter]:
    [function] = ast.parse(f"def f{signature}: ...").body
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + [*map(ast.unparse, arguments.defaults)]
    parameters = {
        argument.arg: _Parameter(index, default)
        for index, (argument, default) in enumerate(zip(positional, defaults, strict=True))
    }
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters[argument.arg] = _Parameter(None, ast.unparse(default) if default else None)
    if arguments.vararg:
        parameters[f"*{arguments.vararg.arg}"] = _Parameter(None, None)
    if arguments.kwarg:
        parameters[f"**{arguments.kwarg.arg}"] = _Parameter(None, None)
    return parameters


# The list and the page


def names_of(listed: Names) -> Iterator[str]:
    """Yield the names that have a version since which they are public."""
    for kind, names in listed.items():
        if kind not in ("lineage", "facets", "formats", "since"):
            yield from names


def with_since(listed: Names, before: Names, version: str) -> Names:
    """Return a list with the version since which each name is public: for a new one, this version."""
    since = before.get("since", {})
    return {**listed, "since": {name: since.get(name, version) for name in names_of(listed)}}


def rows(listed: Names) -> str:
    """Return the generated part of the page."""
    since = listed["since"]
    lines = ["| import from | names | purpose |", "| --- | --- | --- |"]
    for path, names, purpose in MODULES:
        own = [name for name in listed["python"] if name.rpartition(".")[0] == path]
        texts = [f"`{name.rpartition('.')[2]}`{_since(since[name])}" for name in own]
        assert not names or len(names) == len(own), path
        lines.append(f"| `{path}` | {', '.join(texts)} | {purpose} |")
    lines += ["", "| other names | |", "| --- | --- |"]
    for title, kind in (
        *(
            ("decorators", "decorators"),
            ("commands", "commands"),
            ("entry points and extras", "entry points"),
        ),
        *(("fixtures and options of pytest", "pytest"), ("options of `[spark_lineage]`", "options")),
    ):
        lines.append(f"| {title} | {', '.join(f'`{name}`{_since(since[name])}' for name in listed[kind])} |")
    lines += ["", "| format | version |", "| --- | --- |"]
    lines += [f"| {name} | {version} |" for name, version in listed["formats"].items()]
    lines += [f"| facet `{name}` | {facet['version']} |" for name, facet in listed["facets"].items()]
    return "\n".join(lines) + "\n"


def _since(version: str) -> str:
    return "" if version == "0.1.0" else f" ({version})"


def page_with(text: str, listed: Names) -> str:
    """Return the page with its generated part."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{rows(listed)}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Return the exit code."""
    before = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {"since": {}}
    now = current()
    sentences = breaks({kind: names for kind, names in before.items() if kind != "since"}, now)
    for sentence in sentences:
        print(sentence)
    if sentences and "--breaking" not in arguments:
        print(
            "Nothing was written. docs/public-api.md says how a public name ends; --breaking writes the list."
        )
        return 1
    version = importlib.import_module(PACKAGE).__version__
    listed = with_since(now, before, version)
    STORED.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), listed), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
