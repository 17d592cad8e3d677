"""From records to lineage: what each execution read and wrote, which column came from where, and what a task did."""
