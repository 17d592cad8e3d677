"""Checks on data in tasks: the session of our operators, and results of the operators of Airflow."""
