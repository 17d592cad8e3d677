"""Reads a record's analyzed Spark plan into the algebra, by tables with one row per Spark class."""
