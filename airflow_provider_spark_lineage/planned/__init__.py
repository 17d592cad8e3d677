"""Lineage that a text promises before anything runs: SQL scripts, Python programs, and their session."""
