"""From records to lineage: what was read and written, which column came from where, and what a task did."""
