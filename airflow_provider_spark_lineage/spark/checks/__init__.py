"""Checks on data: a check is an aggregate over a frame, and all checks of a frame are one query.

    assertion.py     results of checks, and metrics that the query measured besides
    aggregates.py    the checks of a column: their aggregates, and what their dictionaries may have
    comparison.py    a measured value against its expectation
    statements.py    the texts of a DAG's author: a rule for each row, or a statement about all rows
    measuring.py     many aggregates of one frame in one query; an error belongs to its aggregate
    checks.py        checks of a frame together: measures in, assertions out
    column_checks.py checks of columns
    row_checks.py    checks of the whole frame by name: statements, and the two below
    keys.py, expected_columns.py, shares.py, freshness.py, absent.py
                     a key of several columns; the columns that must be there; a share of good rows;
                     the age of values; columns that are absent
    broken_rows.py   a place for rows that break a rule

Nothing here imports Airflow or OpenLineage. Functions of pyspark are loaded when there is a frame, from the
module of this kind of frames: classic or Connect. `facets/quality.py` writes the assertions into events.
"""
