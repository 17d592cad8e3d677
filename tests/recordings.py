"""Records and event logs of the jobs in `tests/records`: JSON lines, a file for each kind and Spark version.

A line is one case: its name, and the text that a file of its own would have.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "records"
RECORDS, EVENTS, FORMATTED = KINDS = ("records", "events", "formatted")
"""Records; event logs with our settings; event logs with Spark's own, which have the physical plan alone."""


@dataclass(frozen=True)
class Recording:
    """The output of one job on one Spark."""

    case: str
    version: str = "4.1"
    kind: str = RECORDS

    @property
    def name(self) -> str:
        return f"{self.case} {self.version}"

    @property
    def text(self) -> str:
        return _texts(self.kind, self.version)[self.case]

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def of(self, kind: str) -> Recording:
        """Return the output of the same job in another form."""
        return Recording(self.case, self.version, kind)


def recordings(kind: str, case: str = "") -> list[Recording]:
    """Return all recordings of a kind, or of one case alone, by case and version."""
    listed = [
        Recording(name, version, kind)
        for version in _versions(kind)
        for name in _texts(kind, version)
        if case in ("", name)
    ]
    return sorted(listed, key=lambda recording: (recording.case, recording.version))


def write(kind: str, version: str, texts: dict[str, str]) -> None:
    """Replace the texts of these cases, or add them."""
    known = {**(_texts(kind, version) if version in _versions(kind) else {}), **texts}
    lines = [json.dumps({"case": case, "text": known[case]}) + "\n" for case in sorted(known)]
    _path(kind, version).write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    _texts.cache_clear()


def _path(kind: str, version: str) -> Path:
    return FOLDER / f"{kind}-{version}.jsonl.gz"


def _versions(kind: str) -> list[str]:
    return sorted(path.name.removeprefix(f"{kind}-")[:3] for path in FOLDER.glob(f"{kind}-*.jsonl.gz"))


@cache
def _texts(kind: str, version: str) -> dict[str, str]:
    lines = gzip.decompress(_path(kind, version).read_bytes()).decode().splitlines()
    return {entry["case"]: entry["text"] for entry in map(json.loads, lines)}
