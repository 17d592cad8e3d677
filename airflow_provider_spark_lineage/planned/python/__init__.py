"""Reads PySpark scripts without running them: which paths and tables their text names."""
