"""Quick test for Spark commands in a text: most texts have none, and no other module is loaded for them."""

from __future__ import annotations

import re
from typing import Any

_NAMES = re.compile(r"(?:^|[\s/;&|(`\"'])spark\d?-(?:submit|sql)\b")


def mentions_spark(text: Any) -> bool:
    """Return whether a text may call a Spark command; `@task.bash` has no text before it runs.

    >>> mentions_spark("/opt/spark/bin/spark-submit a.py"), mentions_spark("ls spark-submits")
    (True, False)
    """
    return isinstance(text, str) and _NAMES.search(text) is not None
