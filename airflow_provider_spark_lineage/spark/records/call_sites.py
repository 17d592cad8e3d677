"""Lines of programs that ran actions, in the texts that Spark has for them.

Also runs on the cluster's driver: standard library only, Python 3.9 syntax.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

RETURN_ROWS = frozenset(
    "collect collectAsList first head tail take takeAsList toArrow toLocalIterator toPandas".split()
)
"""Methods that return rows of a query to the program."""

UNKNOWN = "?"
"""Line of a program, if it is unknown."""

_SITE = re.compile(r"(\w+) at (.+):(\d+)")


class CallSite(NamedTuple):
    """A line that called an action."""

    function: str
    file: str
    """Path of the file, or the name that Python has for it."""

    number: int

    @property
    def line(self) -> str:
        """Name of the file, without its folders, and number of the line: `load.py:12`."""
        return "{}:{}".format(re.split(r"[/\\]", self.file)[-1], self.number)


def call_site(text: str) -> Optional[CallSite]:
    """Return the line in Spark's description of an action; None if the program described it.

    >>> call_site("collect at /jobs/load.py:12").line
    'load.py:12'
    """
    match = _SITE.fullmatch(text)
    return CallSite(match[1], match[2], int(match[3])) if match else None
