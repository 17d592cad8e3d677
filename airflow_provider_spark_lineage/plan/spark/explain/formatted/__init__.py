"""Reads the `formatted` explain text, Spark's default: its physical plan as the logical nodes that do the same."""
