"""The error where a package of an extra is missing: a sentence that names the extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""
MAIN = "from airflow_provider_spark_lineage.__main__ import main; main()"


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("click", ["explain", "."], "cli"),
        ("rich", ["doctor"], "cli"),
        ("pyarrow", ["warehouse", "load"], "warehouse"),
        ("jsonschema", ["--help"], None),
        ("yaml", ["compare", "--expected", "a", "--events", "b"], "testing"),
        ("yaml", ["expect", "--events", "b"], "testing"),
    ],
)
def test_the_command_names_the_extra(tmp_path: Path, package: str, arguments: list[str], extra: str | None):
    """Exit code 2 and one sentence with the command to run, in place of a traceback."""
    code = HIDE.format(package=package) + MAIN
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if extra is None:
        assert done.returncode == 0, done.stderr
        return
    cure = f"{package} is not installed: run `pip install 'airflow-provider-spark-lineage[{extra}]'`."
    assert cure in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 2


def test_the_pytest_fixtures_name_the_extra(pytester: pytest.Pytester):
    """A test that uses a fixture fails with the sentence; other tests of the project are not disturbed."""
    pytester.makeconftest(HIDE.format(package="yaml"))
    pytester.makepyfile("def test_it(assert_lineage): pass\ndef test_other(): pass")
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(errors=1, passed=1)
    done.stdout.fnmatch_lines(["*yaml is not installed: run `pip install '*[[]testing]'`."])
