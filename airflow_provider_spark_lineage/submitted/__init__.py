"""Lineage of applications that `spark-submit` runs: arms them, and reads what their drivers wrote."""
