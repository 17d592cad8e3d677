"""Lists the members of Spark's and libraries' classes that the probes of `sources/` walk through, from jars.

    python tools/probe_members.py JARS_FOLDER [LIBRARY.jar...] [JARS_FOLDER...]

writes `tests/sources/probe_members.txt` from each folder (`<pyspark>/jars`, one for each Spark version) with
the jars of libraries behind it, and prints the paths that match nothing in any of them. Run it with all
supported versions when a probe is new or changed: `tests/sources/test_probe_paths.py` walks every path over
this list, and fails where a step is in none. A step is looked for in a type, in its ancestors, and,
because the live object may be of a subclass, in its descendants.
"""

from __future__ import annotations

import contextlib
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "sources"))

from class_files import ClassFile, class_files
from probe_paths import ANY, PLACE, NoMemberError, paths_of, read, walk
from spark_classes import name_of

from airflow_provider_spark_lineage.spark.sources import SOURCES

JARS = ("spark-*.jar", "hadoop-client-api-*.jar", "scala-library-*.jar")
"""Jars of a distribution whose classes the probes meet."""

JAVA = {
    "*": {"getClass/0": "java.lang.Class", "toString/0": "java.lang.String"},
    "java.lang.Class": {"getName/0": "java.lang.String", "getSimpleName/0": "java.lang.String"},
}
"""Members of Java's own classes, which are in no jar; every object has the members of `*`."""


class Jars:
    """The classes of one Spark version and the libraries made for it; remembers which members were found."""

    def __init__(self, jars: list[Path]) -> None:
        self.classes: dict[str, ClassFile] = {}
        for jar in jars:
            self.classes.update((file.name, file) for file in class_files(jar, with_members=True))
        self._children: dict[str, list[str]] = defaultdict(list)
        self._simple: dict[str, set[str]] = defaultdict(set)
        self._having: dict[str, set[str]] = defaultdict(set)
        for file in self.classes.values():
            if not (file.name.endswith("$") and file.name[:-1] in self.classes):
                self._simple[file.name.rpartition(".")[2].rstrip("$")].add(file.name)
            for parent in file.parents:
                self._children[parent].append(file.name)
            for key, types in file.members.items():
                self._having[key] |= types
        self.met: dict[tuple[str, str], frozenset[str]] = {}

    def __call__(self, kind: str, key: str) -> frozenset[str]:
        """Return the types of a member as `probe_paths.Lookup` wants them."""
        if (kind, key) not in self.met:
            classes = self._find(kind.partition("<")[0], key)
            if not classes:
                return classes
            self.met[kind, key] = classes
        return self.met[kind, key]

    def _find(self, kind: str, key: str) -> frozenset[str]:
        if kind == "":
            return frozenset(self._simple.get(key, ()))
        java = JAVA.get(kind, {}).get(key) or JAVA[ANY].get(key)
        if java:
            return frozenset({java})
        if kind == ANY:
            return frozenset({ANY}) if key in self._having else frozenset()
        above = self._types(self._above(kind), key)
        return above or self._types((name for low in self._below(kind) for name in self._above(low)), key)

    def _types(self, names: Iterable[str], key: str) -> frozenset[str]:
        member_tables = (self.classes[name].members for name in dict.fromkeys(names) if name in self.classes)
        types = {kind for members in member_tables for kind in members.get(key, ())}
        # A bridge method (JVMS 4.6) has the type of the method that it overrides; the others are more exact.
        return frozenset(types - {ANY} or types)

    def _above(self, kind: str) -> list[str]:
        return self._reached(kind, lambda name: self.classes[name].parents if name in self.classes else ())

    def _below(self, kind: str) -> list[str]:
        return self._reached(kind, lambda name: self._children.get(name, ()))

    @staticmethod
    def _reached(start: str, following: Callable[[str], Iterable[str]]) -> list[str]:
        reached, waiting = [start], [start]
        visited = {start}
        while waiting:
            for name in following(waiting.pop()):
                if name not in visited:
                    visited.add(name)
                    reached.append(name)
                    waiting.append(name)
        return reached


Met = dict[tuple[str, str], dict[str, list[str]]]
"""A type and a member's key -> types of the member -> versions."""


def text_of(met: Met, versions: int) -> str:
    """Return a section for each type, a line for each member: `key: types`, and versions if not in all."""
    sections: dict[str, list[str]] = defaultdict(list)
    for (kind, key), types in sorted(met.items()):
        for names, having in sorted(types.items()):
            only = f"  # {' '.join(having)}" if len(having) < versions else ""
            sections[kind].append(f"{key}: {names}{only}")
    return "\n\n".join(f"[{kind}]\n" + "\n".join(lines) for kind, lines in sections.items()) + "\n"


def main(arguments: list[str]) -> int:
    versions: list[tuple[str, list[Path]]] = []
    for argument in map(Path, arguments):
        if argument.is_dir():
            jars = [jar for pattern in JARS for jar in sorted(argument.glob(pattern))]
            versions.append((name_of(argument).removeprefix("spark-"), jars))
        else:
            versions[-1][1].append(argument)
    probes = [probe for source in SOURCES for probe in source.probes]
    met: Met = defaultdict(lambda: defaultdict(list))
    for version, jars in versions:
        members = Jars(jars)
        for probe in probes:
            for path in paths_of(probe):
                with contextlib.suppress(NoMemberError):
                    walk(path, probe, members)
        for case, types in members.met.items():
            met[case][" ".join(sorted(types))].append(version)
        print(version, len(members.classes), "classes,", len(members.met), "members", flush=True)
    PLACE.write_text(text_of(met, len(versions)), encoding="utf-8")
    lookup = read()
    for probe in probes:
        for path in sorted(paths_of(probe)):
            try:
                walk(path, probe, lookup)
            except NoMemberError as error:
                print("no match:", probe.node, probe.relation, path, "--", error)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
