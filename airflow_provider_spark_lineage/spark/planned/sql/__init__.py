"""Reads and writes of SQL scripts."""
