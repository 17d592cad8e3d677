"""Former path of `spark.runs`."""
