"""Graph of the lineage of many runs: what depends on a column, and what it comes from, through all jobs.

It reads OpenLineage events of any producer. `current` finds for each job and each output the last run that
wrote it, `names` which names mean one dataset, `model` has the graph as arrays.
"""
