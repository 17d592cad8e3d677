"""Runs: executions, lineage and events from records, and capture in this process."""
