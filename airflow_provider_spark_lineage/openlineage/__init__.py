"""OpenLineage events of any producer: read, compare, send and draw them.

It knows neither Spark's plans nor tasks.
"""
