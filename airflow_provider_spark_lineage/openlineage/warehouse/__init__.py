"""Lineage warehouse: OpenLineage events become tables in a folder, by Spark.

`tables` declares the tables, `derive` makes rows from the events of runs, `load` writes them and folds them
by `folding`, `snapshots` knows the files, and `asking` reads the current lineage again, without Spark.
"""
