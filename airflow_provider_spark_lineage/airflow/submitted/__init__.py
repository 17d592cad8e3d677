"""Lineage of applications that `spark-submit` runs: adds the agent to them and reads their records."""
