"""Airflow plugins. Every Airflow process loads them, so they import nothing until a task runs."""
