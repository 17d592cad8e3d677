"""Makes files that live tests only read: jars, Java's archive of Spark's classes, Airflow's metadata.

    python tests/prepare.py

Done before tests that run side by side; where something is missing later, the test that needs it makes it.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from airflow_runs import metadata
from consumers import java_client
from servers import kafka, postgres, yarn
from servers.jars import JarsError, remove_broken
from servers.quick_java import archive_classes
from spark_packages import java_agent, s3a, settings


def main() -> int:
    """Return the exit code: 1 where something could not be made, with a sentence about it."""
    remove_broken()
    try:
        with ThreadPoolExecutor() as pool:
            # The archive and the metadata take time of the processor, the jars that of the network.
            others = [pool.submit(archive_classes), pool.submit(metadata)]
            for fetch in (
                settings,
                s3a,
                java_agent,
                kafka.fetch,
                postgres.fetch,
                yarn.fetch,
                java_client.fetch,
            ):
                fetch()
            for other in others:
                other.result()
    except JarsError as error:
        print(f"make prepare: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
