"""Airflow plugins: loaded in every Airflow process, so they import nothing until a task runs."""
