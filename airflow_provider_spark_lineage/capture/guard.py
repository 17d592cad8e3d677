"""The one place where exceptions of lineage code end, so that a user's job never sees them.

Everything that capture, operators, extractors and run facets do inside a user's process runs under
`harmless`. A fault becomes one warning with the reason; its traceback is logged at debug level.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import Iterator, List, Optional

log = logging.getLogger("airflow_provider_spark_lineage")


@contextmanager
def harmless(what: str, problems: Optional[List[str]] = None) -> Iterator[None]:
    """Run a block whose failure costs lineage only.

    `what` says what is lost, for the log; `problems` receives the same sentence, so that it can
    become visible as a gap.
    """
    try:
        yield
    # Everything, since py4j, the JVM and a half-stopped session raise what they like.
    except Exception as error:
        # A Java stack trace fills pages: the first line says enough for a warning.
        reason = (str(error).strip().splitlines() or [""])[0][:300]
        sentence = f"{what}: {type(error).__name__}: {reason}"
        log.warning("Spark lineage: %s. This has no impact on the task.", sentence)
        log.debug("Spark lineage failure details:", exc_info=True)
        if problems is not None:
            problems.append(sentence)
