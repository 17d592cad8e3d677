"""The tab in Airflow's UI: the plugin, its routes, and where they find what tasks stored.

Only the API server uses it, but every Airflow process loads the plugin: `plugin` and `application` import
nothing heavy.
"""
