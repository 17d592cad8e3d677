"""`tests/` mirrors the package: a room's tests are in the folder, or in the module, that has the room's name.

The floors are not folders here: `tests/` is on `sys.path`, where `airflow` and `openlineage` would hide the
libraries of these names. So a feature that has a room on several floors has one folder of tests.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import airflow_provider_spark_lineage

PACKAGE = Path(airflow_provider_spark_lineage.__file__).parent
TESTS = Path(__file__).resolve().parents[1]
FLOORS = ("airflow", "openlineage", "spark")

ELSEWHERE = {
    "__main__": ("cli/test_missing_extras.py", "the command without its extra"),
    "airflow/draft_rules": ("testing/test_draft_facets.py", "rules of drafts, compared with the facets"),
    "airflow/known_operators": (
        "extractors/test_spark_extractor.py",
        "the extractor reports the operators of the table",
    ),
    "errors": (
        "architecture/test_examples.py",
        "examples in its docstrings; messages are tested where they arise",
    ),
    "former": ("docs/test_public_api.py", "each former path leads to the present one"),
    "openlineage/transports": ("testing/test_in_dag.py", "they keep the events that the harness compares"),
    "openlineage/lifecycle": ("architecture/test_examples.py", "examples in its docstrings"),
    "openlineage/lineage_document": ("cli/test_explain_emitted.py", "documents of events and of a lineage"),
    "openlineage/words": ("architecture/test_examples.py", "examples in its docstrings"),
    "pytest_plugin": ("testing/test_pytest_plugin.py", "a face of the harness"),
    "transports": ("testing/test_in_dag.py", "they keep the events that the harness compares"),
}
"""Room -> where its tests are, and why they are there."""

NO_ROOM = {
    "annotation": "inlets, outlets, hooks and assets beside Spark: docs/annotation.md",
    "architecture": "walls and locks",
    "consumers": "backends that read our events: docs/consumers.md",
    "docs": "pages",
    "hostile": "torn, huge and future plans, through all rooms",
    "install": "set-up, and the commands of docs/install.md",
    "live": "real Spark, through all rooms",
    "servers": "what tests run against",
    "soundness": "lineage compared with the results of Spark",
}
"""Folder of tests that is not of one room -> its subject."""


def names(folder: Path) -> set[str]:
    """Return the packages and modules of a folder."""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return modules | {path.parent.name for path in folder.glob("*/__init__.py")}


def rooms() -> list[str]:
    """Return the rooms by their paths below the package."""
    upper = names(PACKAGE) - {*FLOORS}
    return sorted([*upper, *(f"{floor}/{name}" for floor in FLOORS for name in names(PACKAGE / floor))])


def place_of(room: str) -> Path | None:
    """Return the folder or the module of the room's name."""
    name = room.rpartition("/")[2]
    folder, module = TESTS / name, TESTS / f"test_{name}.py"
    return folder if any(folder.glob("**/test_*.py")) else module if module.exists() else None


@pytest.mark.parametrize("room", rooms())
def test_each_room_has_tests_of_its_name_or_a_row_that_says_where_they_are(room: str):
    """Whoever changes a room finds its tests by its name."""
    if room not in ELSEWHERE:
        assert place_of(room) is not None
        return
    assert place_of(room) is None, "the row is not needed any more"
    place, reason = ELSEWHERE[room]
    assert reason
    assert (TESTS / place).exists()


def test_each_row_is_of_a_room():
    """A row of a room that is gone leads nowhere."""
    assert set(ELSEWHERE) <= set(rooms())


def test_each_folder_and_each_module_of_tests_has_its_room():
    """Tests of one room that lie elsewhere are found by chance."""
    own = {room.rpartition("/")[2] for room in rooms()}
    folders = {path.name for path in TESTS.iterdir() if any(path.glob("**/*.py"))}
    assert folders - own == set(NO_ROOM)
    assert {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")} <= own
