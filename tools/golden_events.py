"""Writes the differences in `tests/event_log/`: read the changes before committing them.

python tools/golden_events.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "records"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "event_log"))

from event_cases import FORMATTED, LOGS, text_of

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "event_log"


def main() -> None:
    for place, logs in (("differences.txt", LOGS), ("differences_formatted.txt", FORMATTED)):
        texts = {log.name: text_of(log) for log in logs}
        sections = [f"{name}\n{text}" for name, text in texts.items() if text]
        (FOLDER / place).write_text("\n\n".join(sections) + "\n", encoding="utf-8")
        print(f"{place}: {len(texts)} logs, {len(texts) - len(sections)} like the records")


if __name__ == "__main__":
    main()
