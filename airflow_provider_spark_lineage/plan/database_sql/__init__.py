"""Reads SQL text into the algebra, where a plan has a query that a database ran."""
