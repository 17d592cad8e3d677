"""The engine: from a live Spark, an event log or a text to records, and from these to lineage.

It never imports Airflow.
"""
