"""Lineage of Airflow's tasks: capture, jobs that they submit or launch, the tab in the UI, options."""
