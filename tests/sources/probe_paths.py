"""Walks the accessor paths of probes over the classes of Spark and of libraries, without a JVM.

`sources/probe.py` describes the language of paths; `Paths.java` walks them over live objects.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from airflow_provider_spark_lineage.spark.sources.probe import Probe

PLACE = Path(__file__).with_name("probe_members.txt")

ANY = "*"
"""A type that class files do not have: a type variable, or `Object`. Any class may have its members."""

SESSION = "SparkSession"

Lookup = Callable[[str, str], frozenset[str]]
"""Takes a type and a member's key. Returns the types that the member may have; empty if unknown."""

WHOLE = frozenset(
    "$alone_in $exists $files $files_among $modified $oldest_write $options $patterns $sample $sql".split()
)
NUMBERS = frozenset({"$started", "$ended"})


class NoMemberError(Exception):
    """A step of a path that no class has."""


@dataclass(frozen=True)
class Step:
    """One step of a path: `name(arguments)` and a shape, which is `[]`, `?`, `!` or nothing."""

    written: str
    name: str
    arguments: tuple[str, ...]
    shape: str

    @property
    def key(self) -> str:
        """Return how data names the member: a private field by its name, a method with its arity."""
        return f"{self.name}!" if self.shape == "!" else f"{self.name}/{len(self.arguments)}"


def read() -> Lookup:
    """Return the members that `tools/probe_members.py` listed, of all versions together."""
    members: dict[tuple[str, str], set[str]] = defaultdict(set)
    kind = ""
    for line in PLACE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line[1:-1]
        elif line:
            key, _, types = line.partition("  # ")[0].partition(": ")
            members[kind, key].update(types.split(" "))
    return lambda kind, key: frozenset(members.get((kind, key), ()))


def split(text: str, separator: str) -> list[str]:
    """Split at separators outside of parentheses.

    >>> split("load(name.identifier).location", ".")
    ['load(name.identifier)', 'location']
    """
    parts, depth = [""], 0
    for letter in text.replace(" ", ""):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def steps(path: str) -> Iterator[Step]:
    """Yield the steps of a path.

    >>> [(step.name, step.arguments, step.shape) for step in steps("options.get('path')?")]
    [('options', (), ''), ('get', ("'path'",), '?')]
    >>> [(step.name, step.shape) for step in steps("relation.parts[].sourceOptions!")]
    [('relation', ''), ('parts', '[]'), ('sourceOptions', '!')]
    >>> [(step.name, step.arguments) for step in steps("$sql(relation.text, relation.url)")]
    [('$sql', ('relation.text', 'relation.url'))]
    """
    for written in split(path, "."):
        shape = next((shape for shape in ("[]", "?", "!") if written.endswith(shape)), "")
        name, _, rest = written[: len(written) - len(shape)].partition("(")
        yield Step(written, name, tuple(split(rest[:-1], ",")), shape)


def element(kind: str) -> str:
    """Return the item type of an Option, a list or an array: `scala.Option<T>` -> T."""
    match = re.fullmatch(r"[^<]+<(.*)>", kind)
    return match[1] if match else ANY


def walk(path: str, probe: Probe, lookup: Lookup) -> frozenset[str]:
    """Return the types at the end of a path; raise NoMemberError at the first step that no class has.

    `lookup` also finds the classes of a simple name, as members `Name` of the type "".

    >>> probe = Probe("LogicalRelation", {}, relation="HadoopFsRelation")
    >>> lookup = read()
    >>> walk("catalogTable?", probe, lookup)
    frozenset({'org.apache.spark.sql.catalyst.catalog.CatalogTable'})
    >>> walk("$options(relation.options)", probe, lookup)
    frozenset()
    >>> walk("relation.location.rootPath[]", probe, lookup)
    Traceback (most recent call last):
    ...
    sources.probe_paths.NoMemberError: rootPath/0 of ['org.apache.spark.sql.execution.datasources.FileIndex']
    """
    current, prefix = _classes(probe.node, lookup), ""
    for step in steps(path):
        if step.name == "$setting":
            return frozenset()
        if step.name == "$conf":
            return walk(path[path.index("{") + 1 : path.index("}")], probe, lookup)
        for argument in step.arguments:
            if not argument.startswith("'"):
                walk(argument, probe, lookup)
        if step.name in WHOLE | NUMBERS:
            return frozenset()
        prefix = f"{prefix}.{step.written}" if prefix else step.written
        current = _after(step, current, lookup)
        if probe.relation not in ("", "*") and prefix == probe.of:
            current = _classes(probe.relation, lookup)
    return current


def _classes(simple: str, lookup: Lookup) -> frozenset[str]:
    classes = lookup("", simple)
    if not classes:
        raise NoMemberError(f"no class {simple}")
    return classes


def _after(step: Step, current: frozenset[str], lookup: Lookup) -> frozenset[str]:
    """Return the types that one step leads to."""
    if step.name == "$session":
        return _classes(SESSION, lookup)
    if step.name == "$object":
        return _classes(step.arguments[0].strip("'").rpartition(".")[2], lookup)
    if step.name == "$during":
        # The argument is a member of each object in the list; the step leads to one of these.
        current = frozenset(map(element, current))
        _member(current, step.arguments[0].strip("'") + "/0", lookup)
        return current
    types = _member(current, step.key, lookup)
    return frozenset(map(element, types)) if step.shape in ("?", "[]") else types


def _member(current: frozenset[str], key: str, lookup: Lookup) -> frozenset[str]:
    types = frozenset(kind for holder in current for kind in lookup(holder, key))
    if not types:
        raise NoMemberError(f"{key} of {sorted(current)}")
    return types


def paths_of(probe: Probe) -> set[str]:
    """Return every path of a probe, including the one to the object whose class selects the source."""
    return {*probe.accessors.values(), *((probe.of,) if probe.relation else ())}
