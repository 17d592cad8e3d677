"""Writes `tests/event_log/differences.txt`: read what changed before committing it.

python tools/golden_events.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "records"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "event_log"))

from event_cases import LOGS, name_of, text_of

PLACE = Path(__file__).resolve().parents[1] / "tests" / "event_log" / "differences.txt"


def main() -> None:
    texts = {name_of(path): text_of(path) for path in LOGS}
    sections = [f"{name}\n{text}" for name, text in texts.items() if text]
    PLACE.write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    print(f"{len(texts)} logs, {len(texts) - len(sections)} like the records")


if __name__ == "__main__":
    main()
