"""Planned lineage, read from a text before anything runs: SQL scripts, Python programs, their session."""
