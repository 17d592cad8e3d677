"""Writes `lineage.txt` of the named cases of `tests/records`, or shows which of all would change.

python tools/golden_lineage.py             what differs, nothing is written
python tools/golden_lineage.py pivot cte   write these; read them against the rules before committing
python tools/golden_lineage.py --all       write all
"""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "records"))

from record_cases import CASES, golden_text, versions


def main(arguments: list[str]) -> int:
    writing = bool(arguments)
    names = [] if arguments == ["--all"] else arguments
    changed = 0
    for case in [CASES / name for name in names] or sorted(job.parent for job in CASES.glob("*/job.py")):
        target = case / "lineage.txt"
        before = target.read_text(encoding="utf-8") if target.exists() else ""
        texts = {of.name: golden_text(of) for of in versions(case)}
        for name, text in texts.items():
            if text != before:
                changed += 1
                diff = difflib.unified_diff(
                    before.splitlines(), text.splitlines(), "golden", name, lineterm=""
                )
                print(f"{case.name}\n" + "\n".join(list(diff)[2:]))
        if writing and texts:
            target.write_text(next(iter(texts.values())), encoding="utf-8")
    return 1 if changed and not writing else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
