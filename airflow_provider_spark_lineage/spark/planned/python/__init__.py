"""Reader of PySpark scripts, without running them: the paths and tables that their text names."""
