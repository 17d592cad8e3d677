"""Words of the sentences that a person reads: numbers with their nouns and units."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which is in the singular for one.

    >>> counted(1, "record"), counted(2, "record"), counted(0, "execution")
    ('1 record', '2 records', '0 executions')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(milliseconds: int) -> str:
    """Return a duration for people.

    >>> duration(340), duration(95_400), duration(7_260_000)
    ('0.3 s', '95 s', '121 min')
    """
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"


def size(size_bytes: float) -> str:
    """Return a number of bytes for people.

    >>> size(12), size(2048), size(3_500_000_000)
    ('12 B', '2.0 KiB', '3.3 GiB')
    """
    if size_bytes < 1024:
        return f"{size_bytes:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        size_bytes /= 1024
        if size_bytes < 1024:
            return f"{size_bytes:.1f} {unit}"
    return f"{size_bytes / 1024:.1f} TiB"
