"""Change of a dataset that was written twice, in the words of OpenLineage's `lifecycleStateChange`.

One rule for the writes of a task, for the events of a run and for the tasks of a DAG run.
"""

from __future__ import annotations

CREATE, OVERWRITE, TRUNCATE, DROP = "create", "overwrite", "truncate", "drop"
ALTER, RENAME = "alter", "rename"

APPEND = "append"
"""Change of a dataset that got more rows; events have no word for it."""

REPLACING = frozenset({CREATE, OVERWRITE, TRUNCATE, DROP})
"""Changes that leave nothing of a dataset's earlier content."""

MOVES_NO_ROWS = frozenset({ALTER, RENAME})
"""Changes that leave all rows of a dataset as they are."""

_ADDING = frozenset({"", APPEND})


def has_rows(change: str) -> bool:
    """Return whether a change puts rows into its dataset.

    >>> [change for change in ("", "append", "create", "truncate", "drop", "alter") if has_rows(change)]
    ['', 'append', 'create']
    """
    return change in _ADDING or change in (CREATE, OVERWRITE)


def change_of_both(before: str, later: str) -> str:
    """Return the one change that two changes of a dataset amount to.

    Every other change replaces an ALTER. A RENAME stays beside an append: the event has the former name.

    >>> change_of_both("create", "overwrite"), change_of_both("overwrite", "append")
    ('create', 'overwrite')
    >>> change_of_both("truncate", "append"), change_of_both("append", "alter")
    ('overwrite', 'append')
    """
    if before == CREATE and later != DROP:
        return before
    if ALTER in (before, later):
        return later if before == ALTER else before
    if later in _ADDING:
        return OVERWRITE if before in (TRUNCATE, DROP) else before
    return later
