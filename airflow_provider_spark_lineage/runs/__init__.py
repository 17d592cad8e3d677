"""From records to the run of a task: its executions, its lineage, its events, and capture in this process."""
