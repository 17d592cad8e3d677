"""Reads the `formatted` explain text: its physical plan becomes the logical nodes that do the same."""
