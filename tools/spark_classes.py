"""Lists the plan nodes, commands and expressions that a Spark distribution has, from its jars.

    python tools/spark_classes.py JARS_FOLDER [LIBRARY.jar...] [JARS_FOLDER...]

writes `tests/plan/classes/spark-<major>.<minor>.txt` for each folder (`<pyspark>/jars`), as the difference
to the version before, and `<library>.txt` for each jar of a library, whose classes extend those of the
folder before it. `tests/plan/test_coverage.py` fails until each class has its row. After a change of an
older version, write the later ones again.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "plan"))

import class_lists
from class_files import ClassFile, class_files

PLACE = Path(__file__).resolve().parents[1] / "tests" / "plan" / "classes"

LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
KINDS = {
    "command": LOGICAL + "Command",
    "node": LOGICAL + "LogicalPlan",
    "expression": "org.apache.spark.sql.catalyst.expressions.Expression",
}
"""The kind of a class is the first of these that it is below."""


def below(classes: dict[str, ClassFile], root: str) -> set[str]:
    """Return every class below one, however far."""
    children = defaultdict(list)
    for class_file in classes.values():
        for parent in class_file.parents:
            children[parent].append(class_file.name)
    reached: set[str] = set()
    waiting = [root]
    while waiting:
        for name in children[waiting.pop()]:
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def listing(folder: Path, library: Path | None = None) -> dict[tuple[str, str], list[str]]:
    """Return (kind, package) -> simple names of the concrete classes of Spark, or of a library."""
    classes = {
        class_file.name: class_file
        for jar in sorted(folder.glob("spark-*.jar"))
        for class_file in class_files(jar)
    }
    of_spark = set(classes)
    if library:
        classes.update((class_file.name, class_file) for class_file in class_files(library))
    listed: dict[tuple[str, str], list[str]] = defaultdict(list)
    names: set[str] = set()
    for kind, root in KINDS.items():
        for name in sorted(below(classes, root) - names):
            names.add(name)
            package, _, simple = name.rpartition(".")
            # No plan's JSON shows an anonymous class that anybody could name a row for.
            if library and name in of_spark:
                continue
            if classes[name].concrete and "$anon$" not in simple:
                listed[kind, package].append(simple.rstrip("$"))
    return listed


def text_of(listed: dict[tuple[str, str], list[str]], before: dict[str, list[str]]) -> list[str]:
    """Return the sections of a file: all classes, or the difference to the version before."""
    known: dict[tuple[str, str], set[str]] = defaultdict(set)
    for kind, names in before.items():
        for name in names:
            package, _, simple = name.rpartition(".")
            known[kind, package].add(simple)
    parts = []
    for section in sorted({*listed, *known}):
        now = listed.get(section, [])
        lines = now if not before else [f"+ {name}" for name in now if name not in known[section]]
        lines = [*lines, *(f"- {name}" for name in sorted(known[section] - {*now}))]
        if lines:
            parts.append(f"[{section[0]} {section[1]}]\n" + "\n".join(lines))
    return parts


def name_of(folder: Path) -> str:
    """Return Spark's major and minor version by the name of the jar that every distribution has."""
    (jar,) = folder.glob("spark-catalyst_*.jar")
    match = re.search(r"-(\d+\.\d+)\.[^-]*\.jar$", jar.name)
    assert match is not None, jar.name
    return f"spark-{match[1]}"


def main(arguments: list[str]) -> int:
    folder = Path()
    for argument in map(Path, arguments):
        folder = argument if argument.is_dir() else folder
        library = None if argument.is_dir() else argument
        listed = listing(folder, library)
        target = PLACE / f"{library.stem if library else name_of(folder)}.txt"
        older = [name for name in sorted(class_lists.spark_lists()) if name < target.stem]
        before = class_lists.spark_lists()[older[-1]] if older and not library else {}
        parts = text_of(listed, before)
        target.parent.mkdir(exist_ok=True)
        target.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        counts = {
            kind: sum(len(names) for (listed_kind, _), names in listed.items() if listed_kind == kind)
            for kind in KINDS
        }
        print(target.name, counts)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
