"""Capture of a live Spark, of classic sessions and of Spark Connect, as records."""
