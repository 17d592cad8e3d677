"""No text of a query is recorded, whichever way its database writes a quote inside of one."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.capture.literals import without_sql_literals


@pytest.mark.parametrize(
    ("text", "emptied"),
    [
        (r"select x from a where n = 'O\'Brien' and p = 'q'", "select x from a where n = '' and p = ''"),
        (r"select x from a where n in ('O\'Brien', 'D\'Arcy')", "select x from a where n in ('', '')"),
        (r"select E'it\'s', 'b'", "select E'', ''"),
        # In the standard's SQL a backslash is a letter like any other.
        (r"select x from a where p = 'C:\' and n = 'Ann'", "select x from a where p = '' and n = ''"),
        (r"select x from a where p = 'C:\'", "select x from a where p = ''"),
        ("select 'it''s' from a", "select '' from a"),
    ],
)
def test_texts_are_emptied(text: str, emptied: str) -> None:
    assert without_sql_literals(text) == emptied
