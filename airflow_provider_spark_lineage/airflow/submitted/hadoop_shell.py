"""Runs a command of Hadoop's shell in the JVM of `spark-submit`: `spark-submit hadoop_shell.py -get FROM TO`.

The shell's main class refuses to run if a file of Hadoop's default configuration is missing, and Spark's jars
lack some. `file_system` starts this program; it is never imported.
"""

from __future__ import annotations

import sys


def main(arguments: list[str]) -> int:
    """Run the command, and return its exit code; its messages go to standard error."""
    from pyspark.java_gateway import launch_gateway

    gateway = launch_gateway()
    given = gateway.new_array(gateway.jvm.java.lang.String, len(arguments))
    for number, argument in enumerate(arguments):
        given[number] = argument
    hadoop = gateway.jvm.org.apache.hadoop
    configuration = hadoop.conf.Configuration()
    return int(hadoop.util.ToolRunner.run(configuration, hadoop.fs.FsShell(), given))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
