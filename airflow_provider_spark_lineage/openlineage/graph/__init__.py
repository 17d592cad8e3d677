"""Graph of the lineage of many runs: columns and datasets upstream and downstream, through all jobs.

It reads OpenLineage events of any producer. `current` has the last write of each job and output, `names` the
symlinks of datasets, `model` the graph as arrays.
"""
