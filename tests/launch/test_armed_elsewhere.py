"""The agent in a command on another machine: a function in front of the user's command."""

from __future__ import annotations

import shutil

import pytest
from armed_commands import SSH, armed, without_ours

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

ELSEWHERE = {
    "plain": (1, "spark-submit a.py 'y z' \"\" $'tab\\t'"),
    "no Python": (0, "spark-submit a.jar; spark-submit --version; spark-submit"),
    "options": (1, "spark-submit -v --conf spark.a=b --name='x y' --supervise a.py --py-files z"),
    "bash -c": (1, "set -eux; bash -c 'spark-submit a.py'"),
    "function": (2, 'twice() { "$@"; "$@"; }; twice spark-submit a.py'),
    "path": (1, "<bin>/spark-submit a.py"),
    "exit code": (1, "CODE=7 spark-submit a.py; echo $?; exit 8"),
    "input": (1, "echo line | spark-submit a.py"),
    "line numbers": (1, "spark-submit a.py\nno-such-command"),
    "condition": (1, "if ! CODE=2 spark-submit a.py; then echo no; fi"),
    "trap": (1, "set -e; trap 'echo $?' ERR; CODE=2 spark-submit a.py"),
    "trap of functions": (1, "set -E; trap 'echo $?' ERR; CODE=2 spark-submit a.py; exit 3"),
    "own": (0, "spark-submit a.py --x; spark-submit --conf spark.lineage.records=/own a.py"),
}


@pytest.mark.parametrize("shape", ELSEWHERE)
def test_a_command_on_another_machine_runs_as_without_us(shape, home, tmp_path):
    count, script = ELSEWHERE[shape]
    results = []
    for is_armed in (False, True):
        task = SSH(script.replace("<bin>", str(home / "bin")), home)
        if is_armed:
            armed(task, tmp_path.as_uri(), agent="AGENT")
        result = task.execute()
        calls = task.calls
        (home / "words").unlink()
        if is_armed and count:
            given = [call for call in calls if "AGENT" in call]
            assert len(given) == count
            calls = [without_ours(call) if call in given else call for call in calls]
        results.append((result, calls))
    if count:
        assert results[1] == results[0]
