"""The only code that touches a live Spark: from a JVM session to records."""
