"""Planned reads and writes of projects of several modules: `projects.txt`."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from planned_text import cases, shown

from airflow_provider_spark_lineage.spark.planned.python.modules import MAX_BYTES, MAX_MODULES
from airflow_provider_spark_lineage.spark.planned.python.reader import read_script
from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage

PROJECTS = Path(__file__).with_name("projects.txt")


def laid_out(folder: Path, text: str) -> str:
    """Write the files of a block, each below a line `== path`, and return the text of the first one."""
    _, *files = ("\n" + text).split("\n== ")
    for file in files:
        name, _, content = file.partition("\n")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return files[0].partition("\n")[2]


def steps(script: str, *places: Path) -> list[str]:
    return shown(read_script(script, (), {}, {}, map(str, places))).splitlines()


@pytest.mark.parametrize(("rule", "text", "expected"), cases(PROJECTS))
def test_project(tmp_path: Path, rule: str, text: str, expected: str) -> None:
    """Each block's first line is the rule."""
    assert "\n".join(steps(laid_out(tmp_path, text), tmp_path)) == expected, rule


def archive(path: Path, **modules: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in modules.items():
            file.writestr(f"{name.replace('.', '/')}.py", text)
    return path


READS = "def read(path): spark.read.csv(path)"


def test_modules_of_py_files(tmp_path: Path) -> None:
    """Archives, single files and folders are followed, in the order of Python's own search."""
    places = [
        tmp_path,
        archive(tmp_path / "a.zip", **{"one.__init__": "from one.inner import read", "one.inner": READS}),
        archive(tmp_path / "b.egg", two="from nowhere import read", four=READS),
        tmp_path / "given" / "three.py",
        tmp_path / "given",
        tmp_path / "missing.zip",
    ]
    script = laid_out(
        tmp_path,
        f"== job.py\nimport one, two, three, four, rest.five\n"
        f"one.read('/1'), two.read('/2'), three.read('/3'), four.read('/4'), rest.five.read('/5')\n"
        f"== two.py\n{READS}\n== given/three.py\n{READS}\n== given/four.py\n== given/rest/five.py\n{READS}\n",
    )
    assert steps(script, *places) == [f"read csv /{number}" for number in range(1, 6)]
    only = "import other\nother.read('/a')"
    (tmp_path / "given" / "other.py").write_text(READS, encoding="utf-8")
    assert "`other.read` are not followed" in steps(only, tmp_path / "given" / "three.py")[0]


def test_lineage_follows_the_modules_of_a_script(tmp_path: Path) -> None:
    """`path` names the script, and `spark.submit.pyFiles` its other modules; lines have their file."""
    script = laid_out(
        tmp_path, "== jobs/job.py\nimport a, b, c\na.read('s3://b/1')\nb.read(name())\nc.run()\n"
    )
    (tmp_path / "jobs" / "a.py").write_text(READS, encoding="utf-8")
    archive(tmp_path / "b.zip", b=READS)
    lineage = planned_lineage(
        script,
        language="python",
        conf={"spark.submit.pyFiles": f"b.zip, s3://elsewhere/c.zip,file://{tmp_path}/d.zip"},
        directory=str(tmp_path),
        path="jobs/job.py",
    )
    assert [read.dataset.id.name for read in lineage.inputs] == ["1"]
    assert [gap.where for gap in lineage.gaps] == ["text", "line 4", "b.zip/b.py line 1"]
    # Python looks beside the file, not beside a link to it.
    link = tmp_path / "link.py"
    link.symlink_to(tmp_path / "jobs" / "job.py")
    linked = planned_lineage(script, language="python", path=str(link))
    assert [read.dataset.id.name for read in linked.inputs] == ["1"]
    alone = planned_lineage(script, language="python")
    assert [gap.where for gap in alone.gaps] == ["text", "line 2", "line 3", "line 4"]


def test_modules_are_followed_up_to_a_limit(tmp_path: Path) -> None:
    """A project of any size ends: the other modules are gaps, at the import."""
    for number in range(MAX_MODULES + 5):
        (tmp_path / f"m{number}.py").write_text(READS, encoding="utf-8")
    lines = "".join(f"import m{number}\nm{number}.read('/{number}')\n" for number in range(MAX_MODULES + 5))
    shown_steps = steps(lines, tmp_path)
    assert sum(line.startswith("read") for line in shown_steps) == MAX_MODULES
    assert sum("is not followed: at most" in line for line in shown_steps) == 5
    assert sum(line.endswith("are not followed") for line in shown_steps) == 5
    (tmp_path / "large.py").write_text("#" * MAX_BYTES + f"#\n{READS}", encoding="utf-8")
    archive(tmp_path / "bomb.zip", bomb="#" * 50 * MAX_BYTES)
    for name, place in ("large", tmp_path), ("bomb", tmp_path / "bomb.zip"):
        assert "is not followed: at most" in steps(f"import {name}\nspark.table('t')", place)[0]
    for number in range(MAX_MODULES):
        (tmp_path / f"c{number}.py").write_text(f"import c{number + 1}\n", encoding="utf-8")
    assert len(steps("import c0\nspark.table('db.t')", tmp_path)) <= 2


def test_no_module_raises(tmp_path: Path) -> None:
    """A module that cannot be read is a gap, and nothing of it runs."""
    marker = tmp_path / "ran"
    (tmp_path / "acts.py").write_text(f"open({str(marker)!r}, 'w').close()", encoding="utf-8")
    (tmp_path / "latin.py").write_bytes(b"a = '\xff'")
    (tmp_path / "nul.py").write_bytes(b"a = '\0'")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "broken.zip").write_bytes(b"PK\x05\x06 broken")
    shut = tmp_path / "shut.py"
    shut.write_text(READS, encoding="utf-8")
    shut.chmod(0)
    for name in ("acts", "latin", "nul", "folder", "shut", "in_zip", "a" * 5000):
        lines = steps(f"import {name}\nspark.table('db.t')", tmp_path, tmp_path / "broken.zip")
        assert lines[-1] == "read db.t"
        assert all(line.startswith("gap 1: the module") for line in lines[:-1])
    assert not marker.exists()
