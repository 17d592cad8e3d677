"""The tab in Airflow's UI: its plugin, its routes, and where they find what tasks stored."""
