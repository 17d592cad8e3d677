"""Where an execution failed, from the messages that Spark 3.5 and 4 write."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.facets.failures import place_of

DIVIDED = "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide`. SQLSTATE: 22012\n"
WORKER = """Traceback (most recent call last):
  File "/usr/lib/pyspark.zip/pyspark/worker.py", line 3386, in main
    process()
  File "/jobs/load.py", line 7, in bad
    return int("x")
ValueError: invalid literal for int() with base 10: 'x'
"""


@pytest.mark.parametrize(
    ("message", "place"),
    [
        (
            DIVIDED + "== SQL (line 2, position 2) ==\n 1/(id-id) as x from t\n ^^^^^^^^^\n",
            {"condition": "DIVIDE_BY_ZERO", "line": 2, "position": 2, "fragment": "1/(id-id)"},
        ),
        (
            DIVIDED + "== SQL of VIEW v (line 1, position 8) ==\nselect a/b from t\n       ^^^\n",
            {"condition": "DIVIDE_BY_ZERO", "line": 1, "position": 8, "fragment": "a/b"},
        ),
        (
            DIVIDED + '== DataFrame ==\n"__truediv__" was called from\n/jobs/load.py:10\n',
            {"condition": "DIVIDE_BY_ZERO", "codeLine": "/jobs/load.py:10"},
        ),
        (
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] No column `a`. SQLSTATE: 42703; line 1 pos 7;\n'P",
            {"condition": "UNRESOLVED_COLUMN.WITH_SUGGESTION", "line": 1, "position": 8},
        ),
        (WORKER, {"codeLine": "/jobs/load.py:7"}),
        ("Path does not exist: file:/nope", {}),
        ("", {}),
    ],
)
def test_the_place_of_an_error(message, place):
    """A message that names no place gives none: a guess would send people to the wrong line."""
    assert place_of(message) == place


def test_a_long_message_is_read_quickly():
    """Messages are cut at 4,000 characters, but a pattern must not explode on them."""
    assert place_of("== SQL (line 1, position 1) ==\n" * 2_000 + " " * 4_000) == {}
