"""Words of the sentences that a person reads: numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which is in the singular for one.

    >>> counted(1, "record"), counted(2, "record"), counted(0, "execution")
    ('1 record', '2 records', '0 executions')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
